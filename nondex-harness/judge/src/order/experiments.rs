//! Stores the processes of one binary: which tests ran in which order, and the run of each.
//!
//! The outcome of a test after others follows from every process that began with the same tests,
//! whatever ran after it. So one process of all tests answers for each of its prefixes.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use nondex_core::{Outcome, Source};

use crate::missing::{Missing, gather};
use crate::run::Run;
use crate::store::Store;

/// What a process runs. Tests are numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessPlan {
    /// Runs these tests in this order.
    InOrder(Vec<usize>),
    /// Runs the first test, then each of the others in a fork.
    Forked(usize, Vec<usize>),
}

impl ProcessPlan {
    /// Returns all tests of the process.
    pub fn tests(&self) -> impl Iterator<Item = usize> {
        let (first, then) = match self {
            ProcessPlan::InOrder(tests) => (None, tests),
            ProcessPlan::Forked(first, then) => (Some(*first), then),
        };
        first.into_iter().chain(then.iter().copied())
    }
}

/// Processes that must be made before a question can be answered.
pub type MissingProcesses = Missing<ProcessPlan>;

/// Maximum number of tests in a process whose output is kept. With more, it is unclear which test
/// wrote it.
const MAX_SHOWN: usize = 8;

/// Requests `times` processes that run these tests.
fn in_order(order: &[usize], times: usize, alone: bool) -> MissingProcesses {
    Missing::new(vec![ProcessPlan::InOrder(order.to_vec()); times]).alone(alone)
}

/// One process that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Tests, in the order in which they ran.
    pub tests: Vec<usize>,
    /// Runs of the tests. Tests after one that ended the process were not started and have none.
    pub runs: Vec<Arc<Run>>,
    /// Whether each of these runs passed; `None` if its outcome is [no
    /// evidence](crate::Options::passed) about the code.
    passed: Vec<Option<bool>>,
    /// Whether no other process ran at the same time.
    pub alone: bool,
    /// Tests that came next in a fork each, and whether they passed there, if that is evidence.
    forks: Option<Vec<(usize, Option<bool>)>>,
}

impl Experiment {
    /// Returns a process with these runs of its tests. `passed` returns whether a test passed in
    /// its run, if that is evidence about the code. Drops data that nothing here needs.
    pub fn new(
        tests: Vec<usize>,
        mut runs: Vec<Run>,
        alone: bool,
        passed: impl Fn(usize, &Run) -> Option<bool>,
    ) -> Self {
        let cut = runs.iter().position(Run::ends_process);
        runs.truncate(cut.map_or(runs.len(), |cut| cut + 1));
        let is_shown = tests.len() <= MAX_SHOWN;
        for run in &mut runs {
            run.output.take_if(|_| !is_shown || run.outcome.passed());
            run.written = 0;
            run.stacks.clear();
        }
        let passed = tests.iter().zip(&runs).map(|(test, run)| passed(*test, run)).collect();
        // Collected in place, the list would keep the memory of all runs.
        let mut shared = Vec::with_capacity(runs.len());
        shared.extend(runs.into_iter().map(Arc::new));
        Experiment { tests, runs: shared, passed, alone, forks: None }
    }

    /// Returns the same process with these tests in forks, and whether each passed, if that is
    /// evidence about the code.
    #[must_use]
    pub fn with_forks(self, forks: Vec<(usize, Option<bool>)>) -> Self {
        Experiment { forks: Some(forks), ..self }
    }

    /// Returns the test that exceeded its time limit.
    pub fn hung(&self) -> Option<usize> {
        let last = self.runs.last()?;
        (last.outcome == Outcome::TimedOut).then(|| self.tests[self.runs.len() - 1])
    }

    /// Returns whether this test passed, if it was started and the outcome is evidence.
    pub fn passed(&self, test: usize) -> Option<bool> {
        let place = self.tests.iter().position(|known| *known == test)?;
        *self.passed.get(place)?
    }

    /// Returns the position of the test during which the process ended; `None` if all tests ended.
    pub fn cut(&self) -> Option<usize> {
        self.runs.iter().position(|run| run.ends_process())
    }
}

/// Processes of one binary.
#[derive(Clone, Debug, Default)]
pub struct Experiments {
    /// The processes, each found by the hash of each of its beginnings.
    processes: Store<u64, Experiment>,
    /// Whether other processes run at the same time, except for requests to run alone.
    is_shared: bool,
    /// Tests that ran first in a process with forks.
    forking: HashSet<usize>,
    /// Whether a test passed in a fork after another one. This is only a hint: a fork may find
    /// files that the fork before it left in a folder.
    forked: HashMap<(usize, usize), Option<bool>>,
    /// The last run of each test, to share with equal runs.
    last: HashMap<usize, Arc<Run>>,
}

impl Experiments {
    /// Returns an empty store. Unless `is_shared`, every process counts as run alone.
    pub fn new(is_shared: bool) -> Self {
        Experiments { is_shared, ..Experiments::default() }
    }

    /// Returns whether other processes run at the same time, except for requests to run alone.
    pub const fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Adds a process that was made.
    pub fn add(&mut self, mut experiment: Experiment) {
        experiment.alone |= !self.is_shared;
        for (test, run) in experiment.tests.iter().zip(&mut experiment.runs) {
            let last = self.last.entry(*test).or_insert_with(|| Arc::clone(run));
            Run::share(run, last);
            last.clone_from(run);
        }
        if let (Some(forks), Some(&first)) = (experiment.forks.take(), experiment.tests.first()) {
            self.forking.insert(first);
            self.forked.extend(forks.into_iter().map(|(then, passed)| ((first, then), passed)));
        }
        let beginnings: Vec<u64> = beginnings(&experiment.tests).collect();
        self.processes.add(beginnings, experiment);
    }

    /// Returns whether `then` passed in a fork after `first`. Returns `None` if there was no such
    /// fork or its outcome is no evidence.
    pub fn hint(&self, first: usize, then: usize) -> Option<bool> {
        *self.forked.get(&(first, then))?
    }

    /// Requests forks of all pairs of a test of `first` and a test of `then` after it, which may be
    /// the same test.
    ///
    /// # Errors
    /// Returns the processes to make first.
    pub fn pairs(&self, first: &[usize], then: &[usize]) -> Result<(), MissingProcesses> {
        let pairs: Vec<ProcessPlan> = first
            .iter()
            .filter(|first| !self.forking.contains(first))
            .map(|first| ProcessPlan::Forked(*first, then.to_vec()))
            .collect();
        if pairs.is_empty() { Ok(()) } else { Err(Missing::new(pairs)) }
    }

    /// Returns the processes in the order in which they were made.
    pub fn made(&self) -> &[Experiment] {
        &self.processes.made
    }

    /// Returns the number of processes that were made.
    pub fn count(&self) -> usize {
        self.made().len()
    }

    /// Returns the processes that began with these tests, in the order in which they were made.
    /// Those that ran alone come first; with `alone` there are no others.
    fn beginning_with(&self, tests: &[usize], alone: bool) -> impl Iterator<Item = &Experiment> {
        let places = beginnings(tests).last().map(|beginning| self.processes.places(&beginning));
        // Different tests may have the same hash.
        let known = places
            .unwrap_or_default()
            .iter()
            .map(|place| &self.made()[*place])
            .filter(move |made| made.tests.starts_with(tests));
        let of_others = known.clone().filter(move |made| !made.alone && !alone);
        known.filter(|made| made.alone).chain(of_others)
    }

    /// Returns the first `times` processes in which `test` came after the tests `before` it. With
    /// `alone`, only processes that ran alone count.
    ///
    /// # Errors
    /// Returns the processes to make first.
    fn repeat(
        &self,
        before: &[usize],
        test: usize,
        times: usize,
        alone: bool,
    ) -> Result<Vec<&Experiment>, MissingProcesses> {
        let order = [before, &[test]].concat();
        let made: Vec<_> = self.beginning_with(&order, alone).take(times).collect();
        match times - made.len() {
            0 => Ok(made),
            missing => Err(in_order(&order, missing, alone)),
        }
    }

    /// Returns the runs of `test` after the tests `before` it in the first `times` processes;
    /// `None` where it was not started. With `alone`, only processes that ran alone count.
    ///
    /// # Errors
    /// Returns the processes to make first.
    pub fn runs(
        &self,
        before: &[usize],
        test: usize,
        times: usize,
        alone: bool,
    ) -> Result<Vec<Option<&Arc<Run>>>, MissingProcesses> {
        let made = self.repeat(before, test, times, alone)?.into_iter();
        Ok(made.map(|made| made.runs.get(before.len())).collect())
    }

    /// Returns whether `test` passed in the [runs](Self::runs); `None` where it was not started or
    /// its outcome is no evidence.
    ///
    /// # Errors
    /// Returns the processes to make first.
    pub fn passed(
        &self,
        before: &[usize],
        test: usize,
        times: usize,
        alone: bool,
    ) -> Result<Vec<Option<bool>>, MissingProcesses> {
        let made = self.repeat(before, test, times, alone)?.into_iter();
        Ok(made.map(|made| made.passed.get(before.len()).copied().flatten()).collect())
    }

    /// Returns the first process that ran exactly these tests or began with them. If a test ended
    /// the process while others ran, the process only counts if the test also did so alone: it may
    /// have collided with another process, for instance over a port.
    ///
    /// # Errors
    /// Returns the process to make first.
    pub fn first(&self, tests: &[usize]) -> Result<&Experiment, MissingProcesses> {
        let first = |alone| {
            self.beginning_with(tests, alone).next().ok_or_else(|| in_order(tests, 1, alone))
        };
        let made = first(false)?;
        let is_doubtful = |cut: usize| {
            let test = made.tests[cut];
            let mut known = self.made().iter().filter(|made| made.alone);
            cut < tests.len()
                && !known.any(|known| known.cut().is_some_and(|cut| known.tests[cut] == test))
        };
        match made.cut() {
            Some(cut) if !made.alone && is_doubtful(cut) => first(true),
            _ => Ok(made),
        }
    }

    /// Requests the [first](Self::first) process of each of these orders.
    ///
    /// # Errors
    /// Returns the processes to make first.
    pub fn each<O: AsRef<[usize]>>(
        &self,
        orders: impl IntoIterator<Item = O>,
    ) -> Result<(), MissingProcesses> {
        gather(orders.into_iter().map(|order| self.first(order.as_ref()))).map(|_| ())
    }

    /// Returns whether the last run of a test used this source.
    pub fn uses(&self, test: usize, source: Source) -> bool {
        self.last.get(&test).is_some_and(|run| run.sources.contains(&source))
    }

    /// Returns the first known failure of `test` after these tests.
    pub fn failing(&self, before: &[usize], test: usize) -> Option<&Run> {
        let order = [before, &[test]].concat();
        let made = self.beginning_with(&order, false);
        let mut runs = made.filter_map(|made| made.runs.get(before.len()).map(|run| &**run));
        runs.find(|run| !run.passed())
    }

    /// Returns the fewest tests after which `test` passed, or failed if not `passed`. Prefers
    /// processes that ran alone.
    pub fn before(&self, test: usize, passed: bool) -> Option<&[usize]> {
        let has_outcome = |made: &&Experiment| made.passed(test) == Some(passed);
        let before = |made: &'_ Experiment| made.tests.iter().position(|known| *known == test);
        let wanted = self.made().iter().filter(has_outcome);
        let fewest = wanted.min_by_key(|made| (!made.alone, before(made)))?;
        Some(&fewest.tests[..before(fewest)?])
    }

    /// Returns the tests of `among` that passed in some process and failed in another.
    pub fn suspects(&self, among: &[usize]) -> Vec<usize> {
        let mut ends: HashMap<usize, HashSet<bool>> = HashMap::new();
        for made in self.made() {
            for (test, passed) in made.tests.iter().zip(&made.passed) {
                ends.entry(*test).or_default().extend(*passed);
            }
        }
        let both = |test: &usize| ends.get(test).is_some_and(|ends| ends.len() > 1);
        among.iter().copied().filter(both).collect()
    }

    /// Returns how often a test failed after these tests, and in how many processes it ran. The
    /// first pair counts processes that ran together with others, the second pair those that ran
    /// alone.
    pub fn failures_after(&self, before: &[usize], test: usize) -> [[usize; 2]; 2] {
        let order = [before, &[test]].concat();
        [false, true].map(|alone| {
            let made = self.beginning_with(&order, false).filter(|made| made.alone == alone);
            counted(made.filter_map(|made| *made.passed.get(before.len())?))
        })
    }

    /// Returns the same numbers as [`failures_after`](Self::failures_after), for any tests before
    /// it.
    pub fn failures(&self, test: usize) -> [[usize; 2]; 2] {
        [false, true].map(|alone| {
            let made = self.made().iter().filter(|made| made.alone == alone);
            counted(made.filter_map(|made| made.passed(test)))
        })
    }

    /// Returns how often a test failed in forks after other tests, and in how many forks it ran.
    pub fn failures_in_forks(&self, test: usize) -> [usize; 2] {
        let forks = self.forked.iter().filter(|((first, then), _)| *then == test && *first != test);
        counted(forks.filter_map(|(_, passed)| *passed))
    }
}

/// Returns a hash of each beginning of these tests, the shortest one first.
fn beginnings(tests: &[usize]) -> impl Iterator<Item = u64> + Clone {
    tests.iter().scan(DefaultHasher::new(), |hasher, test| {
        test.hash(hasher);
        Some(hasher.finish())
    })
}

/// Returns the number of failures and the number of all results.
fn counted(passed: impl Iterator<Item = bool>) -> [usize; 2] {
    passed.fold([0, 0], |[failed, all], passed| [failed + usize::from(!passed), all + 1])
}

#[cfg(test)]
mod tests;
