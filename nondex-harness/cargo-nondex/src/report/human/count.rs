//! How many there are of something, in words.

use crate::report::listing::first;
use crate::report::schema::{Report, TestReport};

/// Number of tests or calls that are named unless the view is verbose.
pub(super) const NAMED: usize = 3;

/// How many tests something holds for, and their ids: all, or `a, b, c and 2 more`.
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
