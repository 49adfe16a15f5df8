//! The report: one versioned schema, from which every other output is rendered.
//!
//! [`SCHEMA`] stays the same while fields are only added; a reader must ignore fields that it does
//! not know. A field that a run has nothing to say about is empty or null, never absent, except the
//! ones documented as optional.

mod advice;
mod build;
mod change;
mod culprit;
mod failure;
mod interleaving;
mod known;
mod network;
mod order;
mod rate;
mod sanitised;
mod scheduled;
mod test;
mod verdict;

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
pub use self::rate::RateOf;
pub use self::sanitised::Sanitised;
pub use self::scheduled::{Scheduled, Schedules, WaitCause, WaitCauseKind, WaitReport};
pub use self::test::{Latent, PointReport, Replay, Step, TestReport};
pub use self::verdict::Verdict;
pub use crate::judge::culprit::Position;
use crate::judge::prerequisite::Limit;
pub use crate::judge::timing::Timing;
use crate::project::BuildPlan;

/// The version of [`Report`].
pub const SCHEMA: u32 = 1;

/// What one command found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of the schema, [`SCHEMA`].
    pub schema: u32,
    /// Whether the run was interrupted: tests that were not judged by then are `not-run`.
    #[serde(default)]
    pub partial: bool,
    /// What was run.
    pub run: RunInfo,
    /// The counts.
    pub summary: Summary,
    /// Every selected test, in the order of binaries and names.
    pub tests: Vec<TestReport>,
    /// What there is to say about the whole run, a sentence each, such as that address
    /// randomisation could not be switched off.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Known flakes that should be looked at.
    #[serde(default)]
    pub overdue: Vec<Overdue>,
    /// Changed lines that no test ran, where that was asked for.
    #[serde(default)]
    pub uncovered: Vec<Line>,
    /// Tests that were left out, by id, because nothing that they run is changed: they were stable,
    /// and are.
    #[serde(default)]
    pub unchanged: Vec<String>,
    /// The orders that were tried of all tests of a binary together, and how each ended. Absent
    /// where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<TriedOrder>,
}

impl Report {
    /// What one command found of these tests, which reached these models.
    #[must_use]
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
}

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The name of the run's directory, unique in its target directory.
    pub id: String,
    /// The command line.
    pub command: String,
    /// The levels, from the most to the least realistic.
    pub levels: Vec<Level>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Which orders the seeds mean.
    #[serde(default)]
    pub schedule: Schedule,
    /// What was done about the network.
    pub network: NetworkMode,
    /// The version of the algorithm that turns a seed into choices: a seed reproduces within one
    /// version.
    #[serde(default)]
    pub algorithm: u32,
    /// How often each test ran in base order.
    #[serde(default)]
    pub clean_runs: u32,
    /// The time limit of one run, in milliseconds.
    #[serde(default)]
    pub timeout_ms: u64,
    /// Whether findings that are [advice](TestReport::advice) are failures all the same.
    #[serde(default)]
    pub strict: bool,
    /// Names of the models that were switched off.
    #[serde(default)]
    pub models_off: Vec<String>,
    /// How long the whole command took, the build of the tests included but not that of the
    /// runtime, in milliseconds; 0 when it was not measured.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// How many tests with verdict `network` the run accepts.
    #[serde(default)]
    pub max_sanitised: Option<Limit>,
    /// What was built, its folder relative to the root of the workspace: `replay` builds the same.
    #[serde(default)]
    pub build: Option<BuildPlan>,
    /// The version text of the toolchain.
    #[serde(default)]
    pub toolchain: String,
    /// Doctests that were selected and do not compile, by id; a binary's id stands for all of them.
    #[serde(default)]
    pub unbuilt: Vec<String>,
    /// The commit that was checked out; null when there is none.
    #[serde(default)]
    pub commit: Option<String>,
    /// Whether something was different from the commit.
    #[serde(default)]
    pub modified: bool,
    /// The version of this tool.
    #[serde(default)]
    pub tool: String,
}

/// The counts over all tests. The verdicts add up to `tests`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// All selected tests.
    pub tests: u64,
    /// Those with verdict `stable`.
    pub stable: u64,
    /// Those with verdict `passed`: no seed was tried.
    #[serde(default)]
    pub passed: u64,
    /// Those with verdict `ID`, advice included.
    pub id: u64,
    /// Those with verdict `OD-victim` or `OD-brittle`.
    pub od: u64,
    /// Those with verdict `ND`.
    pub nd: u64,
    /// Those with verdict `UD`.
    pub ud: u64,
    /// Those with verdict `network`.
    pub network: u64,
    /// Those with verdict `broken`.
    pub broken: u64,
    /// Those with verdict `not-run`.
    pub not_run: u64,
    /// Choice points reached by the first clean run of each test, added up.
    pub choice_points: u64,
    /// Test processes that were started.
    pub runs: u64,
    /// Names of the models that any run reached: family, slash, API. Sorted.
    pub models_reached: Vec<String>,
    /// Those of `id` and `nd` that are [advice](TestReport::advice), not failures, unless the run
    /// was strict.
    #[serde(default)]
    pub advice: u64,
    /// Results that follow from another run, so that no process was started for them.
    #[serde(default)]
    pub implied: u64,
    /// Tests that other tests of the campaign disturb, so that they were judged from runs alone:
    /// see [`TestReport::run_alone`]. They are counted with their verdicts, too.
    #[serde(default)]
    pub run_alone: u64,
    /// Tests whose failures are not held against the code: those of verdict `network`, and those
    /// that another sanitiser explains, which are counted with their verdicts.
    #[serde(default)]
    pub sanitised: u64,
    /// Tests that passed with every order there is, at one level at least: see
    /// [`TestReport::verified`].
    #[serde(default)]
    pub verified: u64,
    /// Tests that do not fail the run because they are [known](TestReport::known) to be flaky. They
    /// are counted with their verdicts, too.
    #[serde(default)]
    pub known: u64,
}

impl Summary {
    /// Adds the tests up.
    #[must_use]
    pub fn new(tests: &[TestReport], models_reached: Vec<String>) -> Self {
        let mut summary = Summary {
            models_reached,
            ..Summary::default()
        };
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
