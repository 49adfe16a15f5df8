//! Options of commands that run a campaign: `run`, `check`, `classify` and `deflake`.

use std::num::{NonZeroU32, NonZeroUsize};

use camino::Utf8PathBuf;
use clap::Args;
use nondex_core::{Level, Schedule};

use super::seeds::Seeds;
use super::testing_args::{BudgetArgs, TestingArgs};
use super::values::{Switch as _, drawn, positive, whole};
use crate::judge::options::DEFAULT_SEEDS;
use crate::judge::reruns::RerunCounts;

/// Options of `cargo nondex run`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Campaign options")]
pub struct RunArgs {
    /// Seeds to try: how many (0 = clean runs only), a range, a list, or N fresh ones [default: 10,
    /// and up to 100 at STD for a test with threads or random bytes]
    #[arg(long, value_name = "N|A..B|LIST|random:N", allow_hyphen_values = true)]
    pub seeds: Option<Seeds>,

    /// The one seed to try
    #[arg(long, value_name = "SEED", conflicts_with = "seeds", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Orders of the first seeds: those of a covering design, or random ones as for all other seeds
    /// [default: covering]
    #[arg(long, value_name = "covering|random", value_parser = drawn)]
    pub schedule: Option<Schedule>,

    /// Levels to try, of STD, ONE, EQ, ID, FULL [default: all]
    #[arg(long, value_name = "LEVELS", value_delimiter = ',')]
    pub levels: Vec<Level>,

    /// Runs of each test in the order std has today, before all others [default: 2]
    #[arg(long, value_name = "N", value_parser = positive::<NonZeroU32>)]
    pub clean_runs: Option<NonZeroU32>,

    /// Leave threads to the operating system, and time to the clock: no schedule, and nothing of
    /// the families `schedule` and `time`
    #[arg(long, switch = "BOOL")]
    pub real_threads: Option<bool>,

    /// Maximum number of operations of a test's threads while they are scheduled [default:
    /// 10000000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub max_steps: Option<u64>,

    /// Run every test at every seed and level, even where the outcome is known already. Start the
    /// executable for each run, and wait the whole limit for each test that hangs
    #[arg(long)]
    pub no_prune: bool,

    /// Run a test under all orders, and under all schedules with few preemptions, if there are no
    /// more than this [default: the number of seeds]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub exhaustive: Option<u64>,

    /// How many runs the search for the culprits of one test may take [default: 200]
    #[arg(long, value_name = "RUNS", value_parser = whole::<usize>)]
    pub search_runs: Option<usize>,

    /// Limit of the search.
    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Findings that are advice, such as those at level FULL only, and those that a change did not
    /// cause are failures too
    #[arg(long, switch = "BOOL")]
    pub strict: Option<bool>,

    /// Failures to try first, as `report --export` wrote them [default:
    /// .config/nondex-regressions.json]
    #[arg(long, value_name = "FILE")]
    pub regressions: Option<Utf8PathBuf>,

    /// Number of failed tests after which no further test starts.
    #[arg(skip)]
    pub max_fail: Option<NonZeroUsize>,

    /// Whether the output of tests is shown while they run.
    #[arg(skip)]
    pub no_capture: bool,

    /// Selection of tests, and options for running them.
    #[command(flatten)]
    pub testing: TestingArgs,
}

impl RunArgs {
    /// Returns the seeds: `--seed`, `--seeds`, or the default.
    pub fn seeds(&self) -> Vec<u64> {
        match (self.seed, &self.seeds) {
            (Some(seed), _) => Seeds::one(seed),
            (None, Some(seeds)) => seeds.clone(),
            (None, None) => Seeds::first(DEFAULT_SEEDS),
        }
        .into_vec()
    }

    /// Returns the maximum duration of exploration as a multiple of one run of all tests, or `None`
    /// without a limit.
    pub fn budget_factor(&self) -> Option<f64> {
        self.budget.factor().filter(|_| !self.no_prune)
    }

    /// Returns whether each seed is tried at each level, without a time limit.
    pub fn wants_every_seed(&self) -> bool {
        self.budget_factor().is_none() || self.seed.is_some() || self.seeds.is_some()
    }

    /// Returns whether tests for which few seeds are little evidence get further seeds. They do not
    /// if the seeds are given.
    pub const fn wants_further_seeds(&self) -> bool {
        self.seed.is_none() && self.seeds.is_none() && !self.no_prune
    }

    /// Returns the levels, from the most to the least realistic, without duplicates. Returns all
    /// levels if none is given.
    pub fn levels(&self) -> Vec<Level> {
        Level::ALL
            .into_iter()
            .filter(|level| self.levels.is_empty() || self.levels.contains(level))
            .collect()
    }
}

/// Options of `cargo nondex check`: those of `run`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Check options")]
pub struct CheckArgs {
    /// Random orders of the tests of a binary [default: 10]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub orders: Option<usize>,

    /// Report how each failing test is related to the change since this commit, as `deflake` does
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,

    /// Options of the campaign.
    #[command(flatten)]
    pub run: RunArgs,
}

/// Options of `cargo nondex classify`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Classify options")]
pub struct ClassifyArgs {
    /// Runs alone, in canonical order, of a test that nothing made fail
    #[arg(long, value_name = "N", default_value = "100", value_parser = whole::<u64>)]
    pub alone: u64,

    /// Runs of it at random addresses, on one processor, under load, and in a clean environment,
    /// each; three at most in another time zone and locale
    #[arg(long, value_name = "N", default_value = "20", value_parser = whole::<u64>)]
    pub circumstances: u64,

    /// Runs of it in a plain build
    #[arg(long, value_name = "N", default_value = "100", value_parser = whole::<u64>)]
    pub natural: u64,

    /// Options of the campaign that comes first.
    #[command(flatten)]
    pub run: RunArgs,
}

impl ClassifyArgs {
    /// Returns the maximum number of runs of a test under each circumstance.
    pub const fn limits(&self) -> RerunCounts {
        RerunCounts::new(self.alone, self.circumstances, self.natural)
    }
}

/// Options of `cargo nondex deflake`: those of `run`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Deflake options")]
pub struct DeflakeArgs {
    /// The commit that the working tree is compared with [default: HEAD, or its parent when nothing
    /// is changed since HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,

    /// Look only at what failing tests run, not at which changed lines no test runs
    #[arg(long)]
    pub delayed: bool,

    /// Options of the campaign.
    #[command(flatten)]
    pub run: RunArgs,
}
