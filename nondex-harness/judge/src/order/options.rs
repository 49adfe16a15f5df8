//! Options and budgets of the search for tests that depend on other tests.

use std::time::Duration;

use super::roles::SearchLimits;
use super::sharers::Sharers;
use super::strategy::{Shuffle, Strategy, factorial, orders};

/// Default number of random orders (`--orders N`).
pub const DEFAULT_ORDERS: usize = 10;

/// Default number of runs of a suspected test alone, and after the tests it depends on (`--reruns
/// M`).
pub const DEFAULT_RERUNS: usize = 10;

/// Default maximum number of pairs of tests in each binary (`--pairs N`).
const PAIRS: usize = 20_000;

/// Default number of processes with interleaved tests in a binary (`--interleavings N`). It is a
/// number for each test, with a minimum. Up to a multiple of it are made while they take no longer
/// than a limit.
const INTERLEAVINGS: usize = 4;
const MIN_INTERLEAVINGS: usize = 800;
const MORE_INTERLEAVINGS: usize = 5;
const QUICK_INTERLEAVINGS: Duration = Duration::from_secs(10);

/// Maximum number of orders that begin with tests that share a part of the state.
const MAX_OF_SHARERS: usize = 64;

/// What is tried in each binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderOptions {
    /// Strategies for orders. Each strategy except the random one gives all its orders.
    pub strategies: Vec<Strategy>,
    /// Number of random orders. If there are no more orders than this, all are tried.
    pub orders: usize,
    /// Seed of the random orders.
    pub seed: u64,
    /// What the random orders exchange.
    pub shuffle: Shuffle,
    /// Number of runs of a suspected test alone, and after the tests it depends on.
    pub reruns: usize,
    /// Maximum number of pairs of tests; a binary with more pairs has none tried. `None` allows as
    /// many as the budget does.
    pub pairs: Option<usize>,
    /// Number of processes in each binary with tests that run at the same time. `None` allows a
    /// number that depends on the tests and their speed.
    pub interleavings: Option<usize>,
    /// Maximum number of processes for each search for the roles of one test.
    pub search_runs: usize,
}

impl OrderOptions {
    /// Returns the orders of the tests with these names, without duplicates. Each of `sharers`
    /// lists the tests that share a part of the state. At most `most` orders begin with such tests;
    /// also returns how many were left out for that.
    pub fn planned(
        &self,
        names: &[&str],
        sharers: &[Sharers],
        most: usize,
    ) -> (Vec<Vec<usize>>, usize) {
        let of = |strategy, count| orders(strategy, names, count, self.seed, self.shuffle);
        let is_drawn = self.strategies.contains(&Strategy::Random);
        if is_drawn && factorial(names.len(), self.orders).is_some() {
            return (of(Strategy::All, self.orders), 0);
        }
        let mut planned: Vec<Vec<usize>> = Vec::new();
        for &strategy in &self.strategies {
            let count = match strategy {
                Strategy::Random | Strategy::All => self.orders,
                _ => usize::MAX,
            };
            for order in of(strategy, count) {
                if !planned.contains(&order) {
                    planned.push(order);
                }
            }
        }
        let shared = || sharers.iter().filter(|_| is_drawn);
        let of_writers = shared().flat_map(|shared| shared.writers_first(names.len()));
        let of_readers = shared().flat_map(|shared| shared.readers_next(names.len()));
        let most = planned.len().saturating_add(most);
        for order in of_writers.chain(of_readers).take(MAX_OF_SHARERS) {
            if !planned.contains(&order) {
                planned.push(order);
            }
        }
        let left = planned.len().saturating_sub(most);
        planned.truncate(most);
        (planned, left)
    }

    /// Returns the maximum number of pairs of tests in a binary.
    pub fn most_pairs(&self) -> usize {
        self.pairs.unwrap_or(PAIRS)
    }

    /// Returns the budget of processes with tests that run at the same time, for a binary with this
    /// number of tests. `time` limits it unless a number is given.
    pub fn interleavings(&self, tests: usize, time: Option<Duration>) -> ProcessBudget {
        let usual = tests.saturating_mul(INTERLEAVINGS).max(MIN_INTERLEAVINGS);
        let (surely, most) = match self.interleavings {
            Some(given) => (given, given),
            None => (usual, usual.saturating_mul(MORE_INTERLEAVINGS)),
        };
        ProcessBudget {
            surely: surely as u64,
            most: most as u64,
            patience: QUICK_INTERLEAVINGS,
            time: time.filter(|_| self.interleavings.is_none()),
        }
    }

    /// Returns the limits of searches; `has_pairs` is whether each pair was tried.
    pub const fn limits(&self, has_pairs: bool) -> SearchLimits {
        SearchLimits { reruns: self.reruns, questions: self.search_runs, has_pairs }
    }
}

/// Budget of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessBudget {
    /// Number of processes that are made unless `time` is over.
    pub surely: u64,
    /// Maximum number of processes while `patience` lasts.
    pub most: u64,
    /// Duration within which more processes than `surely` may start.
    pub patience: Duration,
    /// Duration within which any process may start.
    pub time: Option<Duration>,
}

impl ProcessBudget {
    /// Returns whether this number of processes in this time uses up the budget.
    pub fn is_over(&self, made: u64, took: Duration) -> bool {
        made >= self.most || made >= self.surely && took >= self.patience || self.is_late(took)
    }

    /// Returns whether `time` is over.
    pub fn is_late(&self, took: Duration) -> bool {
        self.time.is_some_and(|time| took >= time)
    }
}

impl Default for OrderOptions {
    fn default() -> Self {
        OrderOptions {
            strategies: vec![Strategy::Original, Strategy::Reverse, Strategy::Random],
            orders: DEFAULT_ORDERS,
            seed: 0,
            shuffle: Shuffle::default(),
            reruns: DEFAULT_RERUNS,
            pairs: None,
            interleavings: None,
            search_runs: crate::options::DEFAULT_SEARCH_RUNS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_tests_that_share_something_are_limited_and_the_others_are_not() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let sharers = [Sharers { writers: vec![2, 5, 6], readers: vec![1] }];
        let options = OrderOptions::default();
        let (all, left) = options.planned(&names, &sharers, usize::MAX);
        let (none, left_of_none) = options.planned(&names, &sharers, 0);
        let (two, left_of_two) = options.planned(&names, &sharers, 2);
        assert_eq!(
            (left, left_of_none, left_of_two + 2),
            (0, all.len() - none.len(), left_of_none)
        );
        assert_eq!(none.len(), 2 + DEFAULT_ORDERS);
        assert_eq!(two, all[..none.len() + 2]);
        assert_eq!(two[none.len()][..3], [2, 5, 6]);
    }

    #[test]
    fn more_processes_are_made_where_they_are_quick_and_a_given_number_is_kept() {
        let (quick, slow) = (Duration::from_secs(1), Duration::from_secs(60));
        let usual = OrderOptions::default().interleavings(10, None);
        assert!(!usual.is_over(799, slow) && usual.is_over(800, slow));
        assert!(!usual.is_over(3_999, quick) && usual.is_over(4_000, quick));
        let many = OrderOptions::default().interleavings(1_000, None);
        assert!(!many.is_over(3_999, slow) && many.is_over(4_000, slow));
        let seven = OrderOptions { interleavings: Some(7), ..OrderOptions::default() };
        let given = seven.interleavings(10, Some(quick));
        assert!(!given.is_over(6, slow) && given.is_over(7, quick));
        let limited = OrderOptions::default().interleavings(10, Some(slow));
        assert!(!limited.is_over(799, quick) && limited.is_over(1, slow));
    }
}
