//! Whether a test that fails alone passes after the other tests of its binary.
//!
//! A test that fails in its clean runs may need what another test leaves: `cargo test` passes then.
//! So before it is called broken, all tests of its binary are run in one process, in libtest's
//! order. Where it fails there, too, they run in the reverse of it, so that every other test was
//! once before it: two processes for all such tests of a binary. A third test may undo in both what
//! the second has done. So where it fails in both, it is run right after each other test, in a
//! fork: a process for each; and after each beginning of both orders.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::launch::Launcher;
use super::order::{Hung, Processes};
use super::progress::Progress;
use super::stop::StopFlag;
use super::tree::Tree;
use nondex_core::Outcome;

use crate::judge::Options;
use crate::judge::deadlock;
use crate::judge::order::experiments::{Experiment, Experiments};
use crate::judge::order::{
    self, Detection, Limits, MAX_BEGINNINGS, OrderConclusion, beginnings, conclude, detect, pairs,
};
use crate::judge::patience::once_hung;
use crate::judge::run::Run;
use crate::project::{Harness, Suite, TestCase};

/// How often a test must fail alone, and pass after those that it needs, before it is called
/// brittle.
const RERUNS: usize = 5;

/// Running each other test, and then these right after it, may take this long together; for the
/// tests beyond it is not done.
const MAX_PAIRS: Duration = Duration::from_secs(60);

/// Whether there are tests that can run before `case` in its process.
pub fn has_others(suite: &Suite, case: &TestCase) -> bool {
    let mut others = suite.tests.iter();
    suite.binary.harness == Harness::Nondex
        && others.any(|other| other.name != case.name && !other.ignored)
}

/// Runs tests after others.
pub(super) struct BrittleSearch<'a> {
    pub(super) launcher: &'a Launcher<'a>,
    pub(super) options: &'a Options,
    pub(super) progress: &'a dyn Progress,
    pub(super) stop: &'a StopFlag,
}

impl BrittleSearch<'_> {
    /// Runs these tests of one binary, which fail alone, after its others: the result of each,
    /// unless it was stopped. `clean` has the first clean run of each test of the campaign that was
    /// made, and `hangs` is whether one is known to [hang](crate::judge::isolation::Runs::hang).
    pub(super) fn run(
        &self,
        suite: &Suite,
        broken: &[&TestCase],
        clean: &dyn Fn(&TestCase) -> Option<Run>,
        hangs: &dyn Fn(&TestCase) -> bool,
    ) -> Option<Vec<order::AfterOthers>> {
        let is_broken = |case: &TestCase| broken.iter().any(|broken| broken.name == case.name);
        let tests: Vec<&TestCase> =
            suite.tests.iter().filter(|case| !case.ignored || is_broken(case)).collect();
        let names: Arc<[String]> = tests.iter().map(|case| case.name.clone()).collect();
        let place = |case: &&TestCase| names.iter().position(|name| *name == case.name);
        let asked: Vec<usize> = broken.iter().filter_map(place).collect();
        let known: Vec<Option<Run>> = tests.iter().map(|case| clean(case)).collect();
        let mut runs = asked.iter().filter_map(|test| known[*test].as_ref());
        let limits = if runs.all(deadlock::has_no_end) {
            known.iter().map(|run| deadlock::limit_together(run.as_ref())).collect()
        } else {
            let longest = known.iter().flatten().filter(|run| run.outcome != Outcome::TimedOut);
            let longest = longest.map(|run| run.took).max().unwrap_or_default();
            let short = once_hung(self.options.timeout, longest);
            let limit = |case: &&TestCase| if hangs(case) { short } else { Duration::MAX };
            tests.iter().map(limit).collect()
        };
        let tree = Tree::none();
        let processes = Processes {
            tree: &tree,
            launcher: self.launcher,
            suite,
            tests,
            unstarted: Mutex::default(),
            drawn: None,
            hung: Hung::default(),
            started: Arc::default(),
            options: self.options,
            limits,
            progress: self.progress,
            stop: self.stop,
        };
        let mut search = Search {
            processes: &processes,
            number: names.len(),
            asked: &asked,
            experiments: Experiments::new(self.options.jobs.get() > 1),
            ending: Vec::new(),
            took: BTreeMap::new(),
            unpaired: Vec::new(),
        };
        for (test, run) in known.into_iter().enumerate() {
            if let Some(run) = run {
                search.learn(test, run);
            }
        }
        let detection = search.detect()?;
        let found = search.conclude(&detection)?;
        let after = asked.iter().enumerate().map(|(number, test)| order::AfterOthers {
            conclusion: found.get(test).cloned().unwrap_or(OrderConclusion::Unknown),
            names: Arc::clone(&names),
            is_paired: !search.unpaired.contains(test),
            // They are the price of all; the first one has them, for the sum to be right.
            processes: if number == 0 { processes.started() } else { 0 },
        });
        Some(after.collect())
    }
}

/// The search in one binary. Tests are places in its list of names.
struct Search<'a> {
    processes: &'a Processes<'a>,
    /// How many tests the binary has.
    number: usize,
    /// The tests that fail alone.
    asked: &'a [usize],
    experiments: Experiments,
    /// The tests that end the process.
    ending: Vec<usize>,
    /// How long each of `asked` takes alone, of those that come to an end.
    took: BTreeMap<usize, Duration>,
    /// Those of `asked` that could not be tried after each other test.
    unpaired: Vec<usize>,
}

impl Search<'_> {
    /// Takes what the clean run of a test shows.
    fn learn(&mut self, test: usize, run: Run) {
        if self.asked.contains(&test) {
            // What it finds in a folder for temporary files may come from earlier runs: it is run
            // again with an empty one, if it passes after others. With real threads a deadlock does
            // not end, nor does a long sleep.
            let is_proven = deadlock::has_no_end(&run);
            if is_proven || !matches!(run.outcome, Outcome::Failed) {
                self.ending.push(test);
            }
            // One that hangs may do so right after each other test, up to the whole limit.
            if !is_proven && run.outcome != Outcome::TimedOut {
                self.took.insert(test, run.took);
            }
            return;
        }
        let is_too_long = run.oversleeps();
        let experiment = Experiment {
            tests: vec![test],
            ends: vec![self.processes.end(test, run, false)],
            alone: false,
        };
        if is_too_long || experiment.cut().is_some() {
            self.ending.push(test);
        }
        self.experiments.add(experiment);
    }

    /// Runs the tests in orders until each of `asked` has passed, or there are no further ones that
    /// it may take the time for. `None` if it was stopped.
    fn detect(&mut self) -> Option<Detection> {
        let (processes, asked, ending) = (self.processes, self.asked, &self.ending);
        let original: Vec<usize> = (0..self.number).collect();
        let reverse: Vec<usize> = original.iter().rev().copied().collect();
        let ends = |test: &usize| ending.contains(test);
        let others: Vec<usize> = (0..self.number).filter(|test| !ends(test)).collect();
        let begun = Instant::now();
        let mut detection = processes.answer(&mut self.experiments, |experiments| {
            let detection = detect(std::slice::from_ref(&original), ending, experiments)?;
            let mut all = asked.iter();
            if all.all(|test| detection.has_passed(*test, experiments)) {
                return Ok(detection);
            }
            detect(&[original.clone(), reverse.clone()], ending, experiments)
        })?;
        // The orders have every test once, with real threads and in real time.
        let both = begun.elapsed();
        let mut room = MAX_PAIRS.saturating_sub(both);
        let mut is_paired = |test: &usize| {
            let number = u32::try_from(self.number).unwrap_or(u32::MAX);
            let own = self.took.get(test).map(|own| own.saturating_mul(number));
            let left = own.and_then(|own| room.checked_sub(own));
            room = left.unwrap_or(room);
            left.is_some()
        };
        let left = asked.iter().copied();
        let left = left.filter(|test| !detection.has_passed(*test, &self.experiments));
        let (left, unpaired): (Vec<usize>, Vec<usize>) = left.partition(&mut is_paired);
        self.unpaired = unpaired;
        if !left.is_empty() {
            let (found, _) = processes
                .answer(&mut self.experiments, |experiments| pairs(&others, &left, experiments))?;
            detection.orders.extend(found);
        }
        let fails = |test: &usize| !ends(test) && !detection.has_passed(*test, &self.experiments);
        let last: Vec<usize> = left.into_iter().filter(fails).collect();
        // Two beginnings of complementary length take as long as one order.
        let number = u32::try_from(others.len().min(MAX_BEGINNINGS)).unwrap_or(u32::MAX);
        if (both / 2).saturating_mul(number) > room {
            self.unpaired.extend(last);
        } else if !last.is_empty() {
            let found = processes.answer(&mut self.experiments, |experiments| {
                beginnings(&others, &last, experiments)
            })?;
            detection.orders.extend(found);
        }
        Some(detection)
    }

    /// What decides of each of `asked` that passed in some order. `None` if it was stopped.
    fn conclude(&mut self, detection: &Detection) -> Option<BTreeMap<usize, OrderConclusion>> {
        let (asked, number) = (self.asked, self.number);
        let limits = Limits {
            reruns: RERUNS,
            questions: self.processes.options.search_runs,
            has_pairs: false,
        };
        self.processes.answer(&mut self.experiments, |experiments| {
            let passes = |test: &usize| detection.has_passed(*test, experiments);
            let suspects: Vec<usize> = asked.iter().copied().filter(passes).collect();
            let concluded = conclude(&suspects, number, detection, &limits, experiments)?;
            Ok(suspects.into_iter().zip(concluded).collect())
        })
    }
}
