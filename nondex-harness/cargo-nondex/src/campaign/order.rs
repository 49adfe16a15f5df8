//! Processes with several tests each, as the [judge of orders](crate::judge::order) requests them.

mod hung;

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nondex_core::{Level, Outcome, RunSpec, Source};

use self::hung::Hung;
use super::launch::Launcher;
use super::pace::{self, Pace};
use super::process::at_random_addresses;
use super::progress::Progress;
use super::stop::StopFlag;
use super::temporary;
use super::tree::Tree;
use crate::judge::order::{Experiment, Experiments, MissingProcesses, ProcessPlan};
use crate::judge::{Options, Required, Run, missing};
use crate::locked::Locked;
use crate::pool;
use crate::project::{Suite, TestCase};

/// What all processes with several tests share.
pub(super) struct ProcessContext<'a> {
    /// Starter of the processes.
    pub(super) launcher: Launcher<'a>,
    /// Options that all processes share.
    pub(super) options: &'a Options,
    /// The files that each process finds at its start.
    pub(super) tree: &'a Tree,
    /// Listener for each process.
    pub(super) progress: &'a dyn Progress,
    /// Flag that stops the work.
    pub(super) stop: &'a StopFlag,
}

/// The tests of one binary, and what starts their processes.
pub(super) struct Processes<'a> {
    /// What it shares with other binaries.
    pub(super) context: &'a ProcessContext<'a>,
    /// The binary.
    pub(super) suite: &'a Suite,
    /// Its tests, numbered in their original order.
    pub(super) tests: Vec<&'a TestCase>,
    /// Maximum duration of each test, where it is to be less than usual; empty otherwise.
    limits: Vec<Duration>,
    /// Level and seed of all choices; `None` in canonical order.
    drawn: Option<(Level, u64)>,
    /// The orders that hang.
    hung: Hung,
    /// Number of processes started, including those [with other choices](Self::with_choices).
    started: Arc<AtomicU64>,
    /// Reason why the first process failed to start, and the number of such processes.
    pub(super) unstarted: Mutex<Option<(String, usize)>>,
}

impl<'a> Processes<'a> {
    /// Creates the processes of these tests of a binary, with choices in canonical order.
    pub(super) fn new(
        context: &'a ProcessContext<'a>,
        suite: &'a Suite,
        tests: Vec<&'a TestCase>,
    ) -> Self {
        Processes {
            context,
            suite,
            tests,
            limits: Vec::new(),
            drawn: None,
            hung: Hung::default(),
            started: Arc::default(),
            unstarted: Mutex::default(),
        }
    }

    /// Limits the duration of each test.
    pub(super) fn within(self, limits: Vec<Duration>) -> Self {
        Processes { limits, ..self }
    }

    /// Returns the same tests with other choices.
    pub(super) fn with_choices(&self, level: Level, seed: u64) -> Self {
        Processes {
            limits: self.limits.clone(),
            drawn: Some((level, seed)),
            started: Arc::clone(&self.started),
            ..Processes::new(self.context, self.suite, self.tests.clone())
        }
    }

    /// Returns the answer to `question`, after making the processes that it needs. Returns `None`
    /// when stopped; the experiments made until then are kept.
    pub(super) fn answer<T>(
        &self,
        experiments: &mut Experiments,
        question: impl Fn(&Experiments) -> Result<T, MissingProcesses>,
    ) -> Option<T> {
        missing::answer(experiments, question, |experiments, missing| {
            let made = self.make(&missing, pace_of(experiments, &missing));
            let is_whole = made.len() == missing.experiments.len();
            made.into_iter().for_each(|made| experiments.add(made));
            is_whole.then_some(())
        })
    }

    /// Returns the number of processes started.
    pub(super) fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Returns whether several processes run concurrently. They no longer do once tests were seen
    /// leaving files.
    pub(super) fn are_at_once(&self) -> bool {
        self.context.options.jobs.get() > 1 && !self.context.tree.is_left()
    }

    /// Returns the id of a test.
    pub(super) fn id(&self, test: usize) -> String {
        self.suite.test_id(self.tests[test])
    }

    /// Returns the options of a test.
    pub(super) fn options_of(&self, test: usize) -> Cow<'_, Options> {
        self.context.options.of(&self.id(test))
    }

    /// Returns the slots for a process in which these tests run one after the other.
    pub(super) fn required(&self, tests: impl Iterator<Item = usize>) -> Required {
        if self.context.options.required.is_empty() {
            return Required::default();
        }
        let of = |test: usize| self.context.options.required(&self.id(test));
        tests.fold(Required::default(), |all, test| all.or(&of(test)))
    }

    /// Returns the time limit on a test.
    fn limit(&self, test: usize) -> Duration {
        let usual = self.options_of(test).timeout;
        self.limits.get(test).map_or(usual, |limit| usual.min(*limit))
    }

    /// Returns the spec of a run of a test, with the choices that these processes make.
    pub(super) fn spec(&self, test: usize) -> RunSpec {
        let (name, options) = (&self.tests[test].name, self.options_of(test));
        match self.drawn {
            Some((level, seed)) => options.seed_spec(name, level, seed),
            None => options.clean_spec(name),
        }
    }

    /// Makes these processes at this pace, several concurrently unless they must run alone. Returns
    /// them in the requested order; some are missing when it was stopped.
    ///
    /// Processes that run alone confirm a conclusion about a test. Addresses must not decide it, so
    /// they are random there, as in a plain run.
    fn make(&self, missing: &MissingProcesses, pace: Pace) -> Vec<Experiment> {
        let alone = missing.alone;
        let pace = Mutex::new(pace);
        self.context.progress.requested(missing.experiments.len());
        let required = |plan: &ProcessPlan| self.required(plan.tests());
        self.each(&missing.experiments, alone, required, |place, plan| {
            pace.locked().wait();
            let make = || match plan {
                ProcessPlan::InOrder(order) => self.experiment(place, order, alone),
                ProcessPlan::Forked(first, then) => self.forked(place, *first, then, alone),
            };
            if alone { at_random_addresses(make) } else { make() }
        })
    }

    /// Calls `one` with each item and its place, several concurrently unless `alone`. `required`
    /// returns the slots of an item. Returns the results in order, as far as it was not stopped.
    ///
    /// When tests are seen leaving files, any concurrent process may have found them. All items are
    /// then repeated one at a time.
    pub(super) fn each<W: Sync, T: Send>(
        &self,
        wanted: &[W],
        alone: bool,
        required: impl Fn(&W) -> Required,
        one: impl Fn(usize, &W) -> Option<T> + Sync,
    ) -> Vec<T> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let one =
            |place, wanted: &W| if self.context.stop.is_set() { None } else { one(place, wanted) };
        if !alone && !self.context.tree.is_left() {
            let made = pool::each_within(self.context.options.jobs.get(), wanted, required, one);
            if !self.context.tree.restore() {
                return made;
            }
        }
        pool::each(1, wanted, |place, wanted| {
            let made = one(place, wanted);
            self.context.tree.restore();
            made
        })
    }

    /// Makes a process whose first test is followed by each other test in a fork.
    fn forked(
        &self,
        place: usize,
        first: usize,
        then: &[usize],
        alone: bool,
    ) -> Option<Experiment> {
        let case = self.tests[first];
        let own = self.options_of(first);
        // A fork keeps the network of its process, so only tests with the same mode may follow.
        let then: Vec<usize> = then
            .iter()
            .copied()
            .filter(|test| self.options_of(*test).network.mode == own.network.mode)
            .collect();
        let cases: Vec<(&TestCase, Duration)> =
            then.iter().map(|test| (self.tests[*test], self.limit(*test))).collect();
        let spec = self.spec(first);
        let id = self.id(first);
        self.context.progress.started(&id, &spec);
        self.started.fetch_add(1, Ordering::Relaxed);
        let (limit, binary) = (self.limit(first), &self.suite.binary);
        let launcher = &self.context.launcher;
        let made = Launcher::with_fresh(place, |folder| {
            launcher.pairs(folder, limit, binary, &[case], &cases, &spec)
        })?;
        let run = made.first.into_iter().next()?;
        self.context.progress.finished(&id, &spec, &run.outcome);
        let forks = then.into_iter().zip(made.then);
        let forks = forks.filter_map(|(test, run)| Some((test, self.passed(test, &run?))));
        Some(self.made(vec![first], vec![run], alone).with_forks(forks.collect()))
    }

    fn experiment(&self, place: usize, order: &[usize], alone: bool) -> Option<Experiment> {
        let cases: Vec<&TestCase> = order.iter().map(|test| self.tests[*test]).collect();
        let names = cases[..cases.len() - 1].iter().map(|case| case.name.clone());
        let spec = self.spec(*order.last()?).after(names.collect());
        let runs = self.run(place, order, &spec)?;
        Some(self.made(order.to_vec(), runs, alone))
    }

    /// Returns a process with these runs of its tests, as the judge needs it. A process that could
    /// not be started is no evidence about its tests, so it has no runs.
    pub(super) fn made(&self, tests: Vec<usize>, mut runs: Vec<Run>, alone: bool) -> Experiment {
        if !runs.iter().any(|run| run.complete || !run.took.is_zero()) {
            let failure = runs.first().and_then(|run| run.failure.clone());
            let mut unstarted = self.unstarted.locked();
            let (_, count) =
                unstarted.get_or_insert_with(|| (failure.unwrap_or_default().message, 0));
            *count += 1;
            runs.clear();
        }
        Experiment::new(tests, runs, alone, |test, run| self.passed(test, run))
    }

    /// Returns whether a test passed, if that is [evidence](Options::passed) about the code.
    pub(super) fn passed(&self, test: usize, run: &Run) -> Option<bool> {
        if run.passed() { Some(true) } else { self.options_of(test).passed(run) }
    }

    /// Runs these tests in one process, each with its limit. Their temporary files are separate for
    /// each `place`, and have the same names in the runs.
    pub(super) fn run(&self, place: usize, order: &[usize], spec: &RunSpec) -> Option<Vec<Run>> {
        let runs = Launcher::with_fresh(place, |folder| {
            let mut runs = self.run_in(folder, order, spec)?;
            if let Some(folder) = folder {
                runs.iter_mut().for_each(|run| temporary::name_all(run, folder));
            }
            Some(runs)
        })?;
        if self.context.tree.is_left() {
            self.context.tree.restore();
        }
        Some(runs)
    }

    /// Runs these tests in one process, each with its limit, and with this folder for temporary
    /// files.
    pub(super) fn run_in(
        &self,
        folder: Option<&Path>,
        order: &[usize],
        spec: &RunSpec,
    ) -> Option<Vec<Run>> {
        let cases: Vec<&TestCase> = order.iter().map(|test| self.tests[*test]).collect();
        let limits: Vec<Duration> = (1..=order.len())
            .map(|end| {
                let usual = self.limit(order[end - 1]);
                if self.context.options.prune {
                    self.hung.limit(&order[..end], usual)
                } else {
                    usual
                }
            })
            .collect();
        let id = self.id(*order.last()?);
        self.context.progress.started(&id, spec);
        self.started.fetch_add(1, Ordering::Relaxed);
        let binary = &self.suite.binary;
        let runs = self.context.launcher.experiment(folder, &limits, binary, &cases, spec)?;
        self.hung.note(order, &runs);
        let ended = runs.last().map(|run| run.outcome.clone());
        self.context.progress.finished(&id, spec, &ended.unwrap_or(Outcome::Failed));
        Some(runs)
    }
}

/// Returns the pace of these processes. Equal ones are made to see whether chance decides, so those
/// with a test that reads the date take more than two seconds.
fn pace_of(experiments: &Experiments, missing: &MissingProcesses) -> Pace {
    let plans = &missing.experiments;
    let mut tests = plans.first().into_iter().flat_map(ProcessPlan::tests);
    let reads_date =
        pace::are_equal(plans, 2) && tests.any(|test| experiments.uses(test, Source::Date));
    let sources = if reads_date { [Source::Date].as_slice() } else { &[] };
    Pace::of(sources).over(plans.len() as u64)
}
