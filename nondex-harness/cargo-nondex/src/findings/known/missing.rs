//! Entries whose test no longer exists, most often because it was renamed or moved.

use std::collections::BTreeSet;

use super::file::Known;
use crate::report::{Overdue, OverdueReason};

/// Minimum similarity of two names, from 0 to 1. The measure is Jaro-Winkler, which favours common
/// prefixes, since a renamed test often only gains words.
const ALIKE: f64 = 0.85;

/// Returns the entries with the id of a test that does not exist. `tests` are the ids of all tests
/// of some binaries. `is_complete` returns whether all tests of a binary are among them.
pub fn missing(
    known: &Known,
    tests: &BTreeSet<String>,
    is_complete: &dyn Fn(&str) -> bool,
) -> Vec<Overdue> {
    let is_known = |id: &str| known.entries().iter().any(|entry| entry.name() == id);
    let new = || tests.iter().filter(|id| !is_known(id)).map(String::as_str);
    let entries = known.entries().iter().filter_map(|entry| {
        let id = entry.test.as_deref()?;
        let (binary, _) = id.split_once('$')?;
        (!tests.contains(id) && is_complete(binary)).then(|| Overdue {
            entry: id.to_owned(),
            reason: OverdueReason::Missing,
            expires: entry.expires.to_string(),
            failure_bound: None,
            renamed: renamed(id, new).map(str::to_owned),
        })
    });
    entries.collect()
}

/// Returns the new id of a test that was moved or renamed, if there is a single candidate.
/// Candidates are tests with the same name in its package, or else tests with a similar name in its
/// module.
fn renamed<'t, T: Iterator<Item = &'t str>>(id: &str, tests: impl Fn() -> T) -> Option<&'t str> {
    let package = |id: &str| id.split(['$', ':']).next().map(str::to_owned);
    let moved = tests().filter(|test| package(test) == package(id) && name(test) == name(id));
    let module = |id: &str| id.strip_suffix(name(id)).map(str::to_owned);
    let is_alike = |test: &str| strsim::jaro_winkler(name(test), name(id)) >= ALIKE;
    let similar = tests().filter(|test| module(test) == module(id) && is_alike(test));
    only(moved).or_else(|| only(similar))
}

/// Returns the last part of a test's path.
fn name(id: &str) -> &str {
    id.rsplit(['$', ':']).next().unwrap_or(id)
}

fn only<'t>(mut found: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::super::KNOWN_FILE;
    use super::*;

    #[test]
    fn an_entry_whose_test_is_gone_is_missing_and_names_the_only_test_that_it_may_be_now() {
        for (tests, expected) in [
            (&["shop$cart::adds"][..], None),
            // The tool knows nothing about a binary that was not built.
            (&["store$cart::adds"], None),
            (&["shop$cart::adds_up"], Some(Some("shop$cart::adds_up"))),
            (&["shop$basket::adds"], Some(Some("shop$basket::adds"))),
            (&["shop$x", "shop::it$adds"], Some(Some("shop::it$adds"))),
            (&["shop$cart::adds_up", "shop$cart::add"], Some(None)),
            (&["shop$cart::removes"], Some(None)),
            // The similar test has a separate entry.
            (&["shop$cart::add_1"], Some(None)),
        ] {
            let entry = |test: &str| {
                format!(
                    "[[known]]\ntest = \"{test}\"\nreason = \"later\"\nexpires = 2027-01-31\n\n"
                )
            };
            let file = entry("shop$cart::adds") + &entry("shop$cart::add_1");
            let known = Known::parse(file, KNOWN_FILE.into()).unwrap();
            let tests: BTreeSet<String> = tests.iter().map(|id| (*id).to_owned()).collect();
            let is_complete = |binary: &str| {
                let of_binary = format!("{binary}$");
                tests.iter().any(|test| test.starts_with(&of_binary))
            };
            let overdue = missing(&known, &tests, &is_complete);
            let found = overdue
                .iter()
                .find(|one| one.entry == "shop$cart::adds")
                .map(|one| one.renamed.as_deref());
            assert_eq!(found, expected, "{tests:?}");
        }
    }
}
