//! What a campaign is asked to do.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::Level;

use crate::network::{Limit, Policy};

/// The time limit of one run unless another is given (`--timeout SECONDS`): long for a unit test, short for a hang.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How often each test runs in base order unless another number is given.
pub const DEFAULT_CLEAN_RUNS: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// How many seeds are tried unless others are given: 0 to 9.
pub const DEFAULT_SEEDS: u64 = 10;

/// How many runs the search for the culprits of one test may ask for, unless another number is given (`--budget`).
pub const DEFAULT_BUDGET: usize = 200;

/// What a campaign is asked to do. [`Options::new`] has the defaults of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// The command line, for the report.
    pub command: String,
    /// The root of the user's workspace: which source files are the user's own.
    pub workspace_root: Utf8PathBuf,
    /// The levels; their order and repetitions do not matter. With none, as with no seeds, there are clean runs only.
    pub levels: Vec<Level>,
    /// The seeds, in the order they are tried.
    pub seeds: Vec<u64>,
    /// How often each test runs in base order.
    pub clean_runs: NonZeroU32,
    /// How many test processes run at once.
    pub jobs: NonZeroUsize,
    /// The time limit of one run.
    pub timeout: Duration,
    /// Whether runs are left out whose outcome follows from another run.
    pub prune: bool,
    /// Whether all levels are run, even above the weakest one that fails.
    pub exhaustive: bool,
    /// Whether findings at level FULL are failures.
    pub strict: bool,
    /// Names of models that are off: see [`RunSpec::models_off`](nondex_core::RunSpec::models_off).
    pub models_off: Vec<String>,
    /// Flags that the command that reproduces a failure needs to find the project, such as `--manifest-path x`. Quoted for a
    /// shell where needed.
    pub location_flags: Vec<String>,
    /// Choices that made a test fail before, by the name of the test: levels and seeds that are tried before all others, at
    /// the levels asked for. Tests of one name in several binaries try each other's.
    pub regressions: BTreeMap<String, Vec<(Level, u64)>>,
    /// How many runs the search for the culprits of one test may ask for.
    pub budget: usize,
    /// What is done about the network.
    pub network: Policy,
    /// How many tests may be sanitised.
    pub max_sanitised: Option<Limit>,
}

impl Options {
    /// The defaults for the workspace at `workspace_root`.
    #[must_use]
    pub fn new(workspace_root: impl Into<Utf8PathBuf>) -> Self {
        Options {
            command: "cargo nondex".to_owned(),
            workspace_root: workspace_root.into(),
            levels: Level::ALL.to_vec(),
            seeds: (0..DEFAULT_SEEDS).collect(),
            clean_runs: DEFAULT_CLEAN_RUNS,
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            timeout: DEFAULT_TIMEOUT,
            prune: true,
            exhaustive: false,
            strict: false,
            models_off: Vec::new(),
            location_flags: Vec::new(),
            regressions: BTreeMap::new(),
            budget: DEFAULT_BUDGET,
            network: Policy::default(),
            max_sanitised: None,
        }
    }
}
