//! Runs of one test are made at the same time if no other process can observe them. The report
//! equals that of sequential runs.

use std::collections::BTreeMap;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, TestReport, Verdict};

use crate::support::{Fixture, Nondex};

/// Returns the report on each test, without its duration, its runs, its threads, and its schedules
/// of real threads.
fn comparable(report: &Report) -> BTreeMap<String, TestReport> {
    let tests = report.tests.iter().map(|test| {
        let compared = TestReport {
            elapsed_ms: 0,
            scheduled: None,
            output: None,
            schedules: None,
            failure_bound: None,
            runs: 0,
            steps: Vec::new(),
            ..test.clone()
        };
        (test.name.clone(), compared)
    });
    tests.collect()
}

/// Returns the report of a run with this number of jobs.
fn found(fixture: &Fixture, jobs: &str) -> Report {
    let output = Nondex::run_in(&fixture.path(".")).args(["--seeds", "2", "--jobs", jobs]).run();
    output.expect(ExitCode::Found).report()
}

#[test]
fn tests_that_take_long_are_not_disturbed_by_runs_at_the_same_time() {
    expect_undisturbed(&found(&Fixture::new("beside"), "6"));
}

#[test]
#[ignore = "second tier: makes every run alone"]
fn tests_that_take_long_are_judged_as_by_runs_one_after_the_other() {
    let fixture = Fixture::new("beside");
    let at_once = found(&fixture, "6");
    expect_undisturbed(&at_once);
    assert_eq!(comparable(&at_once), comparable(&found(&fixture, "1")));
}

fn expect_undisturbed(at_once: &Report) {
    for test in &at_once.tests {
        let expected = if test.name.ends_with("computes_and_depends_on_the_order") {
            Verdict::ImplementationDependent
        } else {
            Verdict::Stable
        };
        assert_eq!(test.verdict, expected, "{test:#?}");
        assert!(test.runs > 2, "it has seeds: {test:#?}");
    }
}
