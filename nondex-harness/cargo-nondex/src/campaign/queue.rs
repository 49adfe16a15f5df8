//! The executor: one queue of runs for all cores.
//!
//! The clean runs of all tests come first. Then come requested runs, those of the tests that have
//! used the least time first. For further seeds, this time counts more. Searches come last. So when
//! the [budget](super::budget) is spent, all tests have had about equal time, and cheap tests have
//! had all their runs. One core of several works on the test that has used the most time, which
//! would otherwise still run long after all others.
//!
//! When all runs that a test requested have ended, they are added to its other runs in the order of
//! the request. The judge then decides what the test needs next. So a conclusion does not depend on
//! which run ended first.
//!
//! Different tests run concurrently, as in cargo test and nextest. Two runs of one test seldom do:
//! many tests write to a path that no other test uses. Long runs are [confined](Setting::Confined),
//! and run concurrently with others of their test when a core is free. A test group limits how many
//! of its tests run at a time, and heavy tests take several slots. Runs that must be
//! [alone](crate::judge::isolation) come last, one at a time.

mod pause;
mod place;
mod state;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use nondex_core::RunSpec;

use self::state::{QueueState, TestState};
use super::budget::Budget;
use super::launch::{Setting, Unmade};
use super::progress::Progress;
use super::stop::StopFlag;
use crate::judge::{ExperimentPurpose, Judgement, Missing, Need, Required, Run, RunLimits, Runs};
use crate::locked::Locked;

/// Source of runs and judgements for the executor.
pub trait Workload: Sync {
    /// Returns the test's id, for the progress listener.
    fn id(&self, test: usize) -> String;

    /// Returns runs of a test that were made before this campaign.
    fn known(&self, _test: usize) -> Vec<(RunSpec, Run)> {
        Vec::new()
    }

    /// Concludes from the runs of a test.
    ///
    /// # Errors
    /// Returns what the test needs before there is a conclusion.
    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Need>;

    /// Provides what these tests need besides runs, all of the same kind, and adds it to `runs`.
    /// `runs` has the runs of all tests. Some results are missing when the campaign is stopped. No
    /// other run is in progress meanwhile.
    fn fulfil(&self, _needs: &[(usize, Need)], _runs: &mut [Runs]) {}

    /// Returns whether the test's runs until now are long enough to make further runs concurrently.
    fn takes_long(&self, _test: usize, _runs: &Runs) -> bool {
        false
    }

    /// Returns how many job slots a run of a test takes, and its test group.
    fn required(&self, _test: usize) -> Required {
        Required::default()
    }

    /// Makes one run within these limits.
    ///
    /// # Errors
    /// Returns the reason if there is no run.
    fn run(
        &self,
        test: usize,
        spec: &RunSpec,
        limits: RunLimits,
        setting: Setting,
    ) -> Result<Run, Unmade>;

    /// Receives the final judgement of a test.
    fn judged(&self, test: usize, runs: &Runs, judgement: &Judgement);

    /// Returns whether a judged test counts as a failure.
    fn is_failure(&self, _test: usize) -> bool {
        false
    }

    /// Receives notice that the maximum number of tests has failed. No further test is begun.
    fn cancelled(&self) {}
}

/// Maximum number of concurrent runs of one test, because each needs as much memory as the others.
const MAX_AT_ONCE: usize = 8;

/// The runs of one test, with the judgement unless the executor was stopped before it.
#[derive(Clone, Debug)]
pub struct Concluded {
    /// Runs of the test.
    pub runs: Runs,
    /// Conclusion about the test.
    pub judgement: Option<Judgement>,
    /// Message of a panic of this program itself while it worked on this test, which it then gave
    /// up.
    pub panic: Option<String>,
    /// Whether the test was not begun because others had failed.
    pub is_cancelled: bool,
}

/// Result of [`execute`].
#[derive(Clone, Debug)]
pub struct Executed {
    /// Result of each test.
    pub tests: Vec<Concluded>,
    /// Whether the executor was stopped before everything was done.
    pub stopped: bool,
}

/// How runs are made, and when to stop.
#[derive(Debug)]
pub struct Means<'a> {
    /// Maximum number of concurrent runs.
    pub jobs: NonZeroUsize,
    /// Whether to leave out runs whose outcome follows from another run.
    pub prune: bool,
    /// Limit on the time spent exploring.
    pub budget: &'a Budget,
    /// Flag that stops the executor.
    pub stop: &'a StopFlag,
    /// Number of failures after which no further test is begun.
    pub max_fail: Option<NonZeroUsize>,
}

/// Runs `tests` tests until all are concluded or the executor is stopped.
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
        state: Mutex::new(QueueState::new((0..tests).map(runs), jobs, means.max_fail)),
    };
    for test in 0..tests {
        drop(executor.advance(executor.state.locked(), test));
    }
    loop {
        for stage in 0..Need::STAGES {
            executor.work_all();
            executor.fulfil(stage);
        }
        // A plain build can show that a failure does not count. Tests suspended by `max_fail` then
        // begin.
        if means.stop.is_set() || !executor.state.locked().is_left() {
            break;
        }
    }
    let state = executor.state.unlocked();
    let is_cancelled = state.has_failed() && !means.stop.is_set();
    let mut unfinished = state.unfinished;
    let tests: Vec<Concluded> = state
        .tests
        .into_iter()
        .map(|mut test| {
            let is_cancelled = is_cancelled && test.is_waiting();
            unfinished -= usize::from(is_cancelled);
            test.add_batch();
            Concluded {
                runs: test.runs,
                judgement: test.judgement,
                panic: test.panic,
                is_cancelled,
            }
        })
        .collect();
    if tests.iter().any(|test| test.is_cancelled) {
        workload.cancelled();
    }
    Executed { stopped: unfinished > 0 || state.is_cut, tests }
}

/// Runs code that may panic, without the lock, so that no other thread sees a partial update.
///
/// # Errors
/// Returns the message of the panic.
pub(super) fn attempt<T>(action: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(action)).map_err(|value| {
        let text = value.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| value.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a value that is not a string".to_owned())
    })
}

struct Executor<'a> {
    workload: &'a dyn Workload,
    progress: &'a dyn Progress,
    stop: &'a StopFlag,
    budget: &'a Budget,
    jobs: usize,
    tests: usize,
    state: Mutex<QueueState>,
    /// Signalled when the queue grows, a test is finished, or the executor is stopped. A run that
    /// ends makes room for one more, which the same thread takes. It signals only if the ended
    /// run's test is in a group or took several slots.
    changed: Condvar,
}

impl Executor<'_> {
    /// Makes runs, several at a time, until no test needs one.
    fn work_all(&self) {
        thread::scope(|scope| {
            for worker in 0..self.jobs {
                scope.spawn(move || self.work(worker == 1));
            }
        });
    }

    /// Takes runs from the queue until no test needs one; see [`QueueState::take`].
    fn work(&self, longest: bool) {
        let mut state = self.state.locked();
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
            let TestState { batch: Missing { limits, .. }, setting, .. } = state.tests[turn.test];
            drop(state);
            let made = attempt(|| {
                let id = self.workload.id(turn.test);
                self.progress.left(self.budget.left());
                self.progress.started(&id, &spec);
                let mut run = self.workload.run(turn.test, &spec, limits, setting)?;
                self.progress.finished(&id, &spec, &run.outcome);
                if spec.cover {
                    self.progress.covered(&id, &run.covered);
                    // The list is large, and nothing else reads it.
                    run.covered = [].into();
                }
                Ok(run)
            });
            state = self.state.locked();
            if state.end_run(turn.test) {
                self.changed.notify_all();
            }
            match made {
                Ok(Err(Unmade::Stopped)) => break,
                Ok(Err(Unmade::Unconfined)) => {
                    // Queue the run again, to start when the confined runs of its test have ended.
                    let test = &mut state.tests[turn.test];
                    test.is_confinable = false;
                    test.setting = Setting::Shared;
                    if test.panic.is_none() {
                        state.queue.insert(turn);
                    }
                }
                Err(panic) => {
                    state.give_up(turn.test, panic);
                    self.changed.notify_all();
                }
                Ok(Ok(run)) => {
                    let test = &mut state.tests[turn.test];
                    match test.batch.purpose {
                        ExperimentPurpose::Explain => {
                            self.budget.explained(run.took, test.batch.alone);
                        }
                        ExperimentPurpose::Judge if !spec.is_scheduled() => {
                            self.budget.waited(run.took);
                        }
                        _ => {}
                    }
                    // Further runs of this test would come after the first runs of all other tests.
                    test.is_failing |= !run.passed();
                    test.results[turn.index] = Some(run);
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
        // The other workers check again whether there is anything left to wait for.
        self.changed.notify_all();
    }

    /// Provides what tests need in this stage, and judges the tests with it.
    fn fulfil(&self, stage: usize) {
        let mut state = self.state.locked();
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
        let mut state = self.state.locked();
        for (test, runs) in state.tests.iter_mut().zip(runs) {
            test.runs = runs;
        }
        let is_stopped = self.stop.is_set();
        state.is_cut |= is_stopped;
        for (index, need) in needs {
            state = self.advance(state, index);
            if !is_stopped && state.tests[index].need.as_ref() == Some(&need) {
                state.give_up(index, "its runs were not made".to_owned());
            }
        }
    }

    /// Adds the results of a test's batch to its runs, and determines what it needs next. Judges
    /// the test when it needs nothing more.
    ///
    /// Conclusions and judgements are made without the lock. The test is marked busy meanwhile, so
    /// no other worker touches it.
    fn advance<'s>(
        &'s self,
        mut state: MutexGuard<'s, QueueState>,
        index: usize,
    ) -> MutexGuard<'s, QueueState> {
        state.begin(index);
        let spent = state.spent;
        let test = &mut state.tests[index];
        if test.rounds == 1 {
            let first = test.results.iter().find_map(Option::as_ref);
            first.into_iter().for_each(|run| self.budget.begun(run.took));
        }
        test.add_batch();
        let was_explored = test.is_explored;
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
        let is_explored = !matches!(concluded, Ok(Err(Need::Runs(_))));
        if is_explored && !was_explored {
            self.progress.explored();
        }
        let takes_long = self.workload.takes_long(index, &runs);
        let mut state = self.state.locked();
        state.end(index);
        state.tests[index].runs = runs;
        state.tests[index].is_explored |= is_explored;
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
                // A lone test is expected to run undisturbed, so the timing of concurrent runs must
                // not affect it. Scheduled runs do not depend on timing.
                let mut specs = missing.experiments.iter();
                let may_overlap = self.tests > 1 || specs.all(RunSpec::is_scheduled);
                let confined = takes_long && self.jobs > 1 && may_overlap;
                state.request(index, missing, confined);
            }
            Ok(Err(need)) => state.tests[index].need = Some(need),
            Err(panic) => state.give_up(index, panic),
        }
        state
    }
}

#[cfg(test)]
mod tests;
