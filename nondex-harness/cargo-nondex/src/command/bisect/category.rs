//! Kinds of flakiness, and how to detect each kind at another commit.

use std::collections::BTreeSet;

use nondex_core::{Level, Schedule};

use crate::error::{Error, Result};
use crate::judge::certainty::{MOST, runs_without_failure};
use crate::report::{TestReport, Verdict};

/// Kind of flakiness, with what is needed to detect it at another commit.
#[derive(Clone, Debug)]
pub(super) enum Category {
    /// Some choices at this level make the test fail. `known` are up to three of them.
    Choices { level: Level, known: Vec<(Schedule, Level, u64)> },
    /// The outcome depends on whether these tests run before it. Tests of other binaries are named
    /// by their ids. `fails` is whether the test fails after them, and not whether it passes.
    Order { before: Vec<String>, fails: bool },
    /// The test fails by chance. This number of runs is enough to see a failure.
    Chance { runs: usize },
}

impl Category {
    /// Returns the tests that must run before the test.
    pub(super) fn before(&self) -> &[String] {
        match self {
            Category::Order { before, .. } => before,
            Category::Choices { .. } | Category::Chance { .. } => &[],
        }
    }

    /// Returns the packages to build for a test of the package `own`.
    pub(super) fn packages(&self, own: &str) -> Vec<String> {
        let ids = self.before().iter().filter_map(|name| name.split_once('$'));
        let packages = ids.map(|(binary, _)| binary.split("::").next().unwrap_or(binary));
        let all: BTreeSet<&str> = packages.chain([own]).collect();
        all.into_iter().map(str::to_owned).collect()
    }

    /// Returns how a test of a report is flaky.
    ///
    /// # Errors
    /// When the report has nothing that can detect the flakiness at another commit.
    pub(super) fn of(test: &TestReport) -> Result<Self> {
        if let (Some(level), Some(_)) = (test.weakest_level, test.culprits.first()) {
            let known = test
                .failures
                .iter()
                .filter_map(|failure| Some((failure.schedule, failure.level?, failure.seed?)))
                .filter(|(_, at, _)| *at == level)
                .take(3)
                .collect();
            return Ok(Category::Choices { level, known });
        }
        match (test.verdict, &test.order, test.weakest_level) {
            (Verdict::ImplementationDependent, _, Some(level)) => {
                Ok(Category::Choices { level, known: Vec::new() })
            }
            (Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle, Some(order), _) => {
                let fails = test.verdict == Verdict::OrderDependentVictim;
                let all = if fails { &order.polluters } else { &order.setters };
                let smallest_set = order.sets.first().cloned();
                Ok(Category::Order {
                    before: smallest_set.unwrap_or_else(|| all.iter().take(1).cloned().collect()),
                    // A victim passes alone and fails after a polluter. A brittle test fails alone
                    // and passes after a state-setter.
                    fails,
                })
            }
            // A flaky test of unknown cause also fails by chance.
            (Verdict::NonDeterministic | Verdict::Unknown, ..) => {
                Ok(Category::Chance { runs: runs_without_failure(test.least_rate()).min(MOST) })
            }
            (verdict, ..) => Err(Error::usage(format!(
                "`{}` is `{verdict}` in the report: nothing in it reproduces the failure at \
                 another commit",
                test.id
            ))),
        }
    }
}
