//! Printing a backtrace takes time and opens files. A failure that this prevents is replayed
//! without backtraces.

use cargo_nondex::exit_code::ExitCode;

use crate::support::{Fixture, Nondex};

#[test]
fn a_failure_that_backtraces_prevent_is_replayed_without_them() {
    let fixture = Fixture::new("backtraces");
    let run = Nondex::run_in(&fixture.path(".")).args(["--seeds", "2"]);
    let report = run.env("RUST_BACKTRACE", "1").run().report();
    assert!(!report.tests[0].failures.is_empty(), "{report:#?}");
    let replay = || Nondex::command(&fixture.path("."), "replay").arg("latest");
    for backtrace in ["0", "1"] {
        let output = replay().env("RUST_BACKTRACE", backtrace).run();
        output.expect(ExitCode::Found).prints(&["Failed again as recorded"]);
        let is_noted = output.stderr.contains("repeating without it");
        assert_eq!(is_noted, backtrace == "1", "{}", output.stderr);
    }
    // With a debugger, backtraces are off: the debugger shows stacks itself.
    let debugged = replay().args(["--debugger", "env"]);
    let output = debugged.env("RUST_BACKTRACE", "1").run();
    output.expect(ExitCode::Found).prints(&["Failed again as recorded"]);
}
