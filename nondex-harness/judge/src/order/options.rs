//! What is tried to find tests that depend on others.

use std::time::Duration;

use super::roles::Limits;
use super::sharers::Sharers;
use super::strategy::{Shuffle, Strategy, factorial, orders};

/// How many random orders are tried unless another number is given (`--orders N`).
pub const DEFAULT_ORDERS: usize = 10;

/// Default number of runs of a suspected test alone, and after those it depends on, unless another
/// number is given (`--reruns M`).
pub const DEFAULT_RERUNS: usize = 10;

/// How many pairs of tests are tried in each binary unless another number is given (`--pairs N`).
const PAIRS: usize = 20_000;

/// How many processes with interleaved tests are made in a binary unless another number is given
/// (`--interleavings N`): a number for each of its tests, and a minimum; and up to a number of
/// times as many while they take no longer than a limit.
const INTERLEAVINGS: usize = 4;
const MIN_INTERLEAVINGS: usize = 800;
const MORE_INTERLEAVINGS: usize = 5;
const QUICK_INTERLEAVINGS: Duration = Duration::from_secs(10);

/// How many orders begin with tests that share a part of the state.
const MAX_OF_SHARERS: usize = 64;

/// What is tried in each binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderOptions {
    /// Which orders; of each strategy but the random one as many as there are.
    pub strategies: Vec<Strategy>,
    /// How many random orders; all orders are tried where there are no more.
    pub orders: usize,
    /// What random orders are drawn from.
    pub seed: u64,
    /// What they exchange.
    pub shuffle: Shuffle,
    /// Number of runs of a suspected test alone, and after those it depends on.
    pub reruns: usize,
    /// How many pairs of tests are tried, none of a binary that has more; as many as the budget
    /// allows unless given.
    pub pairs: Option<usize>,
    /// How many processes of tests that run at the same time are made in each binary; as many as
    /// its tests and their speed allow unless given.
    pub interleavings: Option<usize>,
    /// How many processes each search for one test's roles may ask for.
    pub search_runs: usize,
}

impl OrderOptions {
    /// The orders of the tests with these names, each once; `sharers` share a part of the state
    /// each.
    pub fn planned(&self, names: &[&str], sharers: &[Sharers]) -> Vec<Vec<usize>> {
        let of = |strategy, count| orders(strategy, names, count, self.seed, self.shuffle);
        let is_drawn = self.strategies.contains(&Strategy::Random);
        if is_drawn && factorial(names.len(), self.orders).is_some() {
            return of(Strategy::All, self.orders);
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
        for order in of_writers.chain(of_readers).take(MAX_OF_SHARERS) {
            if !planned.contains(&order) {
                planned.push(order);
            }
        }
        planned
    }

    /// How many pairs of tests are tried in a binary at most.
    pub fn most_pairs(&self) -> usize {
        self.pairs.unwrap_or(PAIRS)
    }

    /// Budget of processes of tests that run at the same time, in a binary of this number of tests
    /// and within this time, if it is limited.
    pub fn interleavings(&self, tests: usize, time: Option<Duration>) -> Budget {
        let usual = tests.saturating_mul(INTERLEAVINGS).max(MIN_INTERLEAVINGS);
        let (surely, most) = match self.interleavings {
            Some(given) => (given, given),
            None => (usual, usual.saturating_mul(MORE_INTERLEAVINGS)),
        };
        Budget {
            surely: surely as u64,
            most: most as u64,
            patience: QUICK_INTERLEAVINGS,
            time: time.filter(|_| self.interleavings.is_none()),
        }
    }

    /// Limits of searches; `has_pairs` is whether each pair was tried.
    pub const fn limits(&self, has_pairs: bool) -> Limits {
        Limits { reruns: self.reruns, questions: self.search_runs, has_pairs }
    }
}

/// How many processes may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Number of processes while the time lasts.
    pub surely: u64,
    /// Number of processes within the patience.
    pub most: u64,
    /// How long more than are made surely may be begun.
    pub patience: Duration,
    /// How long any may be begun.
    pub time: Option<Duration>,
}

impl Budget {
    /// Whether this number of processes in this time uses it up.
    pub fn is_over(&self, made: u64, took: Duration) -> bool {
        made >= self.most || made >= self.surely && took >= self.patience || self.is_late(took)
    }

    /// Whether the time for them is over.
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
    fn more_processes_are_made_where_they_are_quick_and_a_given_number_is_kept() {
        let (quick, slow) = (Duration::from_secs(1), Duration::from_secs(60));
        let usual = OrderOptions::default().interleavings(10, None);
        assert!(!usual.is_over(799, slow) && usual.is_over(800, slow));
        assert!(!usual.is_over(3_999, quick) && usual.is_over(4_000, quick));
        let many = OrderOptions::default().interleavings(1_000, None);
        assert!(!many.is_over(3_999, slow) && many.is_over(4_000, slow));
        let given = OrderOptions { interleavings: Some(7), ..OrderOptions::default() };
        let given = given.interleavings(10, Some(quick));
        assert!(!given.is_over(6, slow) && given.is_over(7, quick));
        let limited = OrderOptions::default().interleavings(10, Some(slow));
        assert!(!limited.is_over(799, quick) && limited.is_over(1, slow));
    }
}
