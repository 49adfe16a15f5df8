//! The executor: one queue of runs for all cores.
//!
//! Runs are taken in a fixed order: clean runs of all tests first, then the seeds, then the searches; within each, in the order of the
//! tests and as asked for. When the runs that a test asked for have ended, they are added to its others, in the order
//! in which they were asked for, and it is asked what it needs next. So what is concluded does not depend on which run
//! ended first.
//!
//! Different tests run at once, as in cargo test and nextest, but never a test with itself: many write to a place that is
//! their own and no other test's. Runs that are wanted [alone](super::isolation) come last, one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use nondex_core::{RunSpec, Selection};

use super::evidence::Run;
use super::isolation::{Judgement, Runs, Wanted};
use super::progress::Progress;
use super::stop::StopFlag;

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
    /// The runs to make first.
    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Wanted>;

    /// Makes one run. `None` when it was stopped.
    fn run(&self, test: usize, spec: &RunSpec) -> Option<Run>;

    /// All is known about a test.
    fn judged(&self, test: usize, runs: &Runs, judgement: &Judgement);
}

/// The runs of one test, and the judgement unless the executor was stopped before there was one.
#[derive(Clone, Debug)]
pub struct Concluded {
    /// Its runs.
    pub runs: Runs,
    /// What follows.
    pub judgement: Option<Judgement>,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Executed {
    /// One for each test.
    pub tests: Vec<Concluded>,
    /// The names of the models that any run reached.
    pub models: BTreeSet<String>,
    /// Whether it was stopped before everything was done.
    pub stopped: bool,
}

/// Runs `tests` tests until all is concluded or `stop` is set, `jobs` runs at a time.
pub fn execute(
    workload: &dyn Workload,
    tests: usize,
    jobs: NonZeroUsize,
    prune: bool,
    progress: &dyn Progress,
    stop: &StopFlag,
) -> Executed {
    let executor = Executor {
        workload,
        progress,
        stop,
        changed: Condvar::new(),
        state: Mutex::new(State {
            queue: BTreeMap::new(),
            tests: (0..tests)
                .map(|test| TestState {
                    runs: {
                        let mut runs = Runs::new(prune, jobs.get() > 1 && tests > 1);
                        for (spec, run) in workload.known(test) {
                            runs.beside.add(spec, run);
                        }
                        runs
                    },
                    wave: Vec::new(),
                    is_alone: false,
                    open: 0,
                    is_running: false,
                    judgement: None,
                })
                .collect(),
            running: 0,
            models: BTreeSet::new(),
            asked: 0,
            unconcluded: tests,
        }),
    };
    {
        let mut state = executor.lock();
        for test in 0..tests {
            executor.advance(&mut state, test);
        }
        progress.planned(state.asked);
    }
    thread::scope(|scope| {
        for _ in 0..jobs.get() {
            scope.spawn(|| executor.work());
        }
    });
    let state = executor
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Executed {
        stopped: state.unconcluded > 0,
        models: state.models,
        tests: state
            .tests
            .into_iter()
            .map(|mut test| {
                test.runs.of_mut(test.is_alone).extend(test.wave);
                Concluded {
                    runs: test.runs,
                    judgement: test.judgement,
                }
            })
            .collect(),
    }
}

struct Executor<'a> {
    workload: &'a dyn Workload,
    progress: &'a dyn Progress,
    stop: &'a StopFlag,
    state: Mutex<State>,
    /// Signalled when the queue grows, a test is concluded, or the executor was stopped. A run that ends makes one more
    /// run possible, of the same test, which the same thread takes.
    changed: Condvar,
}

struct State {
    queue: BTreeMap<Turn, RunSpec>,
    tests: Vec<TestState>,
    /// How many run now.
    running: usize,
    models: BTreeSet<String>,
    /// Runs asked for so far.
    asked: u64,
    unconcluded: usize,
}

struct TestState {
    runs: Runs,
    /// The runs it has asked for, with their results.
    wave: Vec<(RunSpec, Option<Run>)>,
    /// Whether they are wanted alone.
    is_alone: bool,
    /// How many of those have no result yet.
    open: usize,
    /// Whether one of them runs now.
    is_running: bool,
    judgement: Option<Judgement>,
}

impl State {
    /// Takes the first run from the queue whose test does not run already, and which is not disturbed by one that does.
    fn take(&mut self) -> Option<(Turn, RunSpec)> {
        // Runs alone are last: while one is made nothing else is left, and a test that wants them wants no other again.
        let turn = *self.queue.keys().find(|turn| {
            if turn.phase == Phase::Alone {
                self.running == 0
            } else {
                !self.tests[turn.test].is_running
            }
        })?;
        self.tests[turn.test].is_running = true;
        self.running += 1;
        let spec = self.queue.remove(&turn)?;
        Some((turn, spec))
    }
}

/// The order of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Clean,
    Seeds,
    Search,
    Alone,
}

/// The place of a run in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    phase: Phase,
    test: usize,
    /// In the test's wave.
    index: usize,
}

impl Turn {
    const fn new(test: usize, index: usize, spec: &RunSpec, alone: bool) -> Self {
        let phase = match spec.choices {
            _ if alone => Phase::Alone,
            Selection::None => Phase::Clean,
            Selection::All => Phase::Seeds,
            Selection::Only(_) | Selection::Except(_) => Phase::Search,
        };
        Turn { phase, test, index }
    }
}

impl Executor<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes runs from the queue until all tests are concluded.
    fn work(&self) {
        let mut state = self.lock();
        while state.unconcluded > 0 && !self.stop.is_set() {
            let Some((turn, spec)) = state.take() else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let id = self.workload.id(turn.test);
            self.progress.started(&id, &spec);
            drop(state);
            let run = self.workload.run(turn.test, &spec);
            state = self.lock();
            let Some(run) = run else { break };
            self.progress.finished(&id, &spec, &run.outcome);
            state.models.extend(
                run.points
                    .iter()
                    .map(|point| format!("{}/{}", point.site.family, point.site.api)),
            );
            state.running -= 1;
            let test = &mut state.tests[turn.test];
            test.is_running = false;
            test.wave[turn.index].1 = Some(run);
            test.open -= 1;
            if test.open == 0 {
                let asked = state.asked;
                self.advance(&mut state, turn.test);
                if state.asked > asked {
                    self.progress.planned(state.asked);
                }
                self.changed.notify_all();
            }
        }
        // The others look again whether there is anything to wait for.
        self.changed.notify_all();
    }

    /// Adds the results of a test's wave to its runs, and asks what it needs next.
    fn advance(&self, state: &mut State, index: usize) {
        let test = &mut state.tests[index];
        test.runs.of_mut(test.is_alone).extend(test.wave.drain(..));
        match self.workload.conclude(index, &test.runs) {
            Ok(judgement) => {
                state.unconcluded -= 1;
                self.workload.judged(index, &test.runs, &judgement);
                test.judgement = Some(judgement);
            }
            Err(Wanted { specs, alone }) => {
                test.is_alone = alone;
                state.asked += specs.len() as u64;
                test.open = specs.len();
                for (i, spec) in specs.into_iter().enumerate() {
                    state
                        .queue
                        .insert(Turn::new(index, i, &spec, alone), spec.clone());
                    test.wave.push((spec, None));
                }
            }
        }
    }
}
