//! Results of `confirm`: how often the plain build of each test failed.

use serde::Serialize;

use crate::statistics::Rate;

/// Results of all tests, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Confirmation {
    /// Whether the command was interrupted before all runs were made.
    pub(super) partial: bool,
    pub(super) tests: Vec<Confirmed>,
}

/// Result of one test.
#[derive(Debug, Serialize)]
pub(super) struct Confirmed {
    pub(super) id: String,
    /// Failure rate in the runs that count.
    #[serde(flatten)]
    pub(super) rate: Rate,
    /// Failure rate in runs that were made at the same time, if some of them failed. The runs that
    /// count were then made one at a time.
    pub(super) beside_itself: Option<Rate>,
    /// Seeds with which the test failed twice, if entropy was seeded. Only these failures count.
    pub(super) failing_seeds: Option<Vec<u64>>,
    /// Seeds with which the test failed once and then passed, because something other than entropy
    /// decided.
    pub(super) unrepeated_seeds: Option<Vec<u64>>,
    /// Message of the first failing run: of the runs that count, or else of the other runs.
    pub(super) message: Option<String>,
    /// Output of that run.
    pub(super) output: Option<String>,
}

impl Confirmed {
    /// Returns whether runs were made and none of them failed.
    pub(super) fn passes(&self) -> bool {
        matches!(self.rate, Rate { failures: 0, runs: 1.., .. })
    }

    /// Returns the label of the result. A test that passed in any run is not broken, even if all
    /// runs that were made one at a time failed.
    pub(super) fn label(&self) -> &'static str {
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
        for (rate, beside_itself, label) in [
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
            assert_eq!(confirmed.label(), label, "{rate:?} {beside_itself:?}");
            assert_eq!(confirmed.passes(), label == "Passes");
        }
    }
}
