//! Printing a backtrace takes time and opens files: a failure that it prevents is replayed without.

use cargo_nondex::exit_code::ExitCode;

use crate::support::{Fixture, Nondex};

#[test]
fn a_failure_that_backtraces_prevent_is_replayed_without_them() {
    let fixture = Fixture::new("backtraces");
    let run = Nondex::run_in(&fixture.path(".")).args(["--seeds", "2"]);
    let report = run.env("RUST_BACKTRACE", "1").run().report();
    assert!(!report.tests[0].failures.is_empty(), "{report:#?}");
    let replay = || Nondex::command(&fixture.path("."), "replay").arg("latest");
    for asked in ["0", "1"] {
        let output = replay().env("RUST_BACKTRACE", asked).run();
        output.expect(ExitCode::Found).prints(&["Failed again as recorded"]);
        let is_told = output.stderr.contains("once more without");
        assert_eq!(is_told, asked == "1", "{}", output.stderr);
    }
    // A debugger shows stacks itself.
    let debugged = replay().args(["--debugger", "env"]);
    let output = debugged.env("RUST_BACKTRACE", "1").run();
    output.expect(ExitCode::Found).prints(&["Failed again as recorded"]);
}
