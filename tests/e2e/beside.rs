//! Runs of one test are made at once where nobody else can notice them, and what is said of it is what runs one after the other say.

use std::collections::BTreeMap;

use nondex_harness::exit_code::ExitCode;
use nondex_harness::report::{Report, TestReport, Verdict};

use crate::support::{Fixture, Nondex};

/// What is said of each test, without how long it took, and without the numbers of threads.
fn said(report: &Report) -> BTreeMap<String, TestReport> {
    let tests = report.tests.iter().map(|test| {
        let said = TestReport {
            elapsed_ms: 0,
            scheduled: None,
            output: None,
            ..test.clone()
        };
        (test.name.clone(), said)
    });
    tests.collect()
}

#[test]
fn tests_that_take_long_are_judged_as_by_runs_one_after_the_other() {
    let fixture = Fixture::new("beside");
    let run = |jobs: &str| {
        let output = Nondex::run_in(&fixture.path("."))
            .args(["--seeds", "2", "--jobs", jobs])
            .run();
        output.expect(ExitCode::Found);
        said(&output.report())
    };
    let at_once = run("6");
    for (name, test) in &at_once {
        let expected = match name.ends_with("computes_and_depends_on_the_order") {
            true => Verdict::ImplementationDependent,
            false => Verdict::Stable,
        };
        assert_eq!(test.verdict, expected, "{test:#?}");
        assert!(test.runs > 2, "it has seeds: {test:#?}");
    }
    assert_eq!(at_once, run("1"));
}
