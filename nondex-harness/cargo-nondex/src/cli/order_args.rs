//! Options of `cargo nondex order`, which runs tests in other orders.

use std::num::NonZeroUsize;

use clap::Args;

use super::testing_args::{BudgetArgs, TestingArgs};
use super::values::{one_of, positive, whole};
use crate::judge::order::{OrderOptions, Shuffle, Strategy};

/// Options of `cargo nondex order`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Order options")]
pub struct OrderArgs {
    /// Random orders of the tests of a binary; all orders are tried where there are no more
    /// [default: 10]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub orders: Option<usize>,

    /// Runs of a suspected test alone, and after those it depends on, before a verdict [default:
    /// 10]
    #[arg(long, value_name = "M", value_parser = positive::<NonZeroUsize>)]
    pub reruns: Option<NonZeroUsize>,

    /// Pairs of tests to try in a binary, each in a fork; none of a binary that has more [default:
    /// 20000, where the budget lasts for all]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub pairs: Option<usize>,

    /// Processes with interleaved tests to make in a binary, the most suspicious first
    /// [default: 4 for each test, and 800 at least, while the budget lasts; five times as many if
    /// they take no longer than 10 seconds]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub interleavings: Option<usize>,

    /// Seed of the random orders
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = whole::<u64>)]
    pub seed: u64,

    /// What random orders exchange: the tests of each module, whole modules, or all tests
    #[arg(long, value_name = "tests|modules|all", default_value = "all")]
    #[arg(value_parser = one_of(Shuffle::ALL, Shuffle::name))]
    pub shuffle: Shuffle,

    /// Orders to try, of original, reverse, random, tuscan, one-by-one, isolated, all [default:
    /// original,reverse,random]
    #[arg(long, value_name = "STRATEGIES", value_delimiter = ',')]
    #[arg(value_parser = one_of(Strategy::ALL, Strategy::name))]
    pub strategies: Vec<Strategy>,

    /// How many processes each search for what one test depends on may take [default: 200]
    #[arg(long, value_name = "RUNS", value_parser = whole::<usize>)]
    pub search_runs: Option<usize>,

    /// Limit of the search.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Selection of tests, and options for running them.
    #[command(flatten)]
    pub testing: TestingArgs,
}

impl OrderArgs {
    /// Returns the options of the search.
    pub fn options(&self) -> OrderOptions {
        let default = OrderOptions::default();
        OrderOptions {
            strategies: if self.strategies.is_empty() {
                default.strategies
            } else {
                self.strategies.clone()
            },
            orders: self.orders.unwrap_or(default.orders),
            seed: self.seed,
            shuffle: self.shuffle,
            reruns: self.reruns.map_or(default.reruns, NonZeroUsize::get),
            pairs: self.pairs,
            interleavings: self.interleavings,
            search_runs: self.search_runs.unwrap_or(default.search_runs),
        }
    }
}
