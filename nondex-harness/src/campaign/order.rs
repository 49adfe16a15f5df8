//! Processes of several tests each, as the [judge of orders](crate::judge::order) wants them, and what is concluded from them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nondex_core::{Outcome, RunSpec};

use super::launch::Launcher;
use super::progress::Progress;
use super::stop::StopFlag;
use crate::judge::Options;
use crate::judge::order::{End, Experiment, Experiments, Wanted};
use crate::judge::prerequisite::explained_run;
use crate::judge::run::Run;
use crate::judge::specs::clean_spec;
use crate::project::{Suite, TestCase};

/// A test whose clean run is not known is given this part of the usual time limit in a process with others.
const PART: u32 = 10;

/// One whose clean run is known is given so many times as long.
const PROPORTION: u32 = 4;

/// What is written is kept of processes with at most so many tests: of more, nobody could tell whose it is.
const MAX_SHOWN: usize = 8;

/// How each test ended that came next in a fork; `None` where there was none.
type Forks = Vec<(usize, Option<End>)>;

/// The tests of one binary, and what makes their processes.
pub(super) struct Processes<'a> {
    /// Starts them.
    pub(super) launcher: &'a Launcher<'a>,
    /// The binary.
    pub(super) suite: &'a Suite,
    /// Its tests, numbered in their original order.
    pub(super) tests: Vec<&'a TestCase>,
    /// How long the clean run of each took, where it is known.
    pub(super) took: Mutex<Vec<Option<Duration>>>,
    /// What all processes have in common.
    pub(super) options: &'a Options,
    /// Hears of each.
    pub(super) progress: &'a dyn Progress,
    /// Ends the work.
    pub(super) stop: &'a StopFlag,
}

impl Processes<'_> {
    /// The answer to `question`, once the processes that it wants were made; `None` when it was stopped before.
    pub(super) fn answer<T>(
        &self,
        experiments: &mut Experiments,
        question: impl Fn(&Experiments) -> Result<T, Wanted>,
    ) -> Option<T> {
        loop {
            match question(experiments) {
                Ok(answer) => return Some(answer),
                Err(wanted) => {
                    let pairs = self.pairs(&wanted)?;
                    let made = self.make(&wanted)?;
                    made.into_iter().for_each(|made| experiments.add(made));
                    for (made, first, forks) in pairs {
                        experiments.add(made);
                        experiments.add_forks(first, forks);
                    }
                }
            }
        }
    }

    /// Makes these processes, several at once unless they are wanted alone. In the order in which they are wanted, whichever ended first.
    fn make(&self, wanted: &Wanted) -> Option<Vec<Experiment>> {
        self.each(&wanted.orders, wanted.alone, |place, order| {
            self.experiment(place, order, wanted.alone)
        })
    }

    /// Does this with each, several at once unless `alone`: the results in their order.
    fn each<W: Sync, T: Send>(
        &self,
        wanted: &[W],
        alone: bool,
        one: impl Fn(usize, &W) -> Option<T> + Sync,
    ) -> Option<Vec<T>> {
        let jobs = if alone {
            NonZeroUsize::MIN
        } else {
            self.options.jobs
        };
        let next = AtomicUsize::new(0);
        let made: Mutex<BTreeMap<usize, T>> = Mutex::new(BTreeMap::new());
        thread::scope(|scope| {
            for place in 0..jobs.get().min(wanted.len()) {
                let (next, made, one) = (&next, &made, &one);
                scope.spawn(move || {
                    while !self.stop.is_set() {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(found) = wanted.get(number).map(|wanted| one(place, wanted))
                        else {
                            break;
                        };
                        let Some(found) = found else { break };
                        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                        made.insert(number, found);
                    }
                });
            }
        });
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        (made.len() == wanted.len()).then(|| made.into_values().collect())
    }

    /// Makes the processes with forks.
    fn pairs(&self, wanted: &Wanted) -> Option<Vec<(Experiment, usize, Forks)>> {
        self.each(&wanted.pairs, wanted.alone, |place, (first, then)| {
            let case = self.tests[*first];
            let cases: Vec<&TestCase> = then.iter().map(|test| self.tests[*test]).collect();
            let spec = clean_spec(&case.name, self.options);
            let id = self.suite.test_id(case);
            self.progress.started(&id, &spec);
            let limit = self.options.timeout;
            let binary = &self.suite.binary;
            let made = self
                .launcher
                .pairs_fresh(place, limit, binary, &[case], &cases, &spec)?;
            let run = made.first.into_iter().next()?;
            self.progress.finished(&id, &spec, &run.outcome);
            self.note(*first, run.took);
            let experiment = Experiment {
                tests: vec![*first],
                ends: vec![self.end(run, true)],
                alone: wanted.alone,
            };
            let ends = made
                .then
                .into_iter()
                .map(|run| run.map(|run| self.end(run, false)));
            Some((experiment, *first, then.iter().copied().zip(ends).collect()))
        })
    }

    /// Keeps how long a test took alone.
    fn note(&self, test: usize, took: Duration) {
        self.took.lock().unwrap_or_else(PoisonError::into_inner)[test].get_or_insert(took);
    }

    fn experiment(&self, place: usize, order: &[usize], alone: bool) -> Option<Experiment> {
        let cases: Vec<&TestCase> = order.iter().map(|test| self.tests[*test]).collect();
        let last = cases.last()?;
        let id = self.suite.test_id(last);
        let names = cases[..cases.len() - 1]
            .iter()
            .map(|case| case.name.clone());
        let spec = RunSpec {
            before: names.collect(),
            ..clean_spec(&last.name, self.options)
        };
        self.progress.started(&id, &spec);
        let limit = self.limit(order);
        let binary = &self.suite.binary;
        let runs = self
            .launcher
            .experiment_fresh(place, limit, binary, &cases, &spec)?;
        if let ([test], [run]) = (order, &runs[..]) {
            self.note(*test, run.took);
        }
        let ended = runs.last().map(|run| run.outcome.clone());
        self.progress
            .finished(&id, &spec, &ended.unwrap_or(Outcome::Failed));
        // A process that could not be started says nothing of its tests.
        let is_started = runs.iter().any(|run| run.complete || !run.took.is_zero());
        let is_shown = order.len() <= MAX_SHOWN;
        let mut ends = Vec::new();
        for run in runs.into_iter().filter(|_| is_started) {
            let is_cut = !matches!(run.outcome, Outcome::Passed | Outcome::Failed);
            ends.push(self.end(run, is_shown));
            if is_cut {
                break;
            }
        }
        Some(Experiment {
            tests: order.to_vec(),
            ends,
            alone,
        })
    }

    /// How `run` ended, as it is judged.
    pub(super) fn end(&self, run: Run, is_shown: bool) -> End {
        let Options {
            network,
            prerequisites,
            ..
        } = self.options;
        let explanation = (!run.passed())
            .then(|| explained_run(&run, network, prerequisites))
            .flatten();
        End {
            output: run.output.filter(|_| is_shown && !run.outcome.passed()),
            outcome: run.outcome,
            failure: run.failure,
            explanation,
        }
    }

    /// How long a process with these tests may take: one of them may need the usual limit, the others what they needed before.
    pub(super) fn limit(&self, order: &[usize]) -> Duration {
        let usual = self.options.timeout;
        let known = self.took.lock().unwrap_or_else(PoisonError::into_inner);
        let others = order.iter().skip(1).map(|test| match known[*test] {
            Some(took) => took.min(usual) * PROPORTION,
            None => usual / PART,
        });
        usual + others.sum::<Duration>()
    }
}
