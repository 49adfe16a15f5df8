//! One test of a report.

use std::collections::BTreeMap;

use nondex_core::{Family, Level, RunSpec, Source};
use serde::{Deserialize, Serialize};

use super::order::LeftState;
use super::{
    BuildCause, ChangeReport, Culprit, FailureReport, InterleavingReport, KnownFlake, NetworkEvent,
    Order, Race, RateOf, Sanitised, Scheduled, Schedules, Timing, Verdict,
};
use crate::judge::reruns::Circumstance;
use crate::statistics::wilson;

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
    /// Of verdict `ND`, what is responsible if only delays of its threads are: `race` when one is
    /// held back while others go on, `time` when one wakes late.
    #[serde(default)]
    pub reason: Option<Timing>,
    /// Choice points that its first clean run reached.
    pub choice_points: u64,
    /// The most realistic level at which the outcome depends on the seed.
    pub weakest_level: Option<Level>,
    /// Of a test with a `reason`: the weakest level whose delays are known to be long enough. It
    /// may be weaker than `weakest_level`, at which a seed shows it first.
    #[serde(default)]
    pub delay_level: Option<Level>,
    /// The failing runs, in the order clean, then by level and seed; at most
    /// [`MAX_FAILURES`](super::MAX_FAILURES), one of each spec, without the runs that the search
    /// for a culprit made.
    pub failures: Vec<FailureReport>,
    /// How many seeds failed, of how many, at each level that was run. A seed that was not run,
    /// because its choices are provably those of another run, does not count. Levels above the
    /// weakest failing one are left out unless they were asked for.
    pub failure_rate: BTreeMap<Level, [u64; 2]>,
    /// What `failure_rate` counts: `runs`, whose share estimates a probability, or `schedules`,
    /// which were chosen, so that their share is no probability. Null when there is no rate.
    #[serde(default)]
    pub rate_of: Option<RateOf>,
    /// Whether it is known to fail today by chance: std or the platform draws what decides in every
    /// run, as map keys and random bytes are, or it failed in a plain build.
    #[serde(default)]
    pub flaky_today: bool,
    /// Of a test with a `reason`: the shortest delay that is known to be needed, in nanoseconds.
    #[serde(default)]
    pub needed_delay_ns: Option<u64>,
    /// The calls that are responsible.
    pub culprits: Vec<Culprit>,
    /// What failed because there is no network.
    pub network: Vec<NetworkEvent>,
    /// The tests its outcome depends on, for order-dependent tests.
    pub order: Option<Order>,
    /// Another test that makes it fail when it runs in the middle of it, as tests of one process do
    /// that run at the same time. Absent when none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<Race>,
    /// What it leaves changed that other tests use, though none is known to fail for it: in another
    /// order, or when they change, one may. Absent when nothing is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<LeftState>,
    /// Whether it ends the same when it runs twice in one process; null when that was not tried,
    /// and of a test that fails by chance.
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
    /// Whether it ends differently when other runs of the campaign come before or at the same time,
    /// most likely because they share something outside the process, such as a path or the
    /// processors. All that is said about it then comes from runs during which no other test ran.
    #[serde(default)]
    pub run_alone: bool,
    /// The other machines that it asked for, by name or address, whether they were reached or not.
    /// Sorted.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Of [`runs`](Self::runs), those that the search for its culprits took.
    #[serde(default)]
    pub search_runs: u64,
    /// Where the output of the first failing run departs from that of a passing run: a unified
    /// diff, without what differs from run to run, such as thread ids, addresses and times. Null
    /// when no passing run was kept, or they are the same.
    #[serde(default)]
    pub difference: Option<String>,
    /// The levels at which it passed with every order there is: nothing is left that a further seed
    /// could choose.
    #[serde(default)]
    pub verified: Vec<Level>,
    /// Of a stable test with few decisions about which thread goes on: the schedules under which
    /// all it passed, with all other choices as in its clean runs. Null when they were not listed.
    #[serde(default)]
    pub schedules: Option<Schedules>,
    /// The levels at which not all seeds were tried, because one run already draws often at every
    /// place with a choice: a property test, say. `failure_rate` has how many were; no entry where
    /// none was, because only destructors, clones and comparisons see an order, and those were
    /// varied at other levels.
    #[serde(default)]
    pub sampled: Vec<Level>,
    /// What it uses that no choice controls: a clock, sleeping, threads, programs that it starts.
    /// It is run more often before it is called stable.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Of a stable test: the failure rate that its runs leave possible, with a confidence of 95
    /// percent, if chance decides.
    #[serde(default)]
    pub failure_bound: Option<f64>,
    /// Of a stable test: the choices on which what it writes depends, though it never fails.
    #[serde(default)]
    pub latent: Option<Latent>,
    /// The part of its environment in which it fails, and nowhere else: `one-core`, `load`,
    /// `clean-environment`, `time-zone` or `locale`. Absent when none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Circumstance>,
    /// The build script or proc macro that decides about it when it is built. Absent when none is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildCause>,
    /// What was tried of it, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// What explains every failing run, so that they are not held against the code: a test of
    /// verdict `network` always has it.
    #[serde(default)]
    pub sanitised_by: Option<Sanitised>,
    /// What its failure has to do with a change, where that was asked for.
    #[serde(default)]
    pub change: Option<ChangeReport>,
    /// Why it does not fail the run although it is flaky: it is known to be so, by this cause.
    #[serde(default)]
    pub known: Option<KnownFlake>,
    /// Of a test that fails in base order: in how many runs of an ordinary build, without this
    /// tool, it failed, of how many. Null when it was not compared.
    #[serde(default)]
    pub ordinary: Option<[u64; 2]>,
    /// Whether it was run but not judged, because what this tool adds to it makes it fail, or
    /// because one of its runs could not be started; its notes say what.
    #[serde(default)]
    pub unjudged: bool,
    /// How long its runs took together, in milliseconds.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// How the operations of its threads follow each other when it fails; null unless delays of
    /// threads are the culprits.
    #[serde(default)]
    pub interleaving: Option<InterleavingReport>,
    /// What the scheduler did in its first failing run or, when none failed, in the first one; null
    /// when nothing was scheduled.
    #[serde(default)]
    pub scheduled: Option<Scheduled>,
    /// What its failing runs have in common; null when none failed.
    #[serde(default)]
    pub replay: Option<Replay>,
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

    /// Whether its outcome depends on choices of a run: of orders and values (`ID`), or of threads
    /// and time (`ND` with a reason, or with a level where the search for the reason was stopped).
    #[must_use]
    pub fn is_dependent(&self) -> bool {
        if self.environment.is_some() || self.build.is_some() {
            return false;
        }
        let is_of_level = self.verdict == Verdict::NonDeterministic && self.weakest_level.is_some();
        self.verdict == Verdict::ImplementationDependent || self.reason.is_some() || is_of_level
    }

    /// The lower end of the interval in which its rate of failures lies, by all of its runs, those
    /// in an ordinary build among them.
    #[must_use]
    pub fn least_rate(&self) -> f64 {
        let steps = self.steps.iter().map(|step| [step.failures, step.runs]);
        let all = steps.chain(self.ordinary);
        let [failures, runs] = all.fold([0, 0], |[failures, runs], of| {
            [failures + of[0], runs + of[1]]
        });
        let [low, _] = wilson(failures, runs);
        low
    }

    /// Whether its failures are not held against the code.
    #[must_use]
    pub fn is_sanitised(&self) -> bool {
        self.sanitised_by.is_some() || self.verdict == Verdict::Network
    }
}

/// One step of what was tried of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was done: `clean`, `choices`, `interleavings` (choices of threads and time, too),
    /// `search` (for the calls that are responsible), `order`, `further-seeds`, `alone`,
    /// `one-core`, `load`, `clean-environment`, `time-zone`, `locale`, `natural` or `builds`
    /// (under several seeds).
    pub name: String,
    /// How many runs were made.
    pub runs: u64,
    /// How many of them failed.
    pub failures: u64,
}

/// Choices on which only the output of a passing test depends: "potential flakiness" of Lam et al.,
/// "A large-scale longitudinal study of flaky tests" (OOPSLA 2020).
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
    /// The id of the failing run that the command in `reproduce` makes again; null when there is no
    /// such command.
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
