//! Counts tests and lists their ids.

use crate::report::listing::first;
use crate::report::schema::{Report, TestReport};

/// Maximum number of tests or calls that are named unless the view is verbose.
pub(super) const NAMED: usize = 3;

/// Returns the number of tests for which `holds` is true, and their ids: all of them, or `a, b, c
/// and 2 more`.
pub(super) fn named(
    report: &Report,
    all: bool,
    holds: impl Fn(&TestReport) -> bool,
) -> (usize, String) {
    let tests = report.tests.iter();
    let ids: Vec<&str> = tests.filter(|test| holds(test)).map(|test| test.id.as_str()).collect();
    let most = if all { ids.len() } else { NAMED };
    (ids.len(), first(&ids, most))
}
