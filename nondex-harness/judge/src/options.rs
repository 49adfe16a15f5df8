//! Defines the options of a campaign.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::model::CATALOGUE;
use nondex_core::{Files, Level, Model, NetworkMode, Observed, RunSpec, Schedule, StateId};

use super::missing::ExperimentPurpose;
use super::prerequisite::{
    Explanation, NetworkPolicy, Prerequisite, SanitisedLimit, explained_run,
};
use super::run::Run;
use super::timing::is_of_timing;
use super::world::World;
use crate::slots::Required;

/// Default time limit of one run (`--timeout SECONDS`): long for a unit test, short for a hang.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Default number of runs of each test in canonical order.
pub const DEFAULT_CLEAN_RUNS: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// Default number of seeds: 0 to 9.
pub const DEFAULT_SEEDS: u64 = 10;

/// Default duration of exploration as a multiple of the clean runs (`--budget-factor`).
pub const DEFAULT_BUDGET_FACTOR: f64 = 10.0;

/// Default maximum number of runs of the search for the culprits of one test (`--search-runs`).
pub const DEFAULT_SEARCH_RUNS: usize = 200;

/// Options of a campaign. [`Options::new`] has the defaults of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// Command line, for the report.
    pub command: String,
    /// Root of the user's workspace. It decides which source files are the user's own.
    pub workspace_root: Utf8PathBuf,
    /// Levels; their order and repetitions do not matter. Without levels or without seeds, there
    /// are only clean runs.
    pub levels: Vec<Level>,
    /// Seeds, in the order in which they are tried.
    pub seeds: Vec<u64>,
    /// Whether every seed is tried at every level even if the budget is spent.
    pub every_seed: bool,
    /// Purpose of [further seeds](super::further) for tests with threads; `None` if none are tried.
    pub further_seeds: Option<ExperimentPurpose>,
    /// Scheme by which seeds determine orders.
    pub schedule: Schedule,
    /// Number of runs of each test in canonical order.
    pub clean_runs: NonZeroU32,
    /// If set, only the outcome with these choices is reported, and nothing is searched. `None` for
    /// a campaign.
    pub world: Option<World>,
    /// Number of failed tests after which no further test starts; `None` if all are run.
    pub max_fail: Option<NonZeroUsize>,
    /// Whether the output of tests goes where the output of this tool goes, and is not kept.
    pub no_capture: bool,
    /// Number of test processes that run at once.
    pub jobs: NonZeroUsize,
    /// Time limit of one run.
    pub timeout: Duration,
    /// Whether runs are left out whose outcome follows from another run.
    pub prune: bool,
    /// Whether all levels are run, even those above the weakest one that fails.
    pub all_levels: bool,
    /// Number of orders at a level up to which a test is run under all of them. If there are no
    /// more orders than seeds, all are always run.
    pub exhaustive: u64,
    /// Whether findings that are only advice count as failures.
    pub strict: bool,
    /// Names of models that are off: see [`RunSpec::models_off`](nondex_core::RunSpec::models_off).
    pub models_off: Vec<String>,
    /// Files whose calls are choices.
    pub files: Files,
    /// Whether threads and time are real, whatever models are on.
    pub real_threads: bool,
    /// Maximum number of operations of all threads of a test while they are scheduled; 0 is the
    /// runtime's default.
    pub max_steps: u64,
    /// Words that the command that reproduces a failure needs for the same build, such as
    /// `--manifest-path x`.
    pub build_words: Vec<String>,
    /// Choices that made the test fail in earlier campaigns, if these are options of a single test.
    /// They are tried first, at the requested levels.
    pub regressions: Vec<(Schedule, Level, u64)>,
    /// Runs that were made earlier with the same executable, by the id of the test.
    pub known: BTreeMap<String, Vec<(RunSpec, Run)>>,
    /// Maximum number of runs of the search for the culprits of one test.
    pub search_runs: usize,
    /// Maximum duration of exploration as a multiple of the clean runs; `None` for no such limit.
    pub budget_factor: Option<f64>,
    /// Whether the executed code is recorded.
    pub cover: bool,
    /// Maximum total duration of all runs.
    pub max_time: Option<Duration>,
    /// Policy for the network.
    pub network: NetworkPolicy,
    /// Maximum number of tests that may be sanitised.
    pub max_sanitised: Option<SanitisedLimit>,
    /// Prerequisites besides the network that explain failures; the first match gives its name.
    pub prerequisites: Vec<Arc<dyn Prerequisite>>,
    /// Statics of a test's executable in which hashers keep seeds that they draw from addresses.
    pub address_seeds: Arc<[StateId]>,
    /// Whether nothing records what a test uses, because it runs on the host's own std.
    pub is_unobserved: bool,
    /// Options of single tests, by their ids.
    pub per_test: BTreeMap<String, TestOptions>,
    /// Resources of runs of single tests, by their ids, if they are not one job slot.
    pub required: Arc<BTreeMap<String, Required>>,
}

/// Options of a test; `None` keeps the options of the campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestOptions {
    /// Levels.
    pub levels: Option<Vec<Level>>,
    /// Names of models that are off, in addition to those that are off for all tests.
    pub models_off: Option<Vec<String>>,
    /// Network mode.
    pub network: Option<NetworkMode>,
    /// Whether failures that are no evidence about the code get a separate verdict.
    pub sanitise: Option<bool>,
    /// Time limit of one run.
    pub timeout: Option<Duration>,
    /// Choices that made it fail in earlier campaigns.
    pub regressions: Vec<(Schedule, Level, u64)>,
}

impl Options {
    /// Returns the purpose of runs under the seeds.
    pub const fn purpose_of_seeds(&self) -> ExperimentPurpose {
        if self.every_seed { ExperimentPurpose::Judge } else { ExperimentPurpose::Explore }
    }

    /// Returns the defaults for the workspace at `workspace_root`.
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
            network: NetworkPolicy::default(),
            max_sanitised: None,
            prerequisites: Vec::new(),
            per_test: BTreeMap::new(),
            address_seeds: Arc::default(),
            is_unobserved: false,
            required: Arc::default(),
        }
    }

    /// Returns the job slots and test groups that a run of the test with this id takes.
    pub fn required(&self, test_id: &str) -> Required {
        self.required.get(test_id).cloned().unwrap_or_default()
    }

    /// Returns a copy with the options of a test that differ from these.
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
            let NetworkPolicy { allow, sanitise, verify, .. } = options.network;
            options.network = NetworkPolicy { verify, ..NetworkPolicy::new(mode, allow, sanitise) };
        }
        options.network.sanitise = test.sanitise.unwrap_or(options.network.sanitise);
        options
    }

    /// Returns the options of the test with this id.
    pub fn of(&self, test_id: &str) -> Cow<'_, Options> {
        match self.per_test.get(test_id) {
            Some(test) => Cow::Owned(self.with(test)),
            None => Cow::Borrowed(self),
        }
    }

    /// Adds to `spec` what all runs of a campaign have in common.
    pub fn apply(&self, spec: RunSpec) -> RunSpec {
        let drawn = spec.with_schedule(self.schedule);
        let scheduled =
            if self.is_scheduled() { drawn.with_scheduler(self.max_steps) } else { drawn };
        RunSpec {
            models_off: self.models_off.clone(),
            files: self.files.clone(),
            cover: self.cover,
            observe: self.observed(),
            ..self.network.apply(scheduled)
        }
    }

    /// Returns whether threads and time of a test are scheduled. They are unless all models of both
    /// are off.
    pub fn is_scheduled(&self) -> bool {
        let is_on = |model: &Model| !self.models_off.contains(&model.name(model.family));
        let mut timing = CATALOGUE.iter().filter(|model| is_of_timing(model.family));
        // Fast path: this is called for each spec, and most options leave all models on.
        !self.real_threads && (self.models_off.is_empty() || timing.any(|model| is_on(model)))
    }

    /// Returns whether seeds are tried at any level.
    pub const fn tries_seeds(&self) -> bool {
        !(self.seeds.is_empty() || self.levels.is_empty())
    }

    /// Returns a copy with further seeds for this purpose.
    pub fn with_further_seeds(&self, purpose: ExperimentPurpose) -> Self {
        Options { further_seeds: Some(purpose), ..self.clone() }
    }

    /// Returns a copy with real threads and real time.
    pub fn with_real_threads(&self) -> Self {
        Options { real_threads: true, ..self.clone() }
    }

    /// Returns what the machine lacks, if that explains why this run failed. Other runs of the test
    /// are not considered.
    pub fn explanation(&self, run: &Run) -> Option<Explanation> {
        let failed = (!run.passed()).then_some(run)?;
        explained_run(failed, &self.network, &self.prerequisites)
    }

    /// Returns whether a run passed. Returns `None` if its outcome is no evidence about the code,
    /// because [the machine lacks something](Self::explanation).
    pub fn passed(&self, run: &Run) -> Option<bool> {
        self.explanation(run).is_none().then(|| run.passed())
    }

    /// Returns the operations that prerequisites want to observe, without duplicates.
    fn observed(&self) -> Vec<Observed> {
        if !self.network.sanitise {
            return Vec::new();
        }
        let observed: BTreeSet<Observed> =
            self.prerequisites.iter().flat_map(|one| one.observes()).collect();
        observed.into_iter().collect()
    }
}
