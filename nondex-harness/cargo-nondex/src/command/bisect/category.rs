//! How a test is flaky, and what shows it at another commit.

use std::collections::BTreeSet;

use nondex_core::{Level, Schedule};

use crate::error::{Error, Result};
use crate::judge::certainty::{MOST, runs_without_failure};
use crate::report::{TestReport, Verdict};

/// How a test is flaky, and what shows it.
#[derive(Clone, Debug)]
pub(super) enum Category {
    /// By choices at this level, of which this seed is known.
    Choices { level: Level, known: Vec<(Schedule, Level, u64)> },
    /// Behind these tests; those of other binaries have their ids.
    Order { before: Vec<String>, fails: bool },
    /// By chance, seldom enough for this number of runs.
    Chance { runs: usize },
}

impl Category {
    /// The packages of the tests that it takes, for a test of `own`.
    pub(super) fn packages(&self, own: &str) -> Vec<String> {
        let before: &[String] = match self {
            Category::Order { before, .. } => before,
            Category::Choices { .. } | Category::Chance { .. } => &[],
        };
        let ids = before.iter().filter_map(|name| name.split_once('$'));
        let packages = ids.map(|(binary, _)| binary.split("::").next().unwrap_or(binary));
        let all: BTreeSet<&str> = packages.chain([own]).collect();
        all.into_iter().map(str::to_owned).collect()
    }

    /// How a test of a report is flaky.
    ///
    /// # Errors
    /// When nothing is known that shows it at another commit.
    pub(super) fn of(test: &TestReport) -> Result<Self> {
        if let (Some(level), Some(_)) = (test.weakest_level, test.culprits.first()) {
            let known = test
                .failures
                .iter()
                .filter_map(|failure| Some((failure.schedule, failure.level?, failure.seed?)));
            let known = known.filter(|(_, at, _)| *at == level).take(3);
            return Ok(Category::Choices { level, known: known.collect() });
        }
        match (test.verdict, &test.order, test.weakest_level) {
            (Verdict::ImplementationDependent, _, Some(level)) => {
                Ok(Category::Choices { level, known: Vec::new() })
            }
            (Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle, Some(order), _) => {
                let fails = test.verdict == Verdict::OrderDependentVictim;
                let all = if fails { &order.polluters } else { &order.setters };
                let before = order.sets.first().cloned();
                let before = before.unwrap_or_else(|| all.iter().take(1).cloned().collect());
                Ok(Category::Order {
                    before,
                    // It passes alone and fails after a polluter; with a setter it is the other way
                    // round.
                    fails,
                })
            }
            // One that is of unknown cause fails by chance, too.
            (Verdict::NonDeterministic | Verdict::Unknown, ..) => {
                Ok(Category::Chance { runs: runs_without_failure(test.least_rate()).min(MOST) })
            }
            (verdict, ..) => Err(Error::usage(format!(
                "`{}` is `{verdict}` in the report: nothing is known that shows it again at \
                 another commit",
                test.id
            ))),
        }
    }
}
