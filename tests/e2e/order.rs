//! Tests that depend on those before them in their process. What the fixture's tests come to is in its `truth.json`.

use std::fs;

use nondex_harness::exit_code::ExitCode;
use nondex_harness::report::{TestReport, Verdict};

use crate::support::{Fixture, Nondex, Output, test};

/// A call with a folder for temporary files that nothing was left in.
fn nondex(fixture: &Fixture, command: &str, args: &[&str]) -> Output {
    called(
        fixture,
        Nondex::command(&fixture.path(""), command).args(args),
    )
}

/// The same, whose report is read.
fn reported(fixture: &Fixture, command: &str, args: &[&str]) -> Output {
    let shown = ["--offline", "--message-format", "json"];
    nondex(fixture, command, &[&shown, args].concat())
}

fn called(fixture: &Fixture, call: Nondex) -> Output {
    let folder = fixture.path("target/temporary");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    call.env("TMPDIR", folder).run()
}

/// The output of the command that reproduces a test's failure.
fn reproduced(fixture: &Fixture, test: &TestReport) -> Output {
    let command = test.reproduce.as_deref().expect("it can be reproduced");
    called(fixture, Nondex::pasted(&fixture.path(""), command))
}

#[test]
fn a_test_that_needs_another_before_it_is_brittle_not_broken() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "run", &["--seeds", "1"]);
    let report = output.expect(ExitCode::Found).report();
    for (name, setters) in [
        ("chain::b_writes", ["chain::a_opens"]),
        ("user::finds_it_filled", ["registry::fills"]),
    ] {
        let test = test(&report, name);
        assert_eq!(test.verdict, Verdict::OrderDependentBrittle, "{test:#?}");
        let order = test.order.as_ref().expect("its order is known");
        assert_eq!(order.setters, setters);
        assert!(order.polluters.is_empty() && order.complete);
        assert_eq!(
            test.ordinary, None,
            "cargo test passes: there is nothing to compare"
        );
        output.says(&[
            &format!("error[OD-brittle]: `{}`", test.id),
            &format!("setters: {}", setters[0]),
        ]);
        reproduced(&fixture, test).expect(ExitCode::Found);
        let behind = [&test.id, "--after", setters[0]];
        nondex(&fixture, "replay", &behind).expect(ExitCode::Ok);
    }
    assert_eq!(test(&report, "plain::is_broken").verdict, Verdict::Broken);
    // The setter need not be selected.
    let output = reported(&fixture, "run", &["--seeds", "0", "finds_it_filled"]);
    let report = output.expect(ExitCode::Found).report();
    let order = test(&report, "user::finds_it_filled").order.clone();
    assert_eq!(order.unwrap().setters, ["registry::fills"]);
}

#[test]
fn an_order_that_cannot_be_is_refused() {
    let fixture = Fixture::new("order");
    let id = "order::states$counter::is_zero";
    for (after, expected) in [
        (
            &["counter::no_such"][..],
            "there is no test `counter::no_such` in `order::states`",
        ),
        (
            &["counter::adds", "counter::adds"],
            "`counter::adds` is to run twice",
        ),
        (&["counter::is_zero"], "`counter::is_zero` is to run twice"),
    ] {
        let mut args = vec![id];
        after.iter().for_each(|test| args.extend(["--after", test]));
        nondex(&fixture, "replay", &args)
            .expect(ExitCode::Usage)
            .says(&[expected]);
    }
}
