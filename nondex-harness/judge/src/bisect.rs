//! Plans which commit to try next to find the commit that made a test flaky.
//!
//! This is a binary search, like `git bisect`, between a commit at which the test is not flaky and
//! one at which it is. The history need not be linear. A commit that cannot be tried is skipped,
//! and all commits that remain possible are reported.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Result of trying a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tried {
    /// The test is flaky at this commit.
    Flaky,
    /// The test is not flaky at this commit.
    Stable,
    /// The test does not exist or always fails, or the build fails.
    Skipped,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tried::Flaky => "flaky",
            Tried::Stable => "stable",
            Tried::Skipped => "skipped",
        })
    }
}

/// Next step of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BisectStep {
    /// Try this commit.
    Try(String),
    /// The test is flaky since one of these commits. The first one is known to be flaky; the others
    /// could not be tried.
    Found(Vec<String>),
}

/// Returns the next step. `flaky` is the oldest known flaky commit. `between` are the commits that
/// lead to it and to no known stable commit, best candidate first.
pub fn next(flaky: &str, between: &[String], tried: &BTreeMap<String, Tried>) -> BisectStep {
    // A commit with a known result gets its answer at once.
    let is_skipped = |commit: &String| tried.get(commit) == Some(&Tried::Skipped);
    let untried = between.iter().find(|commit| *commit != flaky && !is_skipped(commit));
    if let Some(commit) = untried {
        return BisectStep::Try(commit.clone());
    }
    let skipped = between.iter().filter(|commit| *commit != flaky);
    BisectStep::Found([flaky.to_owned()].into_iter().chain(skipped.cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches a line of commits, the last of which is flaky. Returns the number of tried commits
    /// and what was found.
    fn search(
        count: usize,
        first_flaky: usize,
        is_broken: impl Fn(usize) -> bool,
    ) -> (usize, Vec<usize>) {
        let name = |number: usize| format!("{number:04}");
        let mut tried = BTreeMap::new();
        let mut flaky = count - 1;
        let mut good = 0;
        loop {
            // Sorted as git does: by distance from the middle.
            let mut numbers: Vec<usize> = (good + 1..=flaky).collect();
            let middle = (good + flaky).div_ceil(2);
            numbers.sort_by_key(|commit| commit.abs_diff(middle));
            let between: Vec<String> = numbers.into_iter().map(name).collect();
            match next(&name(flaky), &between, &tried) {
                BisectStep::Found(found) => {
                    let mut found: Vec<usize> = found.iter().map(|c| c.parse().unwrap()).collect();
                    found.sort_unstable();
                    return (tried.len(), found);
                }
                BisectStep::Try(commit) => {
                    let number: usize = commit.parse().unwrap();
                    let result = match (is_broken(number), number >= first_flaky) {
                        (true, _) => Tried::Skipped,
                        (_, true) => Tried::Flaky,
                        _ => Tried::Stable,
                    };
                    match result {
                        Tried::Flaky => flaky = number,
                        Tried::Stable => good = number,
                        Tried::Skipped => {}
                    }
                    assert!(tried.insert(commit, result).is_none());
                }
            }
        }
    }

    #[test]
    fn the_commit_is_found_in_as_many_steps_as_it_takes_to_halve() {
        for count in [2, 3, 60, 1000] {
            for first_flaky in 1..count {
                let (steps, found) = search(count, first_flaky, |_| false);
                assert_eq!(found, [first_flaky], "{count}");
                assert!(steps <= count.ilog2() as usize + 1, "{count} {first_flaky}: {steps}");
            }
        }
    }

    #[test]
    fn commits_that_cannot_be_tried_are_left_over_only_beside_the_one_that_is_found() {
        for first_flaky in 1..60 {
            for step in [2, 3, 7] {
                let is_broken = |commit: usize| commit % step == 1 && commit != 59;
                let (_, found) = search(60, first_flaky, is_broken);
                assert!(found.contains(&first_flaky), "{first_flaky} {step}: {found:?}");
                assert!(found.len() <= 2, "{first_flaky} {step}: {found:?}");
                let last = found.last().unwrap();
                assert!(found.iter().all(|commit| commit == last || is_broken(*commit)));
            }
        }
    }
}
