//! Orders as a part of a check, and with a time limit.

use std::collections::BTreeSet;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use super::{expect_truth, reported};
use crate::support::{Fixture, test};

#[test]
fn a_check_finds_in_one_report_what_a_run_and_an_order_find() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "check", &["--seeds", "1", "--levels", "STD"]);
    let report = output.expect(ExitCode::Found).report();
    expect_truth(&fixture, &report);
    for test in &report.tests {
        let notes: BTreeSet<&String> = test.notes.iter().collect();
        assert_eq!(notes.len(), test.notes.len(), "{:?}", test.notes);
    }
    let step = |name: &str| {
        let steps = report.tests.iter().flat_map(|test| &test.steps);
        steps.filter(|step| step.name == name).map(|step| step.runs).sum::<u64>()
    };
    assert!(step("clean") >= 2 * report.tests.len() as u64 && step("order") > 0);
}

#[test]
fn a_check_whose_time_is_over_says_what_it_left_out() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "check", &["--max-time", "0.001"]);
    let report = output.report();
    assert!(report.partial);
    output.prints(&["--max-time"]);
}

#[test]
fn what_tells_most_in_the_least_time_comes_first_where_there_is_no_time_for_all_pairs() {
    let fixture = Fixture::new("order-slow");
    let output = reported(&fixture, "order", &["--max-time", "20"]);
    let report = output.report();
    output.prints(&["the 90 pairs of tests of `order-slow` were not tried"]);
    for test in &report.tests {
        let is_judged = test.verdict != Verdict::NotRun;
        assert!(is_judged || !test.notes.is_empty(), "{test:#?}");
    }
    let victim = test(&report, "is_zero");
    let is_seen = |note: &String| note.contains("had another outcome after other tests");
    let is_told = victim.verdict == Verdict::OrderDependentVictim;
    assert!(is_told || victim.notes.iter().any(is_seen), "{victim:#?}");
}
