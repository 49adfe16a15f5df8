//! `cargo nondex order`: which orders of tests are tried.

use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;

use super::build_args::BuildArgs;
use super::changed_args::ChangedArgs;
use super::config_args::ConfigArgs;
use super::model_args::ModelArgs;
use super::network_args::NetworkArgs;
use super::output_args::OutputArgs;
use super::run_args::RunArgs;
use super::test_filter::FilterArgs;
use super::values::{positive, seconds, words};
use nondex_harness::judge::order::{OrderOptions, Shuffle, Strategy};

/// The options of `cargo nondex order`.
#[derive(Args, Clone, Debug)]
pub struct OrderArgs {
    /// Which tests.
    #[command(flatten)]
    pub filter: FilterArgs,

    /// Which of them, by what is changed.
    #[command(flatten)]
    pub changed: ChangedArgs,

    /// Random orders of the tests of a binary; all orders are tried where there are no more [default: 10]
    #[arg(long, value_name = "N", help_heading = "Order options")]
    pub orders: Option<usize>,

    /// Runs of a suspected test alone, and behind those it depends on, before a word is said [default: 10]
    #[arg(long, value_name = "M", help_heading = "Order options")]
    #[arg(value_parser = positive::<NonZeroUsize>)]
    pub reruns: Option<NonZeroUsize>,

    /// Pairs of tests to try in a binary, each in a fork; none of a binary that has more [default: 20000]
    #[arg(long, value_name = "N", help_heading = "Order options")]
    pub pairs: Option<usize>,

    /// Processes of tests that run at the same time to make in a binary, the most suspicious first [default: 4 for each test, and 400 at least]
    #[arg(long, value_name = "N", help_heading = "Order options")]
    pub meetings: Option<usize>,

    /// What random orders are drawn from
    #[arg(
        long,
        value_name = "SEED",
        default_value = "0",
        help_heading = "Order options"
    )]
    pub seed: u64,

    /// What random orders exchange: the tests of each module, whole modules, or all tests
    #[arg(long, value_name = "tests|modules|all", default_value = "all")]
    #[arg(help_heading = "Order options", value_parser = words(Shuffle::ALL, Shuffle::name))]
    pub shuffle: Shuffle,

    /// Orders to try, of original, reverse, random, tuscan, one-by-one, isolated, all [default: original,reverse,random]
    #[arg(long, value_name = "STRATEGIES", value_delimiter = ',')]
    #[arg(help_heading = "Order options", value_parser = words(Strategy::ALL, Strategy::name))]
    pub strategies: Vec<Strategy>,

    /// How many processes each search for what one test depends on may take [default: 200]
    #[arg(long, value_name = "RUNS", help_heading = "Order options")]
    pub budget: Option<usize>,

    /// Time limit of one test; a process of several has as much more as they took alone [default: 60]
    #[arg(long, value_name = "SECONDS")]
    #[arg(help_heading = "Order options", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// How long all runs may take together: what is known by then is reported [default: no limit]
    #[arg(long, value_name = "SECONDS")]
    #[arg(help_heading = "Order options", value_parser = seconds)]
    pub max_time: Option<Duration>,

    /// Write the report as JUnit's XML, too
    #[arg(long, value_name = "FILE", help_heading = "Output options")]
    pub junit: Option<Utf8PathBuf>,

    /// What about the network.
    #[command(flatten)]
    pub network: NetworkArgs,

    /// Which models.
    #[command(flatten)]
    pub models: ModelArgs,

    /// Which configuration.
    #[command(flatten)]
    pub config: ConfigArgs,

    /// What is built.
    #[command(flatten)]
    pub build: BuildArgs,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl OrderArgs {
    /// What is tried.
    #[must_use]
    pub fn options(&self) -> OrderOptions {
        let usual = OrderOptions::default();
        OrderOptions {
            strategies: match self.strategies.is_empty() {
                true => usual.strategies,
                false => self.strategies.clone(),
            },
            orders: self.orders.unwrap_or(usual.orders),
            seed: self.seed,
            shuffle: self.shuffle,
            reruns: self.reruns.map_or(usual.reruns, NonZeroUsize::get),
            pairs: self.pairs.unwrap_or(usual.pairs),
            meetings: self.meetings,
            budget: self.budget.unwrap_or(usual.budget),
        }
    }
}

impl From<OrderArgs> for RunArgs {
    /// What it has in common with a run.
    fn from(args: OrderArgs) -> Self {
        RunArgs {
            filter: args.filter,
            changed: args.changed,
            timeout: args.timeout,
            max_time: args.max_time,
            junit: args.junit,
            network: args.network,
            models: args.models,
            config: args.config,
            build: args.build,
            output: args.output,
            ..RunArgs::default()
        }
    }
}
