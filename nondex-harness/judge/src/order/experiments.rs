//! The processes of one binary: which tests ran in which order, and how each ended.
//!
//! How a test ended after others is known from every process that began with the same tests,
//! whatever ran after it: one process of all tests answers for each of its beginnings.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use nondex_core::{Failure, Outcome};

use crate::missing::{Missing, gather};
use crate::prerequisite::Explanation;

/// What a process is to run, its tests by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessPlan {
    /// These tests, in this order.
    InOrder(Vec<usize>),
    /// The first test, and a fork for each of the others.
    Forked(usize, Vec<usize>),
}

impl ProcessPlan {
    /// All its tests.
    pub fn tests(&self) -> impl Iterator<Item = usize> {
        let (first, then) = match self {
            ProcessPlan::InOrder(tests) => (None, tests),
            ProcessPlan::Forked(first, then) => (Some(*first), then),
        };
        first.into_iter().chain(then.iter().copied())
    }
}

/// The processes that must be made before a question can be answered.
pub type MissingProcesses = Missing<ProcessPlan>;

/// So many processes that run these tests.
fn in_order(order: &[usize], times: usize, alone: bool) -> MissingProcesses {
    Missing::new(vec![ProcessPlan::InOrder(order.to_vec()); times]).alone(alone)
}

/// How one test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// How.
    pub outcome: Outcome,
    /// Why, if it failed.
    pub failure: Option<Failure>,
    /// What the process wrote, if it is kept.
    pub output: Option<String>,
    /// What the machine lacks, so that the failure is no evidence about the code.
    pub explanation: Option<Explanation>,
    /// Whether it reached a choice point, so that another seed may change what it does.
    pub has_choices: bool,
}

impl End {
    /// Whether it passed; `None` when that is no evidence about the code.
    pub const fn passed(&self) -> Option<bool> {
        match self.explanation {
            Some(_) => None,
            None => Some(self.outcome.passed()),
        }
    }

    /// Whether the process ended before the test did.
    pub const fn ends_process(&self) -> bool {
        !matches!(self.outcome, Outcome::Passed | Outcome::Failed)
    }
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Its tests, in the order in which they ran.
    pub tests: Vec<usize>,
    /// How they ended. Those after one that ended the process were not started, and have none.
    pub ends: Vec<End>,
    /// Whether no other process ran meanwhile.
    pub alone: bool,
}

impl Experiment {
    /// The test that did not end in its time.
    pub fn hung(&self) -> Option<usize> {
        let last = self.ends.last()?;
        (last.outcome == Outcome::TimedOut).then(|| self.tests[self.ends.len() - 1])
    }

    /// How this test ended, if it was started.
    pub fn end_of(&self, test: usize) -> Option<&End> {
        let place = self.tests.iter().position(|known| *known == test)?;
        self.ends.get(place)
    }

    /// The position of the test that ended the process before it ended itself; `None` when all
    /// tests ended.
    pub fn cut(&self) -> Option<usize> {
        self.ends.iter().position(End::ends_process)
    }
}

/// All processes of one binary.
#[derive(Clone, Debug, Default)]
pub struct Experiments {
    made: Vec<Experiment>,
    /// The processes that begin with the tests of this hash.
    beginnings: HashMap<u64, Vec<usize>>,
    /// Whether others run at the same time, unless that is not wanted.
    is_shared: bool,
    /// The tests that ran first in a process with forks.
    forking: HashSet<usize>,
    /// How a test ended in a fork after another one. A fork may find what the one before it left in
    /// a folder: it is a hint only.
    forked: HashMap<(usize, usize), Option<bool>>,
}

impl Experiments {
    /// None yet. Unless processes run at once, each is made alone.
    pub fn new(is_shared: bool) -> Self {
        Experiments { is_shared, ..Experiments::default() }
    }

    /// Whether others run at the same time, unless that is not wanted.
    pub const fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Adds a process that was made.
    pub fn add(&mut self, mut experiment: Experiment) {
        experiment.alone |= !self.is_shared;
        let number = self.made.len();
        let mut hasher = DefaultHasher::new();
        for test in &experiment.tests {
            test.hash(&mut hasher);
            self.beginnings.entry(hasher.finish()).or_default().push(number);
        }
        self.made.push(experiment);
    }

    /// Adds the results of the forks of a process, after the process itself: how each test ended
    /// that came next, if it was forked for.
    pub fn add_forks(
        &mut self,
        first: usize,
        forks: impl IntoIterator<Item = (usize, Option<End>)>,
    ) {
        self.forking.insert(first);
        for (then, end) in forks {
            if let Some(end) = end {
                self.forked.insert((first, then), end.passed());
            }
        }
    }

    /// Whether `then` passed in a fork after `first`; `None` when there was none, or its end is no
    /// evidence.
    pub fn hint(&self, first: usize, then: usize) -> Option<bool> {
        *self.forked.get(&(first, then))?
    }

    /// How many forks were made.
    pub fn forks(&self) -> usize {
        self.forked.len()
    }

    /// All pairs of one of `first` and one of `then` after it, which may be the same, in forks.
    ///
    /// # Errors
    /// The processes to make first.
    pub fn pairs(&self, first: &[usize], then: &[usize]) -> Result<(), MissingProcesses> {
        let missing = first.iter().filter(|first| !self.forking.contains(first));
        let pairs = missing.map(|first| ProcessPlan::Forked(*first, then.to_vec()));
        let pairs: Vec<ProcessPlan> = pairs.collect();
        if pairs.is_empty() { Ok(()) } else { Err(Missing::new(pairs)) }
    }

    /// The processes, in the order in which they were made.
    pub fn made(&self) -> &[Experiment] {
        &self.made
    }

    /// How many processes were made.
    pub fn count(&self) -> usize {
        self.made.len()
    }

    /// The processes that began with these tests, in the order in which they were made; first those
    /// during which no other ran.
    fn beginning_with(&self, tests: &[usize], alone: bool) -> impl Iterator<Item = &Experiment> {
        let mut hasher = DefaultHasher::new();
        tests.iter().for_each(|test| test.hash(&mut hasher));
        let known = self.beginnings.get(&hasher.finish()).into_iter().flatten();
        let known = known.map(|number| &self.made[*number]);
        let known = known.filter(move |made| made.tests.starts_with(tests));
        let of_others = known.clone().filter(move |made| !made.alone && !alone);
        known.filter(|made| made.alone).chain(of_others)
    }

    /// How `test` ended after the tests `before` it, in the first `times` processes; `None` where
    /// it was not started. With `alone`, in those during which no other process ran.
    ///
    /// # Errors
    /// The processes to make first.
    pub fn ends(
        &self,
        before: &[usize],
        test: usize,
        times: usize,
        alone: bool,
    ) -> Result<Vec<Option<&End>>, MissingProcesses> {
        let order = [before, &[test]].concat();
        let made = self.beginning_with(&order, alone).take(times);
        let ends: Vec<Option<&End>> = made.map(|made| made.ends.get(before.len())).collect();
        match times - ends.len() {
            0 => Ok(ends),
            missing => Err(in_order(&order, missing, alone)),
        }
    }

    /// The first process that ran exactly these tests, or began with them. One in which a test
    /// ended the process while others ran counts only once that test was seen to do so alone: it
    /// may have met the other's port.
    ///
    /// # Errors
    /// That process.
    pub fn first(&self, tests: &[usize]) -> Result<&Experiment, MissingProcesses> {
        let first = |alone| {
            self.beginning_with(tests, alone).next().ok_or_else(|| in_order(tests, 1, alone))
        };
        let made = first(false)?;
        let is_doubtful = |cut: usize| {
            let test = made.tests[cut];
            let mut known = self.made.iter().filter(|made| made.alone);
            cut < tests.len()
                && !known.any(|known| known.cut().is_some_and(|cut| known.tests[cut] == test))
        };
        match made.cut() {
            Some(cut) if !made.alone && is_doubtful(cut) => first(true),
            _ => Ok(made),
        }
    }

    /// Asks for the [first](Self::first) process of each of these orders.
    ///
    /// # Errors
    /// Those that were not made.
    pub fn each<O: AsRef<[usize]>>(
        &self,
        orders: impl IntoIterator<Item = O>,
    ) -> Result<(), MissingProcesses> {
        gather(orders.into_iter().map(|order| self.first(order.as_ref()))).map(|_| ())
    }

    /// The first failing end of `test` after these tests that is known.
    pub fn failing(&self, before: &[usize], test: usize) -> Option<&End> {
        let order = [before, &[test]].concat();
        let made = self.beginning_with(&order, false);
        made.filter_map(|made| made.ends.get(before.len())).find(|end| !end.outcome.passed())
    }

    /// The fewest tests after which `test` passed, or else failed; of processes during which no
    /// other ran, if there are such.
    pub fn before(&self, test: usize, passed: bool) -> Option<&[usize]> {
        let made = self.made.iter();
        let made = made.filter(|made| made.end_of(test).and_then(End::passed) == Some(passed));
        let before = |made: &'_ Experiment| made.tests.iter().position(|known| *known == test);
        let fewest = made.min_by_key(|made| (!made.alone, before(made)))?;
        Some(&fewest.tests[..before(fewest)?])
    }

    /// The tests of `among` that passed in some process and failed in another one, whatever they
    /// were made for.
    pub fn suspects(&self, among: &[usize]) -> Vec<usize> {
        let mut ends: HashMap<usize, HashSet<bool>> = HashMap::new();
        for made in &self.made {
            for (test, end) in made.tests.iter().zip(&made.ends) {
                ends.entry(*test).or_default().extend(end.passed());
            }
        }
        let both = |test: &usize| ends.get(test).is_some_and(|ends| ends.len() > 1);
        among.iter().copied().filter(both).collect()
    }

    /// How often a test failed after these tests, of how many processes: first of those during
    /// which others ran, then of those during which none did.
    pub fn failures_after(&self, before: &[usize], test: usize) -> [[usize; 2]; 2] {
        let order = [before, &[test]].concat();
        let end = |made: &'_ Experiment| made.ends.get(before.len()).and_then(End::passed);
        [false, true].map(|alone| {
            let made = self.beginning_with(&order, false);
            counted(made.filter(|made| made.alone == alone).filter_map(end))
        })
    }

    /// The same, whatever came before it.
    pub fn failures(&self, test: usize) -> [[usize; 2]; 2] {
        let end = |made: &Experiment| made.end_of(test).and_then(End::passed);
        [false, true].map(|alone| {
            let made = self.made.iter();
            counted(made.filter(|made| made.alone == alone).filter_map(end))
        })
    }

    /// The same in forks after other tests.
    pub fn failures_in_forks(&self, test: usize) -> [usize; 2] {
        let forks = self.forked.iter().filter(|((first, then), _)| *then == test && *first != test);
        counted(forks.filter_map(|(_, passed)| *passed))
    }
}

/// How many of these did not pass, and how many there are.
fn counted(passed: impl Iterator<Item = bool>) -> [usize; 2] {
    passed.fold([0, 0], |[failed, all], passed| [failed + usize::from(!passed), all + 1])
}

#[cfg(test)]
mod tests;
