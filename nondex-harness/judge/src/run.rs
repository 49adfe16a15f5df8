//! Data that is kept of one run.

use std::sync::Arc;
use std::time::Duration;

use nondex_core::protocol::network::meaning::Ending;
use nondex_core::protocol::site::is_of_std;
use nondex_core::{
    AccessRecord, ChoiceRecord, CoveredRecord, Failure, Family, Frame, NetworkRecord,
    OperationRecord, Outcome, PointRecord, RunRecord, ScheduleEnd, ScheduleEndKind, ScheduleRecord,
    Source, StateChange, StepRecord,
};
use serde::{Deserialize, Serialize};

/// Data that is kept of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Outcome of the test.
    pub outcome: Outcome,
    /// Reason for the failure.
    pub failure: Option<Failure>,
    /// Whether the process could not be started, so that the test did not run.
    #[serde(default)]
    pub is_missing: bool,
    /// Choice points that the test reached. Runs that reached the same points share them.
    pub points: Arc<[PointRecord]>,
    /// First choices of an order. Shared in the same way.
    pub choices: Arc<[ChoiceRecord]>,
    /// Calls whose order was given as steps.
    pub steps: Vec<StepRecord>,
    /// Duration of the run.
    #[serde(default)]
    pub took: Duration,
    /// Time limit of the run.
    #[serde(default)]
    pub limit: Duration,
    /// Processor time of the test process, without its children, in steps of 10 ms; zero if
    /// unknown.
    #[serde(default)]
    pub busy: Duration,
    /// Whether `points` is complete. It is not if a thread or the process was killed before it
    /// could report.
    pub complete: bool,
    /// Whether events of the record were lost, so that it is unknown what the test did.
    #[serde(default)]
    pub lost: bool,
    /// Output of the test. It is kept of the first failing run, and of two runs to compare it with.
    /// These are the first passing run, and the last passing run that made all choices except some.
    pub output: Option<String>,
    /// Fingerprint of the output, without parts that differ from run to run anyway; 0 without
    /// output.
    #[serde(default)]
    pub written: u64,
    /// Other events, such as a child that was left running.
    pub notes: Vec<String>,
    /// Whether a thread panicked before the scheduler found a deadlock, which may be a consequence.
    #[serde(default)]
    pub is_after_panic: bool,
    /// Stacks of the threads when the run timed out: running threads first, then waiting ones.
    #[serde(default)]
    pub stacks: Vec<Vec<Frame>>,
    /// Operations on other machines.
    pub network: Arc<[NetworkRecord]>,
    /// Failed operations that a [prerequisite](super::prerequisite) observes.
    pub failed_operations: Arc<[OperationRecord]>,
    /// Sources of randomness or time that the test used and no choice controls.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Record of the scheduler, if the test was scheduled.
    pub schedule: Option<ScheduleRecord>,
    /// State that the test left changed, if the run recorded it.
    #[serde(default)]
    pub states: Arc<[StateChange]>,
    /// Accesses to watched data, in the order in which they happened.
    #[serde(default)]
    pub accesses: Arc<[AccessRecord]>,
    /// Code that the programs of the test ran.
    #[serde(default)]
    pub covered: Arc<[CoveredRecord]>,
}

impl From<RunRecord> for Run {
    /// Converts the record into a run that took no time and has no output.
    fn from(record: RunRecord) -> Self {
        Run {
            failure: record.failure,
            points: record.points.into(),
            choices: record.choices.into(),
            steps: record.steps,
            network: record.network.into(),
            failed_operations: record.failed_operations.into(),
            sources: record.sources,
            schedule: record.schedule,
            states: record.states.into(),
            accesses: record.accesses.into(),
            covered: record.covered.into(),
            ..Run::ended(record.outcome)
        }
    }
}

impl Run {
    /// Returns a run with this outcome that reached nothing.
    pub fn ended(outcome: Outcome) -> Self {
        Run {
            outcome,
            failure: None,
            is_missing: false,
            points: [].into(),
            choices: [].into(),
            steps: Vec::new(),
            took: Duration::ZERO,
            limit: Duration::ZERO,
            busy: Duration::ZERO,
            complete: true,
            lost: false,
            output: None,
            written: 0,
            notes: Vec::new(),
            is_after_panic: false,
            stacks: Vec::new(),
            network: [].into(),
            failed_operations: [].into(),
            sources: Vec::new(),
            schedule: None,
            states: [].into(),
            accesses: [].into(),
            covered: [].into(),
        }
    }

    /// Returns whether the test passed.
    pub const fn passed(&self) -> bool {
        self.outcome.passed()
    }

    /// Returns whether the test reached a choice point, so that another seed may change its
    /// outcome.
    pub fn has_choices(&self) -> bool {
        !self.points.is_empty()
    }

    /// Returns whether it drew random bytes or hash keys. They are the same in each such run, so
    /// names of files that a test makes from them are, too.
    pub fn draws_random(&self) -> bool {
        let mut families = self.points.iter().map(|point| point.site.family);
        families.any(|family| matches!(family, Family::Entropy | Family::HashKeys))
    }

    /// Returns whether the process ended before the test did.
    pub const fn ends_process(&self) -> bool {
        !matches!(self.outcome, Outcome::Passed | Outcome::Failed)
    }

    /// Uses the points and choices of an earlier run if they are equal.
    pub(super) fn share_parts(&mut self, earlier: &Self) {
        if self.points == earlier.points {
            self.points = Arc::clone(&earlier.points);
        }
        if self.choices == earlier.choices {
            self.choices = Arc::clone(&earlier.choices);
        }
    }

    /// Replaces `run` by the earlier run if they only differ in durations and limit. Otherwise it
    /// [shares](Self::share_parts) what is equal.
    pub(super) fn share(run: &mut Arc<Self>, earlier: &Arc<Self>) {
        // The run was just made, so nothing else holds it.
        let Some(own) = Arc::get_mut(run) else { return };
        own.share_parts(earlier);
        let durations = (own.took, own.limit, own.busy);
        (own.took, own.limit, own.busy) = (earlier.took, earlier.limit, earlier.busy);
        if own == &**earlier {
            run.clone_from(earlier);
        } else {
            (own.took, own.limit, own.busy) = durations;
        }
    }

    /// Returns whether the scheduler had threads to choose from.
    pub fn has_threads(&self) -> bool {
        let schedule = self.schedule.as_ref();
        schedule.is_some_and(|schedule| schedule.threads > 1)
    }

    /// Returns why the scheduler ended the run, if it did.
    pub fn schedule_end(&self) -> Option<&ScheduleEnd> {
        self.schedule.as_ref()?.end.as_ref()
    }

    /// Returns whether the run neither passed nor failed. Either the scheduler ended it at the
    /// limit on operations, or [a child could see that time is virtual](Self::has_visible_lead).
    pub fn has_no_outcome(&self) -> bool {
        let is_at_limit = |end: &ScheduleEnd| end.kind == ScheduleEndKind::Steps;
        self.schedule_end().is_some_and(is_at_limit) || self.has_visible_lead()
    }

    /// Returns whether the run failed after virtual time had become visible to a child. The child's
    /// clock lagged virtual time by more than the scheduler waits for in real time. The test may
    /// have compared the two clocks.
    pub fn has_visible_lead(&self) -> bool {
        let schedule = self.schedule.as_ref();
        !self.passed() && schedule.is_some_and(|schedule| schedule.visible_lead_us > 0)
    }

    /// Returns whether the scheduler ended the run because its threads spun for long without
    /// progress.
    pub fn spins(&self) -> bool {
        self.schedule_end().is_some_and(|end| end.kind == ScheduleEndKind::Livelock)
    }

    /// Returns how much virtual time passed, without injected delays. Zero in real time.
    pub fn virtual_time(&self) -> Duration {
        let schedule = self.schedule.as_ref();
        let own = schedule.map_or(0, |one| one.time_us.saturating_sub(one.delayed_us));
        Duration::from_micros(own)
    }

    /// Returns whether more virtual time passed, without injected delays, than the limit allows of
    /// real time.
    pub fn oversleeps(&self) -> bool {
        let is_bounded = self.schedule_end().is_none() && !self.limit.is_zero();
        is_bounded && self.virtual_time() > self.limit
    }

    /// Returns the run as it would have ended in real time, where it would have [timed
    /// out](Self::oversleeps).
    #[must_use]
    pub fn timed_out(mut self) -> Self {
        let schedule = self.schedule.as_ref();
        let sleep = schedule.and_then(|schedule| schedule.longest_sleep.as_ref());
        let slept = sleep.map_or(0, |sleep| sleep.us);
        let time = schedule.map_or(0, |schedule| schedule.time_us);
        // Skip std's frames: their source has no path on this machine.
        let is_own =
            |frame: &&Frame| !is_of_std(&frame.file) && !frame.file.starts_with("library/");
        let frame = sleep.and_then(|sleep| sleep.stack.frames.iter().find(is_own));
        let (what, us) = match slept {
            0 => ("of virtual time passed", time),
            slept => ("of virtual time in one sleep", slept),
        };
        // Round up: a sleep is recorded some microseconds short, because earlier operations took
        // time too.
        let passed = Duration::from_millis(us.saturating_add(500) / 1000);
        let message = format!("timed out: {passed:?} {what}");
        self.failure = Some(Failure {
            message,
            file: frame.map(|frame| frame.file.clone()),
            line: frame.map(|frame| frame.line),
        });
        self.outcome = Outcome::TimedOut;
        self
    }

    /// Returns whether the outcome differs from that of the clean runs, which pass if
    /// `passes_clean`.
    pub fn is_otherwise(&self, passes_clean: bool) -> bool {
        self.passed() != passes_clean && !self.has_no_outcome()
    }

    /// Returns how the run ended, as needed to interpret its operations on other machines.
    pub fn ending(&self) -> Ending<'_> {
        Ending::of(&self.outcome, self.failure.as_ref())
    }
}
