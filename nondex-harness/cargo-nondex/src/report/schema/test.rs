//! One test of a report.

use std::collections::BTreeMap;

use nondex_core::{Family, Level, RunSpec, Source};
use serde::{Deserialize, Serialize};

use super::order::LeftState;
use super::{
    Blame, BuildCause, ChangeReport, Culprit, FailureReport, InterleavingReport, KnownFlake,
    NetworkEvent, Order, Parting, Race, RateOf, Sanitised, Scheduled, Schedules, Timing, Verdict,
};
use crate::judge::{Circumstance, Fact};
use crate::statistics::wilson;

/// One test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestReport {
    /// `<binary-id>$<test name>`.
    pub id: String,
    /// Name of the package.
    pub package: String,
    /// Id of the test binary, as in nextest.
    pub binary: String,
    /// Name of the test, as libtest prints it.
    pub name: String,
    /// Source file, relative to the workspace root, if known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Conclusion.
    pub verdict: Verdict,
    /// For `ND` by delays of threads alone: `race` if a thread is delayed while others continue,
    /// `time` if one wakes late.
    pub reason: Option<Timing>,
    /// Choice points of its first clean run.
    pub choice_points: u64,
    /// Most realistic level at which the outcome depends on the seed.
    pub weakest_level: Option<Level>,
    /// With a `reason`: weakest level that permits the shortest delays of one thread in all. It may
    /// be weaker or stronger than `weakest_level`.
    pub delay_level: Option<Level>,
    /// Failing runs: clean ones, then by level and seed. At most
    /// [`MAX_FAILURES`](super::MAX_FAILURES), one of each spec, without those of the search.
    pub failures: Vec<FailureReport>,
    /// Number of failing seeds and of tried seeds at each level. Implied runs do not count. Levels
    /// above the weakest failing one are absent unless requested.
    pub failure_rate: BTreeMap<Level, [u64; 2]>,
    /// What `failure_rate` counts. Null without a rate.
    pub rate_of: Option<RateOf>,
    /// Whether it is known to fail by chance today: std or the platform draws the decisive value in
    /// every run, or a plain build failed.
    #[serde(default)]
    pub flaky_today: bool,
    /// With a `reason`: shortest delay of one thread, in all, that is known to suffice, in
    /// nanoseconds.
    pub needed_delay_ns: Option<u64>,
    /// Responsible calls.
    pub culprits: Vec<Culprit>,
    /// Operations that failed because there is no network.
    pub network: Vec<NetworkEvent>,
    /// For order-dependent tests: the tests that decide.
    pub order: Option<Order>,
    /// Another test that makes it fail when both run at the same time. Absent if none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race: Option<Race>,
    /// State that it leaves changed and other tests use, although none is known to fail. Absent if
    /// empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<LeftState>,
    /// Whether a second run in the same process has the same outcome. Null if not tried, or if it
    /// fails by chance.
    pub idempotent: Option<bool>,
    /// Command that repeats the failure, if there is one.
    pub reproduce: Option<String>,
    /// Further remarks, one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Output of the failing run that is replayed, or else of the first. The middle of a long one
    /// is omitted.
    pub output: Option<String>,
    /// Call sites with choices in the first clean run.
    #[serde(default)]
    pub points: Vec<PointReport>,
    /// Number of processes.
    #[serde(default)]
    pub runs: u64,
    /// Results that follow from another of its runs.
    #[serde(default)]
    pub implied: u64,
    /// For a test that passed: runs of seeds and for certainty that were left out, because the
    /// budget was spent. For a broken test, only those of seeds. Absent if none were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Whether its outcome differs when other runs precede it or run concurrently, usually because
    /// of a shared path or the processors. It is then judged from runs without others.
    #[serde(default)]
    pub run_alone: bool,
    /// Sorted names or addresses of other machines that it used or tried to use.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Part of [`runs`](Self::runs) that searched for culprits.
    #[serde(default)]
    pub search_runs: u64,
    /// Unified diff of the outputs of a passing and of that failing run, ignoring thread ids,
    /// addresses and times. Null if they agree, or if no passing one was kept.
    pub difference: Option<String>,
    /// Levels at which it passed under all orders.
    #[serde(default)]
    pub verified: Vec<Level>,
    /// For a stable test with few thread decisions: the schedules, all of which passed. Null if
    /// they were not listed.
    pub schedules: Option<Schedules>,
    /// Levels at which fewer seeds were tried, because one run already draws often at every place
    /// with a choice. A level without an entry in `failure_rate` had no run, because only
    /// destructors, clones and comparisons see the order.
    #[serde(default)]
    pub sampled: Vec<Level>,
    /// Those of the levels in [`sampled`](Self::sampled) at which choices were drawn as at other
    /// levels, so that one seed was tried.
    #[serde(default)]
    pub alike: Vec<Level>,
    /// What it uses that no choice controls: a clock, sleeping, threads, programs. Such a test runs
    /// more often before it is stable.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// For a stable test: failure rate that its runs leave possible, with 95 percent confidence.
    /// Runs in one process with all tests of its binary count, but not in `runs`.
    pub failure_bound: Option<f64>,
    /// For a stable test: choices that only its output depends on.
    pub latent: Option<Latent>,
    /// Only environment in which it fails: `addresses` (random ones), `one-core`, `load`,
    /// `clean-environment`, `time-zone` or `locale`. Absent if none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Circumstance>,
    /// Build script or proc macro that decides the outcome. Absent if none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildCause>,
    /// Steps that were tried, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Prerequisite that explains every failing run. Always present for `network`.
    pub sanitised_by: Option<Sanitised>,
    /// Relation of its failure to a change, where requested.
    pub change: Option<ChangeReport>,
    /// Entry of the known flakes that covers it.
    pub known: Option<KnownFlake>,
    /// For a test that fails in canonical order: failing runs and all runs of a plain build. Null
    /// if not compared.
    pub plain: Option<[u64; 2]>,
    /// Whether it ran but was not judged: the tool itself makes it fail, or a run could not be
    /// started. The notes state why.
    #[serde(default)]
    pub unjudged: bool,
    /// Whether it was not run because others had failed: see `--max-fail`.
    #[serde(default)]
    pub cancelled: bool,
    /// Duration of all its runs, in milliseconds.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// Order of thread operations in a failure. Null unless delays are the culprits.
    pub interleaving: Option<InterleavingReport>,
    /// What the scheduler did in the first failing run, otherwise in the first run. Null if nothing
    /// was scheduled.
    pub scheduled: Option<Scheduled>,
    /// Why it was run with real threads and real time, though it was to be scheduled; null if it
    /// was scheduled, or threads of all tests are real.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_threads: Option<String>,
    /// Where two equal runs differ first; null if they do not, or were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parting: Option<Parting>,
    /// What its failing runs have in common; null if none failed.
    pub replay: Option<Replay>,
}

impl TestReport {
    /// Creates the report of a test that was not run, without any details.
    pub fn new(package: &str, binary: &str, name: &str) -> Self {
        TestReport {
            id: format!("{binary}${name}"),
            package: package.to_owned(),
            binary: binary.to_owned(),
            name: name.to_owned(),
            ..TestReport::default()
        }
    }

    /// Sets the verdict that follows from `fact`. If the test does not pass, removes the claims
    /// about its passing runs.
    pub fn rule(&mut self, fact: Fact) {
        let ruling = fact.ruling();
        self.verdict = ruling.verdict;
        self.reason = ruling.reason;
        self.environment = ruling.environment;
        self.unjudged = ruling.is_unjudged;
        self.claim_no_passes();
    }

    /// Sets the verdict of another report on the same test.
    pub fn rule_as(&mut self, other: &TestReport) {
        self.verdict = other.verdict;
        self.reason = other.reason;
        self.environment = other.environment;
        self.unjudged = other.unjudged;
        self.claim_no_passes();
    }

    fn claim_no_passes(&mut self) {
        if !self.verdict.passes() {
            self.failure_bound = None;
            self.verified.clear();
            self.schedules = None;
            self.latent = None;
        }
    }

    /// Returns whether the outcome depends on choices of a run: on orders and values (`ID`), or on
    /// threads and time. The latter is `ND` with a reason, or with a level if the search for the
    /// reason was stopped.
    pub fn is_dependent(&self) -> bool {
        if self.environment.is_some() || self.build.is_some() {
            return false;
        }
        let is_of_level = self.verdict == Verdict::NonDeterministic && self.weakest_level.is_some();
        self.verdict == Verdict::ImplementationDependent || self.reason.is_some() || is_of_level
    }

    /// Returns whether the test was run with choices or circumstances that differ from a clean run,
    /// or seeds would have changed nothing.
    pub fn is_searched(&self) -> bool {
        self.implied > 0 || self.steps.iter().any(|step| step.name != "clean")
    }

    /// Returns whether the test is flaky, but the cause was not searched. This is the case for
    /// tests of `cargo nondex test` with only clean and plain runs.
    pub fn is_to_be_searched(&self) -> bool {
        self.verdict == Verdict::Unknown && self.plain.is_some() && !self.is_searched()
    }

    /// Returns the lower bound of the failure rate's confidence interval, over all runs including
    /// those of a plain build.
    pub fn least_rate(&self) -> f64 {
        let all = self.steps.iter().map(|step| [step.failures, step.runs]).chain(self.plain);
        let [failures, runs] =
            all.fold([0, 0], |[failures, runs], of| [failures + of[0], runs + of[1]]);
        let [low, _] = wilson(failures, runs);
        low
    }

    /// Returns whether the culprits are known, and confirmed both ways.
    pub fn has_confirmed_culprits(&self) -> bool {
        !self.culprits.is_empty() && self.culprits.iter().all(|culprit| culprit.confirmed)
    }

    /// Returns why the scheduler ended the process, as in [`Scheduled::end`].
    pub fn end(&self) -> Option<&str> {
        self.scheduled.as_ref()?.end.as_deref()
    }

    /// Returns whether a thread panicked before the scheduler ended the process.
    pub fn is_after_panic(&self) -> bool {
        self.scheduled.as_ref().is_some_and(|scheduled| scheduled.after_panic)
    }

    /// Returns whether the failures are known not to be caused by the change at hand.
    pub fn is_of_before(&self) -> bool {
        let change = self.change.as_ref();
        change.is_some_and(|change| change.verdict == Blame::Flaky)
    }

    /// Returns whether the failures do not count: they are sanitised, or those of a known flake.
    pub fn is_excused(&self) -> bool {
        self.is_sanitised() || self.known.is_some()
    }

    /// Returns whether a sanitiser explains the failures.
    pub fn is_sanitised(&self) -> bool {
        self.sanitised_by.is_some() || self.verdict == Verdict::Network
    }
}

/// Step of the campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// `clean`, `choices`, `interleavings` (choices of threads and time, too), `search` (for
    /// culprits), `order`, `further-seeds`, `alone`, `addresses`, `one-core`, `load`,
    /// `clean-environment`, `time-zone`, `locale`, `natural`; `together` (all tests of the binary
    /// in one plain process); or `builds` (under several seeds).
    pub name: String,
    /// Number of runs.
    pub runs: u64,
    /// Number of failing runs.
    pub failures: u64,
}

/// Choices that only the output of a passing test depends on: "potential flakiness" of Lam et al.,
/// "A large-scale longitudinal study of flaky tests" (OOPSLA 2020).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latent {
    /// Most realistic level at which the output depends on the seed.
    pub level: Level,
    /// Seed that shows it.
    pub seed: u64,
    /// Responsible calls.
    pub culprits: Vec<Culprit>,
}

/// Data that repeats a failing run, together with its [`FailureReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Id of the failing run that `reproduce` repeats; null without such a command.
    pub primary: Option<String>,
    /// Kind of the test's target.
    pub kind: String,
    /// Name of the target.
    pub target: String,
    /// Spec of a clean run. The differences of a failing run are in its [`FailureReport`].
    pub spec: RunSpec,
    /// Time limit of a run, in milliseconds.
    pub timeout_ms: u64,
}

/// Call site with choices that a test reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointReport {
    /// std path of the API.
    pub api: String,
    /// Family of the model.
    pub family: Family,
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Number of calls with a choice, over all threads.
    pub count: u64,
    /// Largest number of elements.
    pub max_len: u64,
}

/// Returns whether the field is omitted from the JSON.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
