//! The executor: one queue of runs for all cores.
//!
//! Runs are taken in a fixed order: first what all tests request first, which are clean runs, then
//! what all request next, and so on; the searches come last. When the runs that a test requested
//! have ended, they are added to its others, in the order of the request, and the judge decides
//! what it needs next. So what is concluded does not depend on which run ended first. Once the
//! [budget](super::budget) is spent, what is optional is left out. By then each test has asked for
//! about as many batches as any other.
//!
//! Different tests run at once, as in cargo test and nextest, but hardly ever two runs of one test:
//! many write to a place that is their own and no other test's. Where a run takes long, it is made
//! [confined](Setting::Confined), at once with others of its test when there is nothing else to do.
//! Runs that are wanted [alone](crate::judge::isolation) come last, one at a time.

mod place;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nondex_core::RunSpec;

use self::place::{Phase, QueuePlace};
use super::budget::Budget;
use super::launch::Unmade;
use super::progress::Progress;
use super::stop::StopFlag;
use crate::judge::isolation::{Judgement, Need, Runs};
use crate::judge::missing::Missing;
use crate::judge::run::Run;

/// What the executor runs, and asks what to run.
pub trait Workload: Sync {
    /// The test's id, for the listener.
    fn id(&self, test: usize) -> String;

    /// Runs of a test that were made before.
    fn known(&self, _test: usize) -> Vec<(RunSpec, Run)> {
        Vec::new()
    }

    /// What follows from the runs of a test.
    ///
    /// # Errors
    /// What it needs first.
    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Need>;

    /// Makes what these tests need besides runs, all of the same kind, and adds it to their `runs`,
    /// which are those of all tests; without some when it is stopped. Nothing else runs meanwhile.
    fn fulfil(&self, _needs: &[(usize, Need)], _runs: &mut [Runs]) {}

    /// Whether it is worth while to make runs of a test at once, after these.
    fn takes_long(&self, _test: usize, _runs: &Runs) -> bool {
        false
    }

    /// Makes one run, with this time limit if it is not the usual one.
    ///
    /// # Errors
    /// Why there is none.
    fn run(
        &self,
        test: usize,
        spec: &RunSpec,
        limit: Option<Duration>,
        setting: Setting,
    ) -> Result<Run, Unmade>;

    /// All is known about a test.
    fn judged(&self, test: usize, runs: &Runs, judgement: &Judgement);

    /// Whether a test that was judged counts as a failure.
    fn is_failure(&self, _test: usize) -> bool {
        false
    }

    /// The maximum number of tests has failed: no other one is begun.
    fn cancelled(&self) {}
}

/// What a run is made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// What all runs share.
    Shared,
    /// The same, but for an empty folder for temporary files.
    Fresh,
    /// A process that ends before it does anything which another one could notice.
    Confined,
}

/// Maximum number of runs of one test at once: each needs as much memory as the others.
const MAX_AT_ONCE: usize = 8;

/// The runs of one test, and the judgement unless the executor was stopped before there was one.
#[derive(Clone, Debug)]
pub struct Concluded {
    /// Its runs.
    pub runs: Runs,
    /// What follows.
    pub judgement: Option<Judgement>,
    /// What this program itself panicked with, if it did so with this test, which was then given
    /// up.
    pub panic: Option<String>,
    /// Whether it was not begun, because others had failed.
    pub is_cancelled: bool,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Executed {
    /// One for each test.
    pub tests: Vec<Concluded>,
    /// Whether it was stopped before everything was done.
    pub stopped: bool,
}

/// How runs are made, and until when.
#[derive(Debug)]
pub struct Means<'a> {
    /// Number of runs at a time.
    pub jobs: NonZeroUsize,
    /// Whether runs are left out whose outcome follows from another run.
    pub prune: bool,
    /// How long it explores.
    pub budget: &'a Budget,
    /// What ends it.
    pub stop: &'a StopFlag,
    /// Number of failures after which no other test is begun.
    pub max_fail: Option<NonZeroUsize>,
}

/// Runs `tests` tests until all is concluded or it is stopped.
pub fn execute(
    workload: &dyn Workload,
    tests: usize,
    means: &Means<'_>,
    progress: &dyn Progress,
) -> Executed {
    let jobs = means.jobs.get();
    let executor = Executor {
        workload,
        progress,
        stop: means.stop,
        budget: means.budget,
        changed: Condvar::new(),
        jobs,
        tests,
        state: Mutex::new(State {
            queue: BTreeMap::new(),
            tests: (0..tests)
                .map(|test| TestState {
                    runs: {
                        let mut runs = Runs::new(means.prune, jobs > 1 && tests > 1);
                        for (spec, run) in workload.known(test) {
                            runs.together.add(spec, run);
                        }
                        runs
                    },
                    batch: Vec::new(),
                    rounds: 0,
                    is_optional: false,
                    limit: None,
                    is_alone: false,
                    setting: Setting::Shared,
                    is_confinable: true,
                    open: 0,
                    busy: 0,
                    is_begun: false,
                    need: None,
                    judgement: None,
                    panic: None,
                })
                .collect(),
            busy: 0,
            unfinished: tests,
            is_cut: false,
            is_spent: false,
            failures: 0,
            max_failures: means.max_fail,
        }),
    };
    for test in 0..tests {
        drop(executor.advance(executor.lock(), test));
    }
    // Where a plain build shows that too few have failed, the others are begun after all.
    while {
        for stage in 0..Need::STAGES {
            executor.work_all();
            executor.fulfil(stage);
        }
        !means.stop.is_set() && executor.lock().is_left()
    } {}
    let state = executor
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let is_cancelled = state.has_failed() && !means.stop.is_set();
    let mut unfinished = state.unfinished;
    let tests = state.tests.into_iter().map(|mut test| {
        let is_cancelled = is_cancelled && test.is_waiting();
        unfinished -= usize::from(is_cancelled);
        test.add_batch();
        Concluded {
            runs: test.runs,
            judgement: test.judgement,
            panic: test.panic,
            is_cancelled,
        }
    });
    let tests: Vec<Concluded> = tests.collect();
    if tests.iter().any(|test| test.is_cancelled) {
        workload.cancelled();
    }
    Executed {
        stopped: unfinished > 0 || state.is_cut,
        tests,
    }
}

/// Does what may panic, without the lock, so that nobody sees anything half done.
///
/// # Errors
/// What it panicked with.
pub(super) fn attempt<T>(action: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(action)).map_err(|value| {
        let text = value.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| value.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a value that is not text".to_owned())
    })
}

struct Executor<'a> {
    workload: &'a dyn Workload,
    progress: &'a dyn Progress,
    stop: &'a StopFlag,
    budget: &'a Budget,
    jobs: usize,
    tests: usize,
    state: Mutex<State>,
    /// Signalled when the queue grows, a test is finished, or the executor was stopped. A run that
    /// ends makes one more run possible, of the same test, which the same thread takes.
    changed: Condvar,
}

struct State {
    queue: BTreeMap<QueuePlace, RunSpec>,
    tests: Vec<TestState>,
    /// How many runs are made or judged now.
    busy: usize,
    /// How many tests are neither judged nor given up.
    unfinished: usize,
    /// Whether it was stopped when tests needed something besides runs.
    is_cut: bool,
    /// Whether the budget is spent, and what is optional left out.
    is_spent: bool,
    /// How many tests have failed, or have unless a plain build shows otherwise.
    failures: usize,
    /// The number of them after which no other test is begun.
    max_failures: Option<NonZeroUsize>,
}

struct TestState {
    runs: Runs,
    /// The runs it has asked for, with their results.
    batch: Vec<(RunSpec, Option<Run>)>,
    /// Number of batches before that one.
    rounds: usize,
    /// Whether its result can be done without.
    is_optional: bool,
    /// How long each may take.
    limit: Option<Duration>,
    /// Whether they are wanted alone.
    is_alone: bool,
    /// What they are made in.
    setting: Setting,
    /// Whether no run was made that could not be confined.
    is_confinable: bool,
    /// How many of those have no result yet.
    open: usize,
    /// How many of them run now, or 1 while all of them are judged.
    busy: usize,
    /// Whether a run of it was made.
    is_begun: bool,
    /// What it needs besides runs.
    need: Option<Need>,
    judgement: Option<Judgement>,
    /// Why it was given up.
    panic: Option<String>,
}

impl TestState {
    /// Adds the results of the batch to the runs.
    fn add_batch(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.runs.of_mut(self.is_alone).extend(batch);
    }

    /// Whether it waits for its first run.
    const fn is_waiting(&self) -> bool {
        !self.is_begun && self.judgement.is_none() && self.panic.is_none()
    }
}

impl State {
    /// Takes the first run from the queue whose test is not busy already, and which is not
    /// disturbed by one that is; if there is none, one that may be made at the same time as others
    /// of its test.
    fn take(&mut self) -> Option<(QueuePlace, RunSpec)> {
        // Runs alone are last: while one is made nothing else is left, and a test that wants them
        // wants no other again.
        let is_free = |turn: &&QueuePlace| match turn.phase {
            Phase::Alone => self.busy == 0,
            _ => self.tests[turn.test].busy == 0,
        };
        let has_room = |turn: &&QueuePlace| {
            let test = &self.tests[turn.test];
            test.setting == Setting::Confined && test.busy < MAX_AT_ONCE
        };
        let open = || self.queue.keys().filter(|turn| self.is_open(turn));
        let turn = *open().find(is_free).or_else(|| open().find(has_room))?;
        let spec = self.queue.remove(&turn)?;
        self.begin(turn.test);
        self.tests[turn.test].is_begun = true;
        Some((turn, spec))
    }

    /// Whether no run is made, and none will be.
    fn is_idle(&self) -> bool {
        self.busy == 0 && !self.queue.keys().any(|turn| self.is_open(turn))
    }

    /// Whether a test may have this run, as far as others have not failed.
    fn is_open(&self, turn: &QueuePlace) -> bool {
        self.tests[turn.test].is_begun || !self.has_failed()
    }

    /// Whether the maximum number of tests has failed, so that no other one is begun.
    fn has_failed(&self) -> bool {
        let most = self.max_failures;
        most.is_some_and(|most| self.failures >= most.get())
    }

    /// Whether there is something to do.
    fn is_left(&self) -> bool {
        !self.is_idle() || self.tests.iter().any(|test| test.need.is_some())
    }

    fn begin(&mut self, test: usize) {
        self.tests[test].busy += 1;
        self.busy += 1;
    }

    fn end(&mut self, test: usize) {
        self.tests[test].busy -= 1;
        self.busy -= 1;
    }

    /// Queues the runs that a test asks for, which are confined if they can be.
    fn ask(&mut self, index: usize, missing: Missing, confined: bool) {
        let Missing {
            experiments: specs,
            limit,
            alone,
            fresh,
            optional,
        } = missing;
        if specs.is_empty() {
            // It would be waited for for ever.
            return self.give_up(index, "it asked for no run".to_owned());
        }
        let test = &mut self.tests[index];
        test.limit = limit;
        test.is_alone = alone;
        test.is_optional = optional;
        let is_plain = specs.len() > 1 && specs.iter().all(is_plain);
        test.setting = match (fresh, alone) {
            (true, _) => Setting::Fresh,
            (false, false) if confined && test.is_confinable && is_plain => Setting::Confined,
            (false, _) => Setting::Shared,
        };
        test.open = specs.len();
        for (i, spec) in specs.into_iter().enumerate() {
            let place = QueuePlace::new(&spec, alone, [index, test.rounds, i]);
            self.queue.insert(place, spec.clone());
            test.batch.push((spec, None));
        }
        test.rounds += 1;
    }

    /// Leaves out what is optional, once, and returns the tests that wait for no run since.
    fn leave_out(&mut self) -> Vec<usize> {
        let mut ready = Vec::new();
        if std::mem::replace(&mut self.is_spent, true) {
            return ready;
        }
        let tests = &mut self.tests;
        self.queue.retain(|turn, _| {
            let test = &mut tests[turn.test];
            test.open -= usize::from(test.is_optional);
            if test.is_optional && test.open == 0 {
                ready.push(turn.test);
            }
            !test.is_optional
        });
        ready
    }

    /// Nothing more is run of this test.
    fn give_up(&mut self, test: usize, panic: String) {
        if self.tests[test].panic.is_some() {
            // Another run of it was made at the same time.
            return;
        }
        self.queue.retain(|turn, _| turn.test != test);
        let need = self.tests[test].need.take();
        self.failures -= usize::from(need.as_ref().is_some_and(is_failing));
        self.tests[test].panic = Some(panic);
        self.unfinished -= 1;
    }
}

/// Whether a test has failed that needs this.
const fn is_failing(need: &Need) -> bool {
    matches!(need, Need::Plain { .. })
}

/// Whether a run is only made to know its end and its choices.
fn is_plain(spec: &RunSpec) -> bool {
    spec.before().is_empty() && spec.trace.is_empty() && spec.operations() == 0 && !spec.cover
}

impl Executor<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes runs, several at a time, until no test needs one.
    fn work_all(&self) {
        thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| self.work());
            }
        });
    }

    /// Takes runs from the queue until no test needs one.
    fn work(&self) {
        let mut state = self.lock();
        while !state.is_idle() && !self.stop.is_set() {
            let Some((turn, spec)) = state.take() else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let TestState { limit, setting, .. } = state.tests[turn.test];
            drop(state);
            let made = attempt(|| {
                let id = self.workload.id(turn.test);
                self.progress.left(self.budget.left());
                self.progress.started(&id, &spec);
                let mut run = self.workload.run(turn.test, &spec, limit, setting)?;
                self.progress.finished(&id, &spec, &run.outcome);
                if spec.cover {
                    self.progress.covered(&id, &run.covered);
                    // It is much, and nobody else asks for it.
                    run.covered = [].into();
                }
                Ok(run)
            });
            state = self.lock();
            state.end(turn.test);
            match made {
                Ok(Err(Unmade::Stopped)) => break,
                Ok(Err(Unmade::Unconfined)) => {
                    // Once the others of its test that are confined have ended.
                    let test = &mut state.tests[turn.test];
                    test.is_confinable = false;
                    test.setting = Setting::Shared;
                    if test.panic.is_none() {
                        state.queue.insert(turn, spec);
                    }
                }
                Err(panic) => {
                    state.give_up(turn.test, panic);
                    self.changed.notify_all();
                }
                Ok(Ok(run)) => {
                    let test = &mut state.tests[turn.test];
                    test.batch[turn.index].1 = Some(run);
                    test.open -= 1;
                    let mut ready = Vec::new();
                    if test.open == 0 {
                        ready.push(turn.test);
                    }
                    if self.budget.is_spent() {
                        ready.extend(state.leave_out());
                    }
                    for test in ready {
                        state = self.advance(state, test);
                        self.changed.notify_all();
                    }
                }
            }
        }
        drop(state);
        // The others look again whether there is anything to wait for.
        self.changed.notify_all();
    }

    /// Has what tests need in this stage made, and judges them with that.
    fn fulfil(&self, stage: usize) {
        let mut state = self.lock();
        let mut needs = Vec::new();
        for (index, test) in state.tests.iter_mut().enumerate() {
            let need = test.need.take_if(|need| need.stage() == Some(stage));
            needs.extend(need.map(|need| (index, need)));
        }
        let failing = needs.iter().filter(|(_, need)| is_failing(need));
        state.failures -= failing.count();
        if needs.is_empty() {
            return;
        }
        let take =
            |test: &mut TestState| std::mem::replace(&mut test.runs, Runs::new(false, false));
        let mut runs: Vec<Runs> = state.tests.iter_mut().map(take).collect();
        drop(state);
        self.workload.fulfil(&needs, &mut runs);
        let mut state = self.lock();
        for (test, runs) in state.tests.iter_mut().zip(runs) {
            test.runs = runs;
        }
        let is_stopped = self.stop.is_set();
        state.is_cut |= is_stopped;
        for (index, need) in needs {
            state = self.advance(state, index);
            if !is_stopped && state.tests[index].need.as_ref() == Some(&need) {
                state.give_up(index, "what it needs was not made".to_owned());
            }
        }
    }

    /// Adds the results of a test's batch to its runs, asks what it needs next, and has it judged
    /// when that is nothing: without the lock. The test is busy meanwhile, so nobody else touches
    /// it.
    fn advance<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        index: usize,
    ) -> MutexGuard<'s, State> {
        state.begin(index);
        let is_spent = state.is_spent;
        let test = &mut state.tests[index];
        if test.rounds == 1 {
            let first = test.batch.iter().find_map(|(_, run)| run.as_ref());
            first.into_iter().for_each(|run| self.budget.add(run.took));
        }
        test.add_batch();
        let mut runs = std::mem::replace(&mut test.runs, Runs::new(false, false));
        if is_spent {
            runs.spend();
        }
        drop(state);
        let concluded = attempt(|| self.workload.conclude(index, &runs));
        let judged = match &concluded {
            Ok(Ok(judgement)) => attempt(|| {
                self.workload.judged(index, &runs, judgement);
                self.workload.is_failure(index)
            }),
            Ok(Err(_)) | Err(_) => Ok(false),
        };
        let takes_long = self.workload.takes_long(index, &runs);
        let mut state = self.lock();
        state.end(index);
        state.tests[index].runs = runs;
        match concluded {
            Ok(Ok(judgement)) => {
                state.tests[index].judgement = Some(judgement);
                match judged {
                    Ok(is_failure) => {
                        state.unfinished -= 1;
                        state.failures += usize::from(is_failure);
                    }
                    Err(panic) => state.give_up(index, panic),
                }
            }
            Ok(Err(Need::Runs(missing))) => {
                // The only test is believed to run alone: how long others take must not matter to
                // it.
                let mut specs = missing.experiments.iter();
                let may_meet = self.tests > 1 || specs.all(RunSpec::is_scheduled);
                let confined = takes_long && self.jobs > 1 && may_meet;
                state.ask(index, missing, confined);
            }
            Ok(Err(need)) => {
                state.failures += usize::from(is_failing(&need));
                state.tests[index].need = Some(need);
            }
            Err(panic) => state.give_up(index, panic),
        }
        state
    }
}

#[cfg(test)]
mod tests;
