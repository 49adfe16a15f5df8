//! The report: a versioned schema from which every other output is rendered.
//!
//! [`SCHEMA`] stays the same while fields are only added, and readers must ignore unknown fields. A
//! field without a value for a run is empty or null, never absent, except for fields documented as
//! optional.

mod advice;
mod build;
mod change;
mod culprit;
mod failure;
mod interleaving;
mod known;
mod network;
mod order;
mod parting;
mod rate;
mod sanitised;
mod scheduled;
mod test;

pub use nondex_core::NetworkMode;
use nondex_core::{Level, Schedule};
use serde::{Deserialize, Serialize};

pub use self::advice::Advice;
pub use self::build::BuildCause;
pub use self::change::{Blame, ChangeReport, Witness};
pub use self::culprit::{CallReport, Culprit, ElementReport, NumberReport, PlaceReport};
pub use self::failure::{FailureReport, MAX_FAILURES};
pub use self::interleaving::{ConflictReport, InterleavingReport, LaneReport, LaneStepReport};
pub use self::known::{KnownFlake, Overdue, OverdueReason};
pub use self::network::NetworkEvent;
pub use self::order::{LeftState, Line, Order, Race, SharedState, TriedOrder, WrittenLine};
pub use self::parting::Parting;
pub use self::rate::{NeededDelays, RateOf};
pub use self::sanitised::Sanitised;
pub use self::scheduled::{Scheduled, Schedules, WaitCause, WaitCauseKind, WaitReport};
pub use self::test::{Latent, PointReport, Replay, Step, TestReport};
use crate::judge::SanitisedLimit;
pub use crate::judge::culprit::Position;
pub use crate::judge::timing::Timing;
pub use crate::judge::verdict::Verdict;
pub use crate::judge::world::World;
use crate::project::BuildPlan;

/// The version of [`Report`].
pub const SCHEMA: u32 = 2;

/// Result of one command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of the schema, [`SCHEMA`].
    pub schema: u32,
    /// Whether the run was interrupted. Undecided tests are `not-run`.
    #[serde(default)]
    pub partial: bool,
    /// What was run.
    pub run: RunInfo,
    /// Counts.
    pub summary: Summary,
    /// All selected tests, by binary and name.
    pub tests: Vec<TestReport>,
    /// Remarks on the whole run, one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Known flakes that need attention.
    #[serde(default)]
    pub overdue: Vec<Overdue>,
    /// Changed lines that no test ran, where requested.
    #[serde(default)]
    pub uncovered: Vec<Line>,
    /// Ids of tests that were skipped because nothing that they run changed.
    #[serde(default)]
    pub unchanged: Vec<String>,
    /// Orders in which all tests of a binary ran. Absent if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<TriedOrder>,
}

impl Report {
    /// Creates the report of one command on these tests. `models_reached` are the models that any
    /// run reached.
    pub fn new(run: RunInfo, tests: Vec<TestReport>, models_reached: Vec<String>) -> Self {
        Report {
            schema: SCHEMA,
            partial: false,
            run,
            summary: Summary::new(&tests, models_reached),
            tests,
            notes: Vec::new(),
            overdue: Vec::new(),
            uncovered: Vec::new(),
            unchanged: Vec::new(),
            orders: Vec::new(),
        }
    }

    /// Recomputes the summary after verdicts have changed.
    pub fn count_again(&mut self) {
        let models = std::mem::take(&mut self.summary.models_reached);
        self.summary = Summary::new(&self.tests, models);
    }
}

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Name of the run's directory, unique in its target directory.
    pub id: String,
    /// Command line.
    pub command: String,
    /// Levels, from the most to the least realistic.
    pub levels: Vec<Level>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// How seeds are mapped to orders.
    #[serde(default)]
    pub schedule: Schedule,
    /// Network mode.
    pub network: NetworkMode,
    /// Version of the algorithm that turns a seed into choices. A seed reproduces within one
    /// version.
    #[serde(default)]
    pub algorithm: u32,
    /// Number of clean runs of each test.
    #[serde(default)]
    pub clean_runs: u32,
    /// Choices that were the same in every run, of `cargo nondex test`; null for a campaign.
    pub world: Option<World>,
    /// Time limit of one run, in milliseconds.
    #[serde(default)]
    pub timeout_ms: u64,
    /// Whether [advice](TestReport::advice) counts as failure.
    #[serde(default)]
    pub strict: bool,
    /// Names of models that were turned off.
    #[serde(default)]
    pub models_off: Vec<String>,
    /// Files, folders and dependencies to which choices were limited. Absent if there was no limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Files, folders and dependencies without choices. Absent if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip_files: Vec<String>,
    /// Duration of the command in milliseconds, after the build of the tests; 0 if not measured.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// Accepted number of tests with verdict `network`.
    pub max_sanitised: Option<SanitisedLimit>,
    /// What was built, its folder relative to the workspace root. `replay` builds the same.
    pub build: Option<BuildPlan>,
    /// Version text of the toolchain.
    #[serde(default)]
    pub toolchain: String,
    /// Ids of selected doctests that do not compile. The id of a binary represents all of its
    /// doctests.
    #[serde(default)]
    pub unbuilt: Vec<String>,
    /// Commit that was checked out; null if there is none.
    pub commit: Option<String>,
    /// Whether the working tree differs from the commit.
    #[serde(default)]
    pub modified: bool,
    /// Version of this tool.
    #[serde(default)]
    pub tool: String,
}

/// Counts over all tests. The verdicts add up to `tests`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// All selected tests.
    pub tests: u64,
    /// Tests with verdict `stable`.
    pub stable: u64,
    /// Tests with verdict `passed`.
    #[serde(default)]
    pub passed: u64,
    /// Tests with verdict `ID`, advice included.
    pub id: u64,
    /// Tests with verdict `OD-victim` or `OD-brittle`.
    pub od: u64,
    /// Tests with verdict `ND`.
    pub nd: u64,
    /// Tests with verdict `UD`.
    pub ud: u64,
    /// Tests with verdict `network`.
    pub network: u64,
    /// Tests with verdict `broken`.
    pub broken: u64,
    /// Tests with verdict `not-run`.
    pub not_run: u64,
    /// Choice points of the first clean run of each test, added up.
    pub choice_points: u64,
    /// Test processes that were started.
    pub runs: u64,
    /// Sorted names (`family/api`) of the models that any run reached.
    pub models_reached: Vec<String>,
    /// Tests of `id` and `nd` that are [advice](TestReport::advice) and fail only a strict run.
    #[serde(default)]
    pub advice: u64,
    /// Results that follow from another run, without a process.
    #[serde(default)]
    pub implied: u64,
    /// Tests that were judged from runs alone: see [`TestReport::run_alone`]. Also counted with
    /// their verdicts.
    #[serde(default)]
    pub run_alone: u64,
    /// Tests whose failures a missing prerequisite explains: those of verdict `network`, and those
    /// of other sanitisers, which are also counted with their verdicts.
    #[serde(default)]
    pub sanitised: u64,
    /// Tests that passed under all orders at one level at least: see [`TestReport::verified`].
    #[serde(default)]
    pub verified: u64,
    /// Tests that are [known](TestReport::known) flakes and do not fail the run. Also counted with
    /// their verdicts.
    #[serde(default)]
    pub known: u64,
}

impl Summary {
    /// Counts the tests.
    pub fn new(tests: &[TestReport], models_reached: Vec<String>) -> Self {
        let mut summary = Summary { models_reached, ..Summary::default() };
        for test in tests {
            let count = match test.verdict {
                Verdict::Stable => &mut summary.stable,
                Verdict::Passed => &mut summary.passed,
                Verdict::ImplementationDependent => &mut summary.id,
                Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle => &mut summary.od,
                Verdict::NonDeterministic => &mut summary.nd,
                Verdict::Unknown => &mut summary.ud,
                Verdict::Network => &mut summary.network,
                Verdict::Broken => &mut summary.broken,
                Verdict::NotRun => &mut summary.not_run,
            };
            *count += 1;
            summary.tests += 1;
            summary.advice += u64::from(test.advice().is_some());
            summary.choice_points += test.choice_points;
            summary.runs += test.runs;
            summary.implied += test.implied;
            summary.run_alone += u64::from(test.run_alone);
            summary.sanitised += u64::from(test.is_sanitised());
            summary.verified += u64::from(!test.verified.is_empty());
            summary.known += u64::from(test.known.is_some());
        }
        summary
    }
}

#[cfg(test)]
pub(crate) mod tests;
