//! Options of a campaign.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::model::CATALOGUE;
use nondex_core::{Files, Level, Model, NetworkMode, Observed, RunSpec, Schedule, StateId};

use super::missing::Purpose;
use super::prerequisite::{Limit, Policy, Prerequisite};
use super::run::Run;
use super::timing::is_of_timing;
use super::world::World;
use crate::slots::Required;

/// The time limit of one run unless another is given (`--timeout SECONDS`): long for a unit test,
/// short for a hang.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Default number of runs of each test in canonical order.
pub const DEFAULT_CLEAN_RUNS: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// How many seeds are tried unless others are given: 0 to 9.
pub const DEFAULT_SEEDS: u64 = 10;

/// How many times as long as the clean runs a campaign explores, unless another factor is given
/// (`--budget-factor`).
pub const DEFAULT_BUDGET_FACTOR: f64 = 10.0;

/// How many runs the search for the culprits of one test may ask for, unless another number is
/// given (`--search-runs`).
pub const DEFAULT_SEARCH_RUNS: usize = 200;

/// Options of a campaign. [`Options::new`] has the defaults of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// The command line, for the report.
    pub command: String,
    /// The root of the user's workspace: which source files are the user's own.
    pub workspace_root: Utf8PathBuf,
    /// The levels; their order and repetitions do not matter. With none, as with no seeds, there
    /// are clean runs only.
    pub levels: Vec<Level>,
    /// The seeds, in the order they are tried.
    pub seeds: Vec<u64>,
    /// Whether every seed is tried at every level, though the budget may be spent.
    pub every_seed: bool,
    /// What it serves to try [further seeds](super::further) of tests with threads; `None` if none
    /// are tried.
    pub further_seeds: Option<Purpose>,
    /// Which orders the seeds mean.
    pub schedule: Schedule,
    /// Number of runs of each test in canonical order.
    pub clean_runs: NonZeroU32,
    /// Choices that are all that is made: nothing is searched. `None` for a campaign.
    pub world: Option<World>,
    /// Number of tests that may fail before no other one is begun; `None` if all are run.
    pub max_fail: Option<NonZeroUsize>,
    /// Whether what tests write goes where the output of this tool goes, and is not kept.
    pub no_capture: bool,
    /// How many test processes run at once.
    pub jobs: NonZeroUsize,
    /// The time limit of one run.
    pub timeout: Duration,
    /// Whether runs are left out whose outcome follows from another run.
    pub prune: bool,
    /// Whether all levels are run, even above the weakest one that fails.
    pub all_levels: bool,
    /// A test with at most this number of orders at a level is run under all of them; with at most
    /// as many as there are seeds, in any case.
    pub exhaustive: u64,
    /// Whether findings that are advice are failures all the same.
    pub strict: bool,
    /// Names of models that are off: see [`RunSpec::models_off`](nondex_core::RunSpec::models_off).
    pub models_off: Vec<String>,
    /// Whose calls are choices.
    pub files: Files,
    /// Whether the operating system schedules threads, and time passes, whatever models are on.
    pub real_threads: bool,
    /// How many operations the threads of a test may do together while they are scheduled; 0 is the
    /// default of the runtime.
    pub max_steps: u64,
    /// Words that the command that reproduces a failure needs to build the same, such as
    /// `--manifest-path x`.
    pub build_words: Vec<String>,
    /// Choices that made the test fail before, whose options these are: what is tried before all
    /// others, at the levels asked for.
    pub regressions: Vec<(Schedule, Level, u64)>,
    /// Runs that were made before, of the same executable, by the id of the test.
    pub known: BTreeMap<String, Vec<(RunSpec, Run)>>,
    /// How many runs the search for the culprits of one test may ask for.
    pub search_runs: usize,
    /// How many times as long as the clean runs the campaign explores; `None` for no such limit.
    pub budget_factor: Option<f64>,
    /// Whether it is recorded which code runs.
    pub cover: bool,
    /// How long all runs may take together.
    pub max_time: Option<Duration>,
    /// What is done about the network.
    pub network: Policy,
    /// How many tests may be sanitised.
    pub max_sanitised: Option<Limit>,
    /// What explains failures besides the network's absence; the first that does gives its name.
    pub prerequisites: Vec<Arc<dyn Prerequisite>>,
    /// Statics of a test's executable in which hashers keep what they draw from addresses.
    pub address_seeds: Arc<[StateId]>,
    /// Whether nothing records what a test uses, such as one that runs on the host's own std.
    pub is_unobserved: bool,
    /// What is different for single tests, by their ids.
    pub per_test: BTreeMap<String, TestOptions>,
    /// What runs of single tests take, by their ids, where it is not one job slot.
    pub required: Arc<BTreeMap<String, Required>>,
}

/// Options of a test; `None` is what holds for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestOptions {
    /// The levels.
    pub levels: Option<Vec<Level>>,
    /// Names of models that are off, besides those that are off for all.
    pub models_off: Option<Vec<String>>,
    /// What is done about the network.
    pub network: Option<NetworkMode>,
    /// Whether failures that are no evidence about the code get a separate verdict.
    pub sanitise: Option<bool>,
    /// The time limit of one run.
    pub timeout: Option<Duration>,
    /// Choices that made it fail before.
    pub regressions: Vec<(Schedule, Level, u64)>,
}

impl Options {
    /// What runs of its seeds serve.
    pub const fn purpose_of_seeds(&self) -> Purpose {
        if self.every_seed { Purpose::Judge } else { Purpose::Explore }
    }

    /// The defaults for the workspace at `workspace_root`.
    pub fn new(workspace_root: impl Into<Utf8PathBuf>) -> Self {
        Options {
            command: "cargo nondex".to_owned(),
            workspace_root: workspace_root.into(),
            levels: Level::ALL.to_vec(),
            seeds: (0..DEFAULT_SEEDS).collect(),
            every_seed: true,
            further_seeds: None,
            schedule: Schedule::default(),
            clean_runs: DEFAULT_CLEAN_RUNS,
            world: None,
            max_fail: None,
            no_capture: false,
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            timeout: DEFAULT_TIMEOUT,
            prune: true,
            all_levels: false,
            exhaustive: 0,
            strict: false,
            models_off: Vec::new(),
            files: Files::default(),
            real_threads: false,
            max_steps: 0,
            build_words: Vec::new(),
            regressions: Vec::new(),
            known: BTreeMap::new(),
            search_runs: DEFAULT_SEARCH_RUNS,
            budget_factor: None,
            cover: false,
            max_time: None,
            network: Policy::default(),
            max_sanitised: None,
            prerequisites: Vec::new(),
            per_test: BTreeMap::new(),
            address_seeds: Arc::default(),
            is_unobserved: false,
            required: Arc::default(),
        }
    }

    /// What a run of the test with this id takes of the job slots and of its test group.
    pub fn required(&self, test_id: &str) -> Required {
        self.required.get(test_id).cloned().unwrap_or_default()
    }

    /// The options of a test that differ from these. Copies them.
    pub fn with(&self, test: &TestOptions) -> Self {
        let mut options = Options { per_test: BTreeMap::new(), ..self.clone() };
        options.levels = test.levels.clone().unwrap_or(options.levels);
        options.timeout = test.timeout.unwrap_or(options.timeout);
        options.regressions.clone_from(&test.regressions);
        for model in test.models_off.iter().flatten() {
            if !options.models_off.contains(model) {
                options.models_off.push(model.clone());
            }
        }
        if let Some(mode) = test.network.filter(|mode| *mode != self.network.mode) {
            let Policy { allow, sanitise, verify, .. } = options.network;
            options.network = Policy { verify, ..Policy::new(mode, allow, sanitise) };
        }
        options.network.sanitise = test.sanitise.unwrap_or(options.network.sanitise);
        options
    }

    /// The options of the test with this id.
    pub fn of(&self, test_id: &str) -> Cow<'_, Options> {
        match self.per_test.get(test_id) {
            Some(test) => Cow::Owned(self.with(test)),
            None => Cow::Borrowed(self),
        }
    }

    /// `spec` with what all runs of a campaign have in common.
    pub fn apply(&self, spec: RunSpec) -> RunSpec {
        let spec = spec.with_schedule(self.schedule);
        let spec = if self.is_scheduled() { spec.with_scheduler(self.max_steps) } else { spec };
        RunSpec {
            models_off: self.models_off.clone(),
            files: self.files.clone(),
            cover: self.cover,
            observe: self.observed(),
            ..self.network.apply(spec)
        }
    }

    /// Whether the threads and the time of a test are scheduled: unless all models of both are off.
    pub fn is_scheduled(&self) -> bool {
        let is_on = |model: &Model| !self.models_off.contains(&model.name(model.family));
        let mut timing = CATALOGUE.iter().filter(|model| is_of_timing(model.family));
        // It is asked for each spec, and most options leave all models on.
        !self.real_threads && (self.models_off.is_empty() || timing.any(|model| is_on(model)))
    }

    /// Whether seeds are tried at all, at any level.
    pub const fn tries_seeds(&self) -> bool {
        !(self.seeds.is_empty() || self.levels.is_empty())
    }

    /// The same with further seeds for this purpose. Copies them.
    pub fn with_further_seeds(&self, purpose: Purpose) -> Self {
        Options { further_seeds: Some(purpose), ..self.clone() }
    }

    /// The same with real threads and real time. Copies them.
    pub fn with_real_threads(&self) -> Self {
        Options { real_threads: true, ..self.clone() }
    }

    /// The failures that prerequisites ask for, each once.
    fn observed(&self) -> Vec<Observed> {
        if !self.network.sanitise {
            return Vec::new();
        }
        let observed = self.prerequisites.iter().flat_map(|one| one.observes());
        let observed: BTreeSet<Observed> = observed.collect();
        observed.into_iter().collect()
    }
}
