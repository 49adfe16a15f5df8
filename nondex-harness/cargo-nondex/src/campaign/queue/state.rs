//! What the workers of the executor share: the queue, and how far each test is.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use nondex_core::RunSpec;

use super::place::{Phase, QueuePlace};
use super::{MAX_AT_ONCE, Setting, pause};
use crate::judge::isolation::{Judgement, Need, Runs};
use crate::judge::missing::{Missing, Purpose, Spent};
use crate::judge::run::Run;
use crate::judge::slots::{Required, Slots};

/// What the workers of the executor share.
pub(super) struct State {
    pub(super) queue: BTreeMap<QueuePlace, RunSpec>,
    pub(super) tests: Vec<TestState>,
    /// What the runs that are made now take.
    slots: Slots,
    /// How many runs are made or judged now.
    pub(super) busy: usize,
    /// How many tests are neither judged nor given up.
    pub(super) unfinished: usize,
    /// Whether it was stopped when tests needed something besides runs.
    pub(super) is_cut: bool,
    /// The budgets that are spent: what they are for is left out.
    pub(super) spent: Spent,
    /// Number of failures after which no other test is begun.
    max_failures: Option<NonZeroUsize>,
}

/// One test, its runs until now, and those that it waits for.
pub(super) struct TestState {
    pub(super) runs: Runs,
    /// What a run of it takes.
    required: Required,
    /// The runs it has asked for, with their results.
    pub(super) batch: Vec<(RunSpec, Option<Run>)>,
    /// Number of batches before that one.
    pub(super) rounds: usize,
    /// What it is for.
    pub(super) purpose: Purpose,
    /// How long each may take.
    pub(super) limit: Option<Duration>,
    /// How long after the start of one the next one may start.
    pub(super) interval: Duration,
    /// When the next one may start, if not at once.
    pub(super) next_start: Option<Instant>,
    /// Whether they are wanted alone.
    pub(super) is_alone: bool,
    /// What they are made in.
    pub(super) setting: Setting,
    /// Whether no run was made that could not be confined.
    pub(super) is_confinable: bool,
    /// How many of those have no result yet.
    pub(super) open: usize,
    /// How many of them run now, or 1 while all of them are judged.
    pub(super) busy: usize,
    /// Whether a run of it was made.
    pub(super) is_begun: bool,
    /// Whether a run of it failed.
    pub(super) is_failing: bool,
    /// What it needs besides runs.
    pub(super) need: Option<Need>,
    pub(super) judgement: Option<Judgement>,
    /// Whether it was judged, and fails the run.
    pub(super) is_failure: bool,
    /// Why it was given up.
    pub(super) panic: Option<String>,
}

impl TestState {
    fn new((runs, required): (Runs, Required)) -> Self {
        TestState {
            runs,
            required,
            batch: Vec::new(),
            rounds: 0,
            purpose: Purpose::Judge,
            limit: None,
            interval: Duration::ZERO,
            next_start: None,
            is_alone: false,
            setting: Setting::Shared,
            is_confinable: true,
            open: 0,
            busy: 0,
            is_begun: false,
            is_failing: false,
            need: None,
            judgement: None,
            is_failure: false,
            panic: None,
        }
    }

    /// Adds the results of the batch to the runs.
    pub(super) fn add_batch(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.runs.of_mut(self.is_alone).extend(batch);
    }

    /// Whether it has failed, or has unless further runs or a plain build show otherwise.
    const fn has_failed(&self) -> bool {
        let is_open = self.judgement.is_none() && self.panic.is_none();
        self.is_failure || (self.is_failing && is_open)
    }

    /// Whether it waits for its first run.
    pub(super) const fn is_waiting(&self) -> bool {
        !self.is_begun && self.judgement.is_none() && self.panic.is_none()
    }
}

impl State {
    /// The state before any run, of tests with these runs that were made before, and what a run of
    /// each takes of the `jobs` slots.
    pub(super) fn new(
        tests: impl Iterator<Item = (Runs, Required)>,
        jobs: usize,
        max_failures: Option<NonZeroUsize>,
    ) -> Self {
        let tests: Vec<TestState> = tests.map(TestState::new).collect();
        State {
            queue: BTreeMap::new(),
            slots: Slots::new(jobs),
            busy: 0,
            unfinished: tests.len(),
            tests,
            is_cut: false,
            spent: Spent::default(),
            max_failures,
        }
    }

    /// Takes the first run from the queue whose test is not busy already, and which is not
    /// disturbed by one that is. There must be slots for it, also in its test group. If there is
    /// none, one that may be made at the same time as others of its test. With `longest`, the first
    /// run of the test that took the most time, of those that would otherwise be next.
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
        let first = |turn: QueuePlace| {
            let is_next = |other: &&QueuePlace| other.phase == turn.phase && is_free(other);
            let last = open().rev().find(is_next).filter(|_| longest);
            let of_its_test = last.map(|last| QueuePlace { index: 0, ..*last });
            let mut runs = of_its_test.into_iter().flat_map(|start| self.queue.range(start..));
            runs.next().map_or(turn, |(longest, _)| *longest)
        };
        let free = open().find(is_free).map(|turn| first(*turn));
        let turn = free.or_else(|| open().find(has_room).copied())?;
        let spec = self.queue.remove(&turn)?;
        self.slots.take(&self.tests[turn.test].required);
        self.begin(turn.test);
        let test = &mut self.tests[turn.test];
        test.is_begun = true;
        test.next_start = (!test.interval.is_zero()).then(|| now + test.interval);
        Some((turn, spec))
    }

    /// Whether no other run is made that this one must wait for.
    fn is_free(&self, turn: &QueuePlace) -> bool {
        // Runs alone are last: while one is made nothing else is left, and a test that wants them
        // wants no other again.
        match turn.phase {
            Phase::Alone => self.busy == 0,
            _ => self.tests[turn.test].busy == 0,
        }
    }

    /// How long no run is free to be taken, unless one ends; `None` if only that changes it.
    pub(super) fn longest_wait(&self) -> Option<Duration> {
        let fits = |turn: &&QueuePlace| self.slots.fits(&self.tests[turn.test].required);
        let free = self.open().filter(fits).filter(|turn| self.is_free(turn));
        let starts = free.filter_map(|turn| self.tests[turn.test].next_start);
        starts.min().map(|start| start.saturating_duration_since(Instant::now()))
    }

    /// A run that was [taken](Self::take) has ended. Whether that may let several others begin.
    pub(super) fn end_run(&mut self, test: usize) -> bool {
        self.end(test);
        let required = &self.tests[test].required;
        self.slots.release(required);
        *required != Required::default()
    }

    /// Whether no run is made, and none will be.
    pub(super) fn is_idle(&self) -> bool {
        self.busy == 0 && self.open().next().is_none()
    }

    /// The runs in the queue that may be made, as far as others have not failed.
    fn open(&self) -> impl DoubleEndedIterator<Item = &QueuePlace> {
        let has_failed = self.has_failed();
        self.queue.keys().filter(move |turn| !has_failed || self.tests[turn.test].is_begun)
    }

    /// Whether the maximum number of tests has failed, so that no other one is begun.
    pub(super) fn has_failed(&self) -> bool {
        let failed = || self.tests.iter().filter(|test| test.has_failed()).count();
        self.max_failures.is_some_and(|most| failed() >= most.get())
    }

    /// Whether there is something to do.
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

    /// Queues the runs that a test asks for, which are confined if they can be.
    pub(super) fn ask(&mut self, index: usize, missing: Missing, confined: bool) {
        let Missing { experiments: specs, limit, alone, fresh, purpose } = missing;
        if specs.is_empty() {
            // It would be waited for for ever.
            return self.give_up(index, "it asked for no run".to_owned());
        }
        let test = &mut self.tests[index];
        test.limit = limit;
        test.interval = pause::interval(&test.runs, &specs, alone);
        test.is_alone = alone;
        test.purpose = purpose;
        let is_plain = specs.len() > 1 && specs.iter().all(is_plain);
        test.setting = match (fresh, alone) {
            (true, _) => Setting::Fresh,
            (false, false) if confined && test.is_confinable && is_plain => Setting::Confined,
            (false, _) => Setting::Shared,
        };
        test.open = specs.len();
        let spent = test.runs.took();
        for (i, spec) in specs.into_iter().enumerate() {
            let place = QueuePlace::new(&spec, alone, spent, [index, test.rounds, i]);
            self.queue.insert(place, spec.clone());
            test.batch.push((spec, None));
        }
        test.rounds += 1;
    }

    /// Leaves out what these budgets are for, once, and returns the tests that wait for no run
    /// since.
    pub(super) fn leave_out(&mut self, spent: Spent) -> Vec<usize> {
        let mut ready = Vec::new();
        if std::mem::replace(&mut self.spent, spent) == spent {
            return ready;
        }
        let tests = &mut self.tests;
        self.queue.retain(|turn, _| {
            let test = &mut tests[turn.test];
            let is_left_out = spent.leaves_out(test.purpose);
            test.open -= usize::from(is_left_out);
            if is_left_out && test.open == 0 {
                ready.push(turn.test);
            }
            !is_left_out
        });
        ready
    }

    /// Nothing more is run of this test.
    pub(super) fn give_up(&mut self, test: usize, panic: String) {
        if self.tests[test].panic.is_some() {
            // Another run of it was made at the same time.
            return;
        }
        self.queue.retain(|turn, _| turn.test != test);
        self.tests[test].need = None;
        self.tests[test].panic = Some(panic);
        self.unfinished -= 1;
    }
}

/// Whether a run is only made to know its end and its choices.
fn is_plain(spec: &RunSpec) -> bool {
    spec.before().is_empty() && spec.trace.is_empty() && spec.operations() == 0 && !spec.cover
}
