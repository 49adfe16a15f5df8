//! Counts tests and lists their ids.

use crate::report::{Report, TestReport, first};

/// Maximum number of tests or calls that are named unless the view is verbose.
pub(super) const NAMED: usize = 3;

/// Lists the ids of tests: all of them, or `a, b, c and 2 more`.
pub(super) fn ids(tests: &[&TestReport], all: bool) -> String {
    let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    first(&ids, if all { ids.len() } else { NAMED })
}

/// Returns the nonzero counts with their words: `2 failed`, `1 skipped`.
pub(super) fn nonzero(counts: &[(u64, &str)]) -> Vec<String> {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, word)| format!("{count} {word}")).collect()
}

/// Returns the number of tests for which `holds` is true, and their [`ids`].
pub(super) fn named(
    report: &Report,
    all: bool,
    holds: impl Fn(&TestReport) -> bool,
) -> (usize, String) {
    let tests: Vec<&TestReport> = report.tests.iter().filter(|test| holds(test)).collect();
    (tests.len(), ids(&tests, all))
}
