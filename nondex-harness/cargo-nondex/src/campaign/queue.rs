//! The executor: one queue of runs for all cores.
//!
//! First come the clean runs of all tests, then whatever the tests ask for that have taken the
//! least time, and the searches last. So when the [budget](super::budget) is spent, each test has
//! had about as much time as any other, and cheap ones have had all their runs. One core of several
//! makes those of the test that took the most time: it would still run long after all others.
//!
//! When the runs that a test requested have ended, they are added to its others, in the order of
//! the request, and the judge decides what it needs next. So what is concluded from them does not
//! depend on which run ended first.
//!
//! Different tests run at once, as in cargo test and nextest, but hardly ever two runs of one test:
//! many write to a place that is their own and no other test's. Where a run takes long, it is made
//! [confined](Setting::Confined), at once with others of its test when there is nothing else to do.
//! Of the tests of a group only as many run at once as it allows; heavy tests take several slots.
//! Runs that are wanted [alone](crate::judge::isolation) come last, one at a time.

mod pause;
mod place;
mod state;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nondex_core::RunSpec;

use self::state::{State, TestState};
use super::budget::Budget;
use super::launch::{Setting, Unmade};
use super::progress::Progress;
use super::stop::StopFlag;
use crate::judge::isolation::{Judgement, Need, Runs};
use crate::judge::missing::Purpose;
use crate::judge::run::Run;
use crate::judge::slots::Required;

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

    /// What a run of a test takes of the job slots and of its test group.
    fn required(&self, _test: usize) -> Required {
        Required::default()
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
    let runs = |test| {
        let mut runs = Runs::new(means.prune, jobs > 1 && tests > 1);
        for (spec, run) in workload.known(test) {
            runs.together.add(spec, run);
        }
        (runs, workload.required(test))
    };
    let executor = Executor {
        workload,
        progress,
        stop: means.stop,
        budget: means.budget,
        changed: Condvar::new(),
        jobs,
        tests,
        state: Mutex::new(State::new((0..tests).map(runs), jobs, means.max_fail)),
    };
    for test in 0..tests {
        drop(executor.advance(executor.lock(), test));
    }
    loop {
        for stage in 0..Need::STAGES {
            executor.work_all();
            executor.fulfil(stage);
        }
        // Where a plain build shows that too few have failed, the others are begun after all.
        if means.stop.is_set() || !executor.lock().is_left() {
            break;
        }
    }
    let state = executor.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_cancelled = state.has_failed() && !means.stop.is_set();
    let mut unfinished = state.unfinished;
    let tests = state.tests.into_iter().map(|mut test| {
        let is_cancelled = is_cancelled && test.is_waiting();
        unfinished -= usize::from(is_cancelled);
        test.add_batch();
        Concluded { runs: test.runs, judgement: test.judgement, panic: test.panic, is_cancelled }
    });
    let tests: Vec<Concluded> = tests.collect();
    if tests.iter().any(|test| test.is_cancelled) {
        workload.cancelled();
    }
    Executed { stopped: unfinished > 0 || state.is_cut, tests }
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
    /// ends makes one more run possible, which the same thread takes, unless its test is in a group
    /// or took several slots.
    changed: Condvar,
}

impl Executor<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes runs, several at a time, until no test needs one.
    fn work_all(&self) {
        thread::scope(|scope| {
            for worker in 0..self.jobs {
                scope.spawn(move || self.work(worker == 1));
            }
        });
    }

    /// Takes runs from the queue until no test needs one, see [`State::take`].
    fn work(&self, longest: bool) {
        let mut state = self.lock();
        while !state.is_idle() && !self.stop.is_set() {
            let Some((turn, spec)) = state.take(longest) else {
                state = match state.longest_wait() {
                    None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                    Some(wait) => {
                        let waited = self.changed.wait_timeout(state, wait);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                };
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
            if state.end_run(turn.test) {
                self.changed.notify_all();
            }
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
                    if test.purpose == Purpose::Explain {
                        self.budget.explained(run.took, test.is_alone);
                    }
                    // Its further runs would come after the first ones of all other tests.
                    test.is_failing |= !run.passed();
                    test.batch[turn.index].1 = Some(run);
                    test.open -= 1;
                    let mut ready = Vec::new();
                    if test.open == 0 {
                        ready.push(turn.test);
                    }
                    ready.extend(state.leave_out(self.budget.spent()));
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
        let spent = state.spent;
        let test = &mut state.tests[index];
        if test.rounds == 1 {
            let first = test.batch.iter().find_map(|(_, run)| run.as_ref());
            first.into_iter().for_each(|run| self.budget.begun(run.took));
        }
        test.add_batch();
        let mut runs = std::mem::replace(&mut test.runs, Runs::new(false, false));
        runs.spend(spent);
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
                        state.tests[index].is_failure = is_failure;
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
            Ok(Err(need)) => state.tests[index].need = Some(need),
            Err(panic) => state.give_up(index, panic),
        }
        state
    }
}

#[cfg(test)]
mod tests;
