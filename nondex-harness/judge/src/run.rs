//! What is kept of one run.

use std::sync::Arc;
use std::time::Duration;

use nondex_core::protocol::network::meaning::Ending;
use nondex_core::protocol::site::is_of_std;
use nondex_core::{
    AccessRecord, ChoiceRecord, CoveredRecord, Failure, Frame, NetworkRecord, OperationRecord,
    Outcome, PointRecord, RunRecord, ScheduleEnd, ScheduleEndKind, ScheduleRecord, Source,
    StateChange, StepRecord,
};
use serde::{Deserialize, Serialize};

/// What is kept of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Whether its process could not be started, so that nothing of the test was run.
    #[serde(default)]
    pub is_missing: bool,
    /// The choice points it reached. Shared between runs that reached the same.
    pub points: Arc<[PointRecord]>,
    /// Its first choices of an order. Shared in the same way.
    pub choices: Arc<[ChoiceRecord]>,
    /// The calls whose order was given as steps.
    pub steps: Vec<StepRecord>,
    /// How long it took.
    #[serde(default)]
    pub took: Duration,
    /// How long it was allowed to take.
    #[serde(default)]
    pub limit: Duration,
    /// Whether `points` is all it reached: not so when a thread, or the process, was killed before
    /// it could say.
    pub complete: bool,
    /// Whether events of its record were lost, so that what it did is not known.
    #[serde(default)]
    pub lost: bool,
    /// What it wrote. Kept of the first failing run, and of what it is compared with: the first
    /// passing run, and the last passing one that made all choices but some.
    pub output: Option<String>,
    /// A fingerprint of what it wrote, without what differs from run to run anyway; 0 when it wrote
    /// nothing.
    #[serde(default)]
    pub written: u64,
    /// What else happened, such as a child that was left running.
    pub notes: Vec<String>,
    /// The stacks of its threads when it took too long, those that ran before those that waited.
    #[serde(default)]
    pub stacks: Vec<Vec<Frame>>,
    /// Its operations on other machines.
    pub network: Arc<[NetworkRecord]>,
    /// Its operations that failed as a sanitiser asks.
    pub failed_operations: Arc<[OperationRecord]>,
    /// What no choice controls and it used.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// What the scheduler did, if the test was scheduled.
    pub schedule: Option<ScheduleRecord>,
    /// What it left changed, where the run recorded that.
    #[serde(default)]
    pub states: Arc<[StateChange]>,
    /// Its accesses to what was watched, in the order in which they happened.
    #[serde(default)]
    pub accesses: Arc<[AccessRecord]>,
    /// The code that its programs ran.
    #[serde(default)]
    pub covered: Arc<[CoveredRecord]>,
}

impl From<RunRecord> for Run {
    /// The run with this record, as if it had taken no time and written nothing.
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
    /// A run that ended so and reached nothing.
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
            complete: true,
            lost: false,
            output: None,
            written: 0,
            notes: Vec::new(),
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

    /// Whether the test passed.
    pub const fn passed(&self) -> bool {
        self.outcome.passed()
    }

    /// Whether the scheduler had threads to choose among.
    pub fn has_threads(&self) -> bool {
        let schedule = self.schedule.as_ref();
        schedule.is_some_and(|schedule| schedule.threads > 1)
    }

    /// Why the scheduler ended it, if it did.
    pub fn schedule_end(&self) -> Option<&ScheduleEnd> {
        self.schedule.as_ref()?.end.as_ref()
    }

    /// Whether it neither passed nor failed: the scheduler ended it at the limit of operations, or
    /// [a child saw that time is virtual](Self::has_visible_lead).
    pub fn has_no_outcome(&self) -> bool {
        let is_at_limit = |end: &ScheduleEnd| end.kind == ScheduleEndKind::Steps;
        self.schedule_end().is_some_and(is_at_limit) || self.has_visible_lead()
    }

    /// Whether it failed after a child had started whose clock lagged virtual time by more than the
    /// scheduler waits for in real time. The test may have compared the two clocks.
    pub fn has_visible_lead(&self) -> bool {
        let schedule = self.schedule.as_ref();
        !self.passed() && schedule.is_some_and(|schedule| schedule.visible_lead_us > 0)
    }

    /// Whether it was ended because its threads only looked, for long, at what none of them
    /// changed.
    pub fn spins(&self) -> bool {
        self.schedule_end().is_some_and(|end| end.kind == ScheduleEndKind::Livelock)
    }

    /// How much virtual time passed in it, without delays that were chosen: none in real time.
    pub fn virtual_time(&self) -> Duration {
        let schedule = self.schedule.as_ref();
        let own = schedule.map_or(0, |one| one.time_us.saturating_sub(one.delayed_us));
        Duration::from_micros(own)
    }

    /// Whether more virtual time passed in it than its limit allows of real time, without delays
    /// that were chosen.
    pub fn oversleeps(&self) -> bool {
        let is_bounded = self.schedule_end().is_none() && !self.limit.is_zero();
        is_bounded && self.virtual_time() > self.limit
    }

    /// The run as it would have ended in real time: [it sleeps](Self::oversleeps) beyond its limit.
    #[must_use]
    pub fn timed_out(mut self) -> Self {
        let schedule = self.schedule.as_ref();
        let sleep = schedule.and_then(|schedule| schedule.longest_sleep.as_ref());
        let slept = sleep.map_or(0, |sleep| sleep.us);
        let time = schedule.map_or(0, |schedule| schedule.time_us);
        // std's own frames say nothing: its code has no path on this machine.
        let is_own =
            |frame: &&Frame| !is_of_std(&frame.file) && !frame.file.starts_with("library/");
        let frame = sleep.and_then(|sleep| sleep.stack.frames.iter().find(is_own));
        let (what, us) = match slept {
            0 => ("of virtual time passed", time),
            slept => ("of virtual time were slept at once", slept),
        };
        // A sleep is some microseconds shorter than it seems: what came before it took time, too.
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

    /// Whether its outcome differs from that of clean runs, which pass or not.
    pub fn is_otherwise(&self, passes_clean: bool) -> bool {
        self.passed() != passes_clean && !self.has_no_outcome()
    }

    /// How it ended, for what its operations on other machines mean.
    pub fn ending(&self) -> Ending<'_> {
        Ending::of(&self.outcome, self.failure.as_ref())
    }
}
