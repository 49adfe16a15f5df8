//! The result of `confirm` for each test: how often its plain build failed.

use serde::Serialize;

use crate::statistics::Rate;

/// What is known of all tests, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Confirmation {
    /// Whether it was interrupted before all runs were made.
    pub(super) partial: bool,
    pub(super) tests: Vec<Confirmed>,
}

/// What is known of one test.
#[derive(Debug, Serialize)]
pub(super) struct Confirmed {
    pub(super) id: String,
    /// The runs that count.
    #[serde(flatten)]
    pub(super) rate: Rate,
    /// The runs at the time of which others of the same test were made, when some of them failed;
    /// those that count were then made one at a time.
    pub(super) beside_itself: Option<Rate>,
    /// The seeds with which it failed twice, when entropy was seeded: those that count.
    pub(super) failing_seeds: Option<Vec<u64>>,
    /// The seeds with which it failed once and then passed: something else than entropy decided.
    pub(super) unrepeated_seeds: Option<Vec<u64>>,
    /// Why the first failing run failed, of those that count or else of the others.
    pub(super) message: Option<String>,
    /// What that run wrote.
    pub(super) output: Option<String>,
}

impl Confirmed {
    /// Whether none of the runs failed that were made.
    pub(super) fn passes(&self) -> bool {
        matches!(self.rate, Rate { failures: 0, runs: 1.., .. })
    }

    /// What the test is called. One that ever passed is not broken, also where all of its runs
    /// failed that were made one at a time.
    pub(super) fn word(&self) -> &'static str {
        let has_passed = |rate: &Rate| rate.failures < rate.runs;
        match self.rate {
            Rate { runs: 0, .. } => "Unknown",
            _ if self.passes() => "Passes",
            rate if has_passed(&rate) || self.beside_itself.iter().any(has_passed) => "Flaky",
            _ => "Broken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ever_passed_is_not_broken_and_what_fails_beside_itself_only_passes() {
        for (rate, beside_itself, word) in [
            ((0, 0), None, "Unknown"),
            ((0, 20), Some((3, 20)), "Passes"),
            ((7, 20), Some((20, 20)), "Flaky"),
            ((20, 20), Some((12, 20)), "Flaky"),
            ((20, 20), Some((20, 20)), "Broken"),
            ((20, 20), None, "Broken"),
        ] {
            let rate_of = |(failures, runs)| Rate::new(failures, runs);
            let confirmed = Confirmed {
                id: "a$b".to_owned(),
                rate: rate_of(rate),
                beside_itself: beside_itself.map(rate_of),
                failing_seeds: None,
                unrepeated_seeds: None,
                message: None,
                output: None,
            };
            assert_eq!(confirmed.word(), word, "{rate:?} {beside_itself:?}");
            assert_eq!(confirmed.passes(), word == "Passes");
        }
    }
}
