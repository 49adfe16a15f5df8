//! The report of `run` on tests that fail alone.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use super::{nondex, reported, reproduced};
use crate::support::{Fixture, Nondex, test};

#[test]
fn a_test_that_needs_another_before_it_is_brittle_not_broken() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "run", &["--seeds", "1"]);
    let report = output.expect(ExitCode::Found).report();
    for (name, setters) in
        [("chain::b_writes", ["chain::a_opens"]), ("user::finds_it_filled", ["registry::fills"])]
    {
        let test = test(&report, name);
        assert_eq!(test.verdict, Verdict::OrderDependentBrittle, "{test:#?}");
        let order = test.order.as_ref().expect("its order is known");
        assert_eq!(order.setters, setters);
        assert!(order.polluters.is_empty() && order.complete);
        assert_eq!(test.plain, None, "cargo test passes: there is nothing to compare");
        output.prints(&[
            &format!("error[OD-brittle]: `{}`", test.id),
            &format!("fails unless `{}` ran before it", setters[0]),
        ]);
        reproduced(&fixture, test).expect(ExitCode::Found);
        let after = [&test.id, "--after", setters[0]];
        nondex(&fixture, "replay", &after).expect(ExitCode::Ok);
    }
    assert_eq!(test(&report, "plain::is_broken").verdict, Verdict::Broken);
    // The setter need not be selected.
    let output = reported(&fixture, "run", &["--seeds", "0", "finds_it_filled"]);
    let report = output.expect(ExitCode::Found).report();
    let order = test(&report, "user::finds_it_filled").order.clone();
    assert_eq!(order.unwrap().setters, ["registry::fills"]);
}

/// Tests of which one fails, and another one counts its runs and hangs.
const WAITING: &str = r#"
    #[test]
    fn fails() {
        assert_eq!(1, 2);
    }

    #[test]
    fn waits_for_a_terminal() {
        use std::io::Write;
        let file = std::env::var_os("BEGUN").unwrap();
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        file.unwrap().write_all(b".").unwrap();
        loop {
            std::thread::park();
        }
    }

    #[test]
    fn works() {}
"#;

#[test]
fn a_test_that_was_not_selected_and_hangs_is_left_out_after_that() {
    let fixture = Fixture::new("no-tests");
    fixture.write("tests/waiting.rs", WAITING);
    let begun = fixture.path("target/begun");
    let run = Nondex::run_in(&fixture.path(".")).env("BEGUN", &begun);
    let limits = ["--seeds", "0", "--timeout", "2"];
    let output = run.args(limits).args(["--", "--skip", "waits"]).run();
    let report = output.expect(ExitCode::CleanRunFailed).report();
    assert_eq!(test(&report, "fails").verdict, Verdict::Broken);
    // The second run is alone: a busy machine may be the reason for the first.
    assert_eq!(fs::read_to_string(&begun).unwrap(), "..");
}
