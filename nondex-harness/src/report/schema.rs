//! The report: one versioned schema, from which every other output is rendered.
//!
//! [`SCHEMA`] stays the same while fields are only added; a reader must ignore fields that it does not know. A field
//! that a run has nothing to say about is empty or null, never absent, except the ones documented as optional.

mod advice;
mod change;
mod culprit;
mod interleaving;
mod known;
mod order;
mod sanitised;
mod scheduled;
mod verdict;

use std::collections::BTreeMap;

pub use nondex_core::NetworkMode;
use nondex_core::{Family, Level, Outcome, RunSpec, Schedule, Source};
use serde::{Deserialize, Serialize};

pub use self::advice::Advice;
pub use self::change::{Blame, ChangeReport, Witness};
pub use self::culprit::{CallReport, Culprit, ElementReport, NumberReport, PlaceReport};
pub use self::interleaving::{ConflictReport, InterleavingReport, LaneReport, LaneStepReport};
pub use self::known::{KnownFlake, Overdue, OverdueReason};
pub use self::order::{Line, Order, Race, SharedState, Threads, WrittenLine};
pub use self::sanitised::Sanitised;
pub use self::scheduled::{Scheduled, Schedules, WaitCause, WaitCauseKind, WaitReport};
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
    /// What there is to say about the whole run, a sentence each, such as that address randomisation could not be switched off.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Known flakes that should be looked at.
    #[serde(default)]
    pub overdue: Vec<Overdue>,
    /// Changed lines that no test ran, where that was asked for.
    #[serde(default)]
    pub uncovered: Vec<Line>,
    /// Tests that were left out, by id, because nothing that they run is changed: they were stable, and are.
    #[serde(default)]
    pub unchanged: Vec<String>,
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
    /// The version of the algorithm that turns a seed into choices: a seed reproduces within one version.
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
    /// How long the whole command took, the build of the tests included but not that of the runtime, in milliseconds; 0 when it was not
    /// measured.
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
    /// Those of `id` and `nd` that are [advice](TestReport::advice), not failures, unless the run was strict.
    #[serde(default)]
    pub advice: u64,
    /// Results that follow from another run, so that no process was started for them.
    #[serde(default)]
    pub implied: u64,
    /// Tests that other tests of the campaign disturb, so that they were judged from runs alone: see
    /// [`TestReport::run_alone`]. They are counted with their verdicts, too.
    #[serde(default)]
    pub run_alone: u64,
    /// Tests whose failures are not held against the code: those of verdict `network`, and those that another sanitiser
    /// explains, which are counted with their verdicts.
    #[serde(default)]
    pub sanitised: u64,
    /// Tests that passed with every order there is, at one level at least: see [`TestReport::verified`].
    #[serde(default)]
    pub verified: u64,
    /// Tests that do not fail the run because they are [known](TestReport::known) to be flaky. They are counted with their verdicts, too.
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

/// What is known about one test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestReport {
    /// `<binary-id>$<test name>`.
    pub id: String,
    /// The package's name.
    pub package: String,
    /// The id of the test binary, as nextest names it.
    pub binary: String,
    /// The test's name, as libtest prints it.
    pub name: String,
    /// The source file, relative to the workspace root, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// What is concluded.
    pub verdict: Verdict,
    /// Of verdict `ND`, what is responsible if only delays of its threads are: `race` when one is held back while others go on, `time` when
    /// one wakes late.
    #[serde(default)]
    pub reason: Option<Timing>,
    /// Choice points that its first clean run reached.
    pub choice_points: u64,
    /// The most realistic level at which the outcome depends on the seed.
    pub weakest_level: Option<Level>,
    /// Of a test with a `reason`: the weakest level whose delays are long enough, when the shortest of them are known. It may be weaker than
    /// `weakest_level`, at which a seed shows it first.
    #[serde(default)]
    pub delay_level: Option<Level>,
    /// The failing runs, in the order clean, then by level and seed; at most [`MAX_FAILURES`], one of each spec, without
    /// the runs that the search for a culprit made.
    pub failures: Vec<FailureReport>,
    /// How many seeds failed, of how many, at each level that was run. A seed whose choices are provably those of another run
    /// counts with that run's outcome. Levels above the weakest failing one are left out unless they were asked for.
    pub failure_rate: BTreeMap<Level, [u64; 2]>,
    /// The calls that are responsible.
    pub culprits: Vec<Culprit>,
    /// What failed because there is no network.
    pub network: Vec<NetworkEvent>,
    /// The tests its outcome depends on, for order-dependent tests.
    pub order: Option<Order>,
    /// Another test that makes it fail when it runs in the middle of it, as tests of one process do that run at the same time. Absent when none
    /// is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<Race>,
    /// Whether it ends the same when it runs twice in one process; null when that was not tried, and of a test that fails by chance.
    #[serde(default)]
    pub idempotent: Option<bool>,
    /// The command that shows the failure again, when there is one.
    pub reproduce: Option<String>,
    /// What else there is to know, each a sentence.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What the first failing run wrote to stdout and stderr, its middle left out when it is long.
    #[serde(default)]
    pub output: Option<String>,
    /// The call sites with choices that the first clean run reached.
    #[serde(default)]
    pub points: Vec<PointReport>,
    /// Processes started for it.
    #[serde(default)]
    pub runs: u64,
    /// Results that follow from another of its runs.
    #[serde(default)]
    pub implied: u64,
    /// Whether it ends otherwise when other runs of the campaign come before or at the same time, most likely because they share
    /// something outside the process, such as a path or the processors. All that is said about it then comes from runs during which no other test ran.
    #[serde(default)]
    pub run_alone: bool,
    /// The other machines that it asked for, by name or address, whether they were reached or not. Sorted.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Of [`runs`](Self::runs), those that the search for its culprits took.
    #[serde(default)]
    pub search_runs: u64,
    /// Where the output of the first failing run departs from that of a passing run: a unified diff, without what differs
    /// from run to run, such as thread ids, addresses and times. Null when no passing run was kept, or they are the same.
    #[serde(default)]
    pub difference: Option<String>,
    /// The levels at which it passed with every order there is: nothing is left that a further seed could choose.
    #[serde(default)]
    pub verified: Vec<Level>,
    /// Of a stable test with few decisions about which thread goes on: the schedules under which all it passed, with all other choices as in
    /// its clean runs. Null when they were not listed.
    #[serde(default)]
    pub schedules: Option<Schedules>,
    /// The levels at which not all seeds were tried, because one run already draws often at every place with a choice: a property
    /// test, say. `failure_rate` has how many were; no entry where none was, because only destructors, clones and comparisons see an
    /// order, and those were varied at other levels.
    #[serde(default)]
    pub sampled: Vec<Level>,
    /// What it uses that no choice controls: a clock, sleeping, threads, programs that it starts. It is run more often before it is called
    /// stable.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Of a stable test: the failure rate that its runs leave possible, with a confidence of 95 percent, if chance decides.
    #[serde(default)]
    pub failure_bound: Option<f64>,
    /// Of a stable test: the choices on which what it writes depends, though it never fails.
    #[serde(default)]
    pub latent: Option<Latent>,
    /// What was tried of it, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// What explains every failing run, so that they are not held against the code: a test of verdict `network` always has it.
    #[serde(default)]
    pub sanitised_by: Option<Sanitised>,
    /// What its failure has to do with a change, where that was asked for.
    #[serde(default)]
    pub change: Option<ChangeReport>,
    /// Why it does not fail the run although it is flaky: it is known to be so, by this cause.
    #[serde(default)]
    pub known: Option<KnownFlake>,
    /// Of a test that fails in base order: in how many runs of an ordinary build, without this tool, it failed, of how many.
    /// Null when it was not compared.
    #[serde(default)]
    pub ordinary: Option<[u64; 2]>,
    /// Whether it was run but not judged, because what this tool adds to it makes it fail; its notes say what.
    #[serde(default)]
    pub unjudged: bool,
    /// How long its runs took together, in milliseconds.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// How the operations of its threads follow each other when it fails; null unless delays of threads are the culprits.
    #[serde(default)]
    pub interleaving: Option<InterleavingReport>,
    /// What the scheduler did in its first failing run or, when none failed, in the first one; null when nothing was scheduled.
    #[serde(default)]
    pub scheduled: Option<Scheduled>,
    /// What its failing runs have in common; null when none failed.
    #[serde(default)]
    pub replay: Option<Replay>,
}

/// One step of what was tried of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was done: `clean`, `choices`, `interleavings` (choices of threads and time, too), `search` (for the calls that are responsible), `order`, `further-seeds` (of threads and time), `alone`, `one-core`, `load`, `clean-environment` or `natural`.
    pub name: String,
    /// How many runs were made.
    pub runs: u64,
    /// How many of them failed.
    pub failures: u64,
}

/// Choices on which only the output of a passing test depends: "potential flakiness" of Lam et al., "A large-scale longitudinal study of
/// flaky tests" (OOPSLA 2020).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latent {
    /// The most realistic level at which the output depends on the seed.
    pub level: Level,
    /// A seed that shows it.
    pub seed: u64,
    /// The calls that are responsible.
    pub culprits: Vec<Culprit>,
}

/// What is needed to make a failing run of a test again, besides the [`FailureReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// The id of the failing run that the command in `reproduce` makes again; null when there is no such command.
    pub primary: Option<String>,
    /// The kind of the test's target.
    pub kind: String,
    /// The name of the target.
    pub target: String,
    /// The spec of a clean run: what differs in a failing run stands in its [`FailureReport`].
    pub spec: RunSpec,
    /// The time limit of a run, in milliseconds.
    pub timeout_ms: u64,
}

/// How many [`TestReport::failures`] are kept.
pub const MAX_FAILURES: usize = 64;

impl std::fmt::Display for NetworkEvent {
    /// `connect 192.0.2.1:80: ETIMEDOUT after 30 s at src/lib.rs:3, on thread 0.1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.operation, self.address, self.error)?;
        if let Some(seconds) = self.elapsed_ms.map(|ms| ms / 1000)
            && seconds > 0
        {
            write!(f, " after {seconds} s")?;
        }
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            write!(f, " at {file}:{line}")?;
        }
        if !matches!(self.thread.as_str(), "" | "0") {
            write!(f, ", on thread {}", self.thread)?;
        }
        Ok(())
    }
}

impl TestReport {
    /// A test that was not run, of which nothing else is known.
    #[must_use]
    pub fn new(package: &str, binary: &str, name: &str) -> Self {
        TestReport {
            id: format!("{binary}${name}"),
            package: package.to_owned(),
            binary: binary.to_owned(),
            name: name.to_owned(),
            ..TestReport::default()
        }
    }

    /// Whether its outcome depends on choices: of orders and values (`ID`), or of threads and time (`ND` with a reason).
    #[must_use]
    pub fn is_dependent(&self) -> bool {
        self.verdict == Verdict::ImplementationDependent || self.reason.is_some()
    }

    /// Whether its failures are not held against the code.
    #[must_use]
    pub fn is_sanitised(&self) -> bool {
        self.sanitised_by.is_some() || self.verdict == Verdict::Network
    }
}

/// One failing run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureReport {
    /// What `cargo nondex replay` takes: see [`report::id`](super::id).
    #[serde(default)]
    pub id: Option<String>,
    /// The level; null for a clean run.
    pub level: Option<Level>,
    /// The seed; null for a clean run.
    pub seed: Option<u64>,
    /// Which order the seed means: not always what the campaign's own seeds mean, because a regression keeps its own schedule.
    #[serde(default, skip_serializing_if = "Schedule::is_default")]
    pub schedule: Schedule,
    /// The panic message, the error the test returned, or how the process ended.
    pub message: String,
    /// Where it panicked, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// How the run ended: `"failed"`, `"timed_out"`, `{"exited": code}` or `{"signalled": number}`.
    #[serde(default = "failed")]
    pub outcome: Outcome,
    /// How long it must be allowed to take so that it ends as it did, in milliseconds, when that is longer than the run's time limit: it
    /// ended late, or a hang was proven so. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// The tests that ran before it in the same process, in this order; absent when it was the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Whether its threads and its time were scheduled; absent when they were real.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scheduled: bool,
}

impl FailureReport {
    /// A clean run that ended so, of which nothing else is known.
    #[must_use]
    pub fn clean(outcome: Outcome) -> Self {
        FailureReport {
            id: None,
            level: None,
            seed: None,
            schedule: Schedule::default(),
            message: String::new(),
            file: None,
            line: None,
            outcome,
            limit_ms: None,
            before: Vec::new(),
            scheduled: false,
        }
    }
}

const fn failed() -> Outcome {
    Outcome::Failed
}

/// An operation that failed because there is no network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkEvent {
    /// The operation, such as `connect`.
    pub operation: String,
    /// What it was about: an address or a host name.
    pub address: String,
    /// The error.
    pub error: String,
    /// The source file, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// The logical path of the thread, `0` for the test's own; in a program that the test started, `p` and a number come first.
    #[serde(default)]
    pub thread: String,
    /// How long it took to fail, in milliseconds; null when it had not ended.
    #[serde(default)]
    pub elapsed_ms: Option<u64>,
}

/// A call site with choices that a test reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointReport {
    /// The std path of the API.
    pub api: String,
    /// The family it is switched with.
    pub family: Family,
    /// The source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// How many calls had a choice, over all threads.
    pub count: u64,
    /// The largest number of elements.
    pub max_len: u64,
}

#[cfg(test)]
pub(crate) mod tests;
