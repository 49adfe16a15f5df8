//! State that the workers of the executor share: the queue, and the progress of each test.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use nondex_core::RunSpec;

use super::place::{Phase, QueuePlace};
use super::{MAX_AT_ONCE, Setting, pause};
use crate::judge::{Judgement, Missing, Need, Required, Run, Runs, Slots, Spent};

/// State that the workers of the executor share; the executor's lock protects it.
pub(super) struct QueueState {
    pub(super) queue: BTreeSet<QueuePlace>,
    pub(super) tests: Vec<TestState>,
    /// Slots that the current runs take.
    slots: Slots,
    /// Number of runs that are being made, and tests that are being judged.
    pub(super) busy: usize,
    /// Number of tests that are neither judged nor given up.
    pub(super) unfinished: usize,
    /// Whether the executor was stopped while tests needed something besides runs.
    pub(super) is_cut: bool,
    /// Budgets that are used up. Runs for their purposes are left out.
    pub(super) spent: Spent,
    /// Number of failures after which no further test is begun.
    max_failures: Option<NonZeroUsize>,
}

/// One test, its runs until now, and the runs that it waits for.
pub(super) struct TestState {
    pub(super) runs: Runs,
    /// Slots that a run of it takes.
    required: Required,
    /// The batch of runs that it requested last.
    pub(super) batch: Missing,
    /// The results of these runs.
    pub(super) results: Vec<Option<Run>>,
    /// Number of batches requested until now, including the current one.
    pub(super) rounds: usize,
    /// Minimum time between the starts of two runs of the batch.
    pub(super) interval: Duration,
    /// Earliest start of the next run, if not at once.
    pub(super) next_start: Option<Instant>,
    /// Setting of the runs of the batch.
    pub(super) setting: Setting,
    /// Whether no run of the test has failed to be confined.
    pub(super) is_confinable: bool,
    /// Number of runs of the batch that have no result yet.
    pub(super) open: usize,
    /// Number of runs of the test in progress, or 1 while it is judged.
    pub(super) busy: usize,
    /// Whether a run of the test was started.
    pub(super) is_begun: bool,
    /// Whether a run of the test failed.
    pub(super) is_failing: bool,
    /// Whether the test once needed no run.
    pub(super) is_explored: bool,
    /// What the test needs besides runs.
    pub(super) need: Option<Need>,
    pub(super) judgement: Option<Judgement>,
    /// Whether the test was judged, and counts as a failure.
    pub(super) is_failure: bool,
    /// Reason why the test was given up.
    pub(super) panic: Option<String>,
}

impl TestState {
    fn new((runs, required): (Runs, Required)) -> Self {
        TestState {
            runs,
            required,
            batch: Missing::new(Vec::new()),
            results: Vec::new(),
            rounds: 0,
            interval: Duration::ZERO,
            next_start: None,
            setting: Setting::Shared,
            is_confinable: true,
            open: 0,
            busy: 0,
            is_begun: false,
            is_failing: false,
            is_explored: false,
            need: None,
            judgement: None,
            is_failure: false,
            panic: None,
        }
    }

    /// Adds the results of the batch to the runs.
    pub(super) fn add_batch(&mut self) {
        let specs = std::mem::take(&mut self.batch.experiments);
        let results = std::mem::take(&mut self.results);
        self.runs.of_mut(self.batch.alone).extend(specs.into_iter().zip(results));
    }

    /// Returns the places of the batch's runs, in their order. Each run is expected to take as long
    /// as the earlier ones on average. So a large batch of long runs takes turns with other tests.
    /// In real time, a run also takes what the others slept in virtual time. That counts before it
    /// starts, because it may be more than the budget.
    fn places(&self, test: usize) -> impl Iterator<Item = QueuePlace> {
        let mut spent = self.runs.took();
        let round = self.rounds.saturating_sub(1);
        let each = spent / u32::try_from(self.runs.count()).unwrap_or(u32::MAX).max(1);
        let slept = self.runs.virtual_time();
        self.batch.experiments.iter().enumerate().map(move |(index, spec)| {
            let slept = if spec.is_scheduled() { Duration::ZERO } else { slept };
            let place = QueuePlace::new(&self.batch, spent + slept, [test, round, index]);
            spent += each.max(slept);
            place
        })
    }

    /// Returns whether the test counts towards the maximum of failures. A test with a failed run
    /// does until further runs or a plain build show otherwise.
    const fn has_failed(&self) -> bool {
        let is_open = self.judgement.is_none() && self.panic.is_none();
        self.is_failure || (self.is_failing && is_open)
    }

    /// Returns whether the test waits for its first run.
    pub(super) const fn is_waiting(&self) -> bool {
        !self.is_begun && self.judgement.is_none() && self.panic.is_none()
    }
}

impl QueueState {
    /// Creates the state before any run. `tests` has the earlier runs of each test, and the slots
    /// of `jobs` that one of its runs takes.
    pub(super) fn new(
        tests: impl Iterator<Item = (Runs, Required)>,
        jobs: usize,
        max_failures: Option<NonZeroUsize>,
    ) -> Self {
        let tests: Vec<TestState> = tests.map(TestState::new).collect();
        QueueState {
            queue: BTreeSet::new(),
            slots: Slots::new(jobs),
            busy: 0,
            unfinished: tests.len(),
            tests,
            is_cut: false,
            spent: Spent::default(),
            max_failures,
        }
    }

    /// Takes the first run from the queue that may start now. The slots must allow it, and its test
    /// must not be busy. If there is none, takes a run that may overlap with others of its test.
    ///
    /// With `longest`, takes the first run of the test that has used the most time, among those in
    /// the same phase.
    pub(super) fn take(&mut self, longest: bool) -> Option<(QueuePlace, RunSpec)> {
        let now = Instant::now();
        let is_due =
            |turn: &&QueuePlace| self.tests[turn.test].next_start.is_none_or(|next| next <= now);
        let is_free = |turn: &&QueuePlace| self.is_free(turn) && is_due(turn);
        let has_room = |turn: &&QueuePlace| {
            let test = &self.tests[turn.test];
            test.setting == Setting::Confined && test.busy < MAX_AT_ONCE && is_due(turn)
        };
        let fits = |turn: &&QueuePlace| self.slots.fits(&self.tests[turn.test].required);
        let open = || self.open().filter(fits);
        let preferred = |turn: QueuePlace| {
            let is_next = |other: &&QueuePlace| other.phase == turn.phase && is_free(other);
            let last = open().rev().find(is_next).filter(|_| longest);
            let first = last.and_then(|last| {
                let mut places = self.tests[last.test].places(last.test);
                places.find(|place| self.queue.contains(place))
            });
            first.unwrap_or(turn)
        };
        let free = open().find(is_free).map(|turn| preferred(*turn));
        let turn = free.or_else(|| open().find(has_room).copied())?;
        self.queue.remove(&turn);
        self.slots.take(&self.tests[turn.test].required);
        self.begin(turn.test);
        let test = &mut self.tests[turn.test];
        test.is_begun = true;
        test.next_start = (!test.interval.is_zero()).then(|| now + test.interval);
        Some((turn, test.batch.experiments[turn.index].clone()))
    }

    /// Returns whether no run is in progress that this one must wait for.
    fn is_free(&self, turn: &QueuePlace) -> bool {
        // Runs alone are last in the queue. While one is in progress nothing else is left, and its
        // test requests no other kind of run afterwards.
        match turn.phase {
            Phase::Alone => self.busy == 0,
            _ => self.tests[turn.test].busy == 0,
        }
    }

    /// Returns the time until the first run may start if no other ends; `None` if it must wait for
    /// an end.
    pub(super) fn longest_wait(&self) -> Option<Duration> {
        let fits = |turn: &&QueuePlace| self.slots.fits(&self.tests[turn.test].required);
        let free = self.open().filter(fits).filter(|turn| self.is_free(turn));
        let starts = free.filter_map(|turn| self.tests[turn.test].next_start);
        starts.min().map(|start| start.saturating_duration_since(Instant::now()))
    }

    /// Records the end of a run that was [taken](Self::take). Returns whether several others may
    /// begin.
    pub(super) fn end_run(&mut self, test: usize) -> bool {
        self.end(test);
        let required = &self.tests[test].required;
        self.slots.release(required);
        *required != Required::default()
    }

    /// Returns whether no run is in progress and none is queued.
    pub(super) fn is_idle(&self) -> bool {
        self.busy == 0 && self.open().next().is_none()
    }

    /// Returns the queued runs that may be made. When the maximum of failures is reached, those are
    /// only the runs of tests that have begun.
    fn open(&self) -> impl DoubleEndedIterator<Item = &QueuePlace> {
        let has_failed = self.has_failed();
        self.queue.iter().filter(move |turn| !has_failed || self.tests[turn.test].is_begun)
    }

    /// Returns whether the maximum number of tests has failed, so that no further test is begun.
    pub(super) fn has_failed(&self) -> bool {
        let failed = || self.tests.iter().filter(|test| test.has_failed()).count();
        self.max_failures.is_some_and(|most| failed() >= most.get())
    }

    /// Returns whether there is work left.
    pub(super) fn is_left(&self) -> bool {
        !self.is_idle() || self.tests.iter().any(|test| test.need.is_some())
    }

    pub(super) fn begin(&mut self, test: usize) {
        self.tests[test].busy += 1;
        self.busy += 1;
    }

    pub(super) fn end(&mut self, test: usize) {
        self.tests[test].busy -= 1;
        self.busy -= 1;
    }

    /// Queues the runs that a test requests, which are confined if possible.
    pub(super) fn request(&mut self, index: usize, batch: Missing, confined: bool) {
        let (specs, alone) = (&batch.experiments, batch.alone);
        if specs.is_empty() {
            // The test would wait for a result that never arrives.
            return self.give_up(index, "it requested no runs".to_owned());
        }
        let test = &mut self.tests[index];
        test.interval = pause::interval(&test.runs, specs, alone);
        let is_plain = specs.len() > 1 && specs.iter().all(is_plain);
        test.setting = if batch.fresh {
            Setting::Fresh
        } else if !alone && confined && test.is_confinable && is_plain {
            Setting::Confined
        } else {
            Setting::Shared
        };
        test.open = specs.len();
        test.results = vec![None; specs.len()];
        test.rounds += 1;
        test.batch = batch;
        self.queue.extend(test.places(index));
    }

    /// Drops queued runs whose purpose has no budget left. Returns the tests that now wait for no
    /// run.
    pub(super) fn leave_out(&mut self, spent: Spent) -> Vec<usize> {
        let mut ready = Vec::new();
        if std::mem::replace(&mut self.spent, spent) == spent {
            return ready;
        }
        let tests = &mut self.tests;
        self.queue.retain(|turn| {
            let test = &mut tests[turn.test];
            let is_left_out = spent.leaves_out(test.batch.purpose);
            test.open -= usize::from(is_left_out);
            if is_left_out && test.open == 0 {
                ready.push(turn.test);
            }
            !is_left_out
        });
        ready
    }

    /// Gives a test up: no further run of it is made.
    pub(super) fn give_up(&mut self, test: usize, panic: String) {
        if self.tests[test].panic.is_some() {
            // A concurrent run of the test panicked first.
            return;
        }
        self.queue.retain(|turn| turn.test != test);
        self.tests[test].need = None;
        self.tests[test].panic = Some(panic);
        self.unfinished -= 1;
    }
}

/// Returns whether a run records nothing besides its outcome and its choices.
fn is_plain(spec: &RunSpec) -> bool {
    spec.before().is_empty() && spec.trace.is_empty() && spec.operations() == 0 && !spec.cover
}
