//! The cost of a campaign, and the runs it skipped because its budget was spent.

use std::fmt::Write as _;

use nondex_core::Source;

use super::count::named;
use crate::report::{Report, TestReport, plural};

/// Maximum number of tests that are listed as the most expensive ones.
const EXPENSIVE: usize = 5;

/// Describes what was skipped, with the names of all tests if `all`: `left out, as the budget was
/// spent: 340 runs of 12 tests; --thorough makes them`.
pub(super) fn left_out(report: &Report, all: bool) -> Option<String> {
    let runs: u64 = report.tests.iter().map(|test| test.left_out).sum();
    let (tests, names) = named(report, all, |test| test.left_out > 0);
    let mut sentence = format!(
        "skipped, because the budget was spent: {} of {}; --thorough runs them",
        plural(runs, "run"),
        plural(tests, "test"),
    );
    if all {
        let _ = write!(sentence, ": {names}");
    }
    (tests > 0).then_some(sentence)
}

/// Describes the tests with the longest total time, one line each, and what would make them
/// cheaper.
pub(super) fn expensive(report: &Report) -> Vec<String> {
    let mut tests: Vec<&TestReport> = report.tests.iter().filter(|test| test.runs > 0).collect();
    tests.sort_by_key(|test| std::cmp::Reverse(test.elapsed_ms));
    tests.truncate(EXPENSIVE);
    let sentence = |test: &TestReport| {
        let seconds = test.elapsed_ms as f64 / 1000.0;
        let runs = plural(test.runs, "run");
        let hint = cheaper(test).map_or_else(String::new, |hint| format!(": {hint}"));
        format!("{seconds:.1} s in {runs}: {}{hint}", test.id)
    };
    tests.into_iter().map(sentence).collect()
}

/// Returns what would make a test cheaper, based on the step with the most runs.
fn cheaper(test: &TestReport) -> Option<&'static str> {
    let largest = test.steps.iter().max_by_key(|step| step.runs)?;
    match largest.name.as_str() {
        "interleavings" => Some("most are schedules, which `--real-threads` leaves out"),
        "search" => Some("most search for the culprit, `--search-runs` limits that"),
        "clean" if test.sources.contains(&Source::Child) => {
            Some("it is repeated, as it starts programs")
        }
        "clean" if !test.sources.is_empty() => Some("it is repeated, as it depends on the machine"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::Step;

    fn test(name: &str, elapsed_ms: u64, left_out: u64, steps: &[(&str, u64)]) -> TestReport {
        let steps: Vec<Step> = steps
            .iter()
            .map(|&(name, runs)| Step { name: name.to_owned(), runs, failures: 0 })
            .collect();
        TestReport {
            elapsed_ms,
            left_out,
            runs: steps.iter().map(|step| step.runs).sum(),
            steps,
            ..TestReport::new("p", "p", name)
        }
    }

    fn report(tests: Vec<TestReport>) -> Report {
        Report::new(Default::default(), tests, Vec::new())
    }

    #[test]
    fn what_was_left_out_is_counted_and_named_on_request() {
        let some = report(vec![test("a", 1, 30, &[]), test("b", 1, 0, &[]), test("c", 1, 4, &[])]);
        let sentence =
            "skipped, because the budget was spent: 34 runs of 2 tests; --thorough runs them";
        assert_eq!(left_out(&some, false).as_deref(), Some(sentence));
        let named = format!("{sentence}: p$a, p$c");
        assert_eq!(left_out(&some, true), Some(named));
        assert_eq!(left_out(&report(Vec::new()), true), None);
    }

    #[test]
    fn the_most_expensive_tests_are_shown_with_what_would_make_them_cheaper() {
        let all = report(vec![
            test("short", 1, 0, &[("clean", 2)]),
            test("threads", 20_000, 0, &[("clean", 2), ("interleavings", 50)]),
            test("maps", 1500, 0, &[("clean", 2), ("choices", 50)]),
            test("not run", 0, 0, &[]),
        ]);
        assert_eq!(
            expensive(&all),
            [
                "20.0 s in 52 runs: p$threads: most are schedules, which `--real-threads` leaves \
                 out",
                "1.5 s in 52 runs: p$maps",
                "0.0 s in 2 runs: p$short",
            ]
        );
    }
}
