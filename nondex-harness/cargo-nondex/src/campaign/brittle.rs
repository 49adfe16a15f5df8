//! Checks whether a test that fails alone passes after the other tests of its binary.
//!
//! A test that fails in its clean runs may need something that another test leaves. `cargo test`
//! passes then. So before the test is called broken, all tests of its binary run in one process, in
//! libtest's order. If it fails there too, they run in the reverse order, so that every other test
//! has run before it once. This takes two processes for all such tests of a binary.
//!
//! In both orders, a third test may undo the effect of the second one. So a test that fails in both
//! runs right after each other test, in a fork, which takes one process for each other test. If it
//! still fails, it runs after beginnings of both orders.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nondex_core::Outcome;

use super::order::{ProcessContext, Processes};
use crate::judge::order::experiments::{Experiment, Experiments};
use crate::judge::order::{
    self, Detection, MAX_BEGINNINGS, OrderConclusion, SearchLimits, beginnings, conclude, detect,
    pairs,
};
use crate::judge::patience::once_hung;
use crate::judge::{Run, deadlock};
use crate::project::{Harness, Suite, TestCase};

/// Number of times that a test must fail alone, and pass after the tests that it needs, before it
/// is called brittle.
const RERUNS: usize = 5;

/// Maximum total duration of running each other test and then the failing tests right after it.
/// Failing tests beyond this limit are not tried.
const MAX_PAIRS: Duration = Duration::from_secs(60);

/// Returns whether there are tests that can run before `case` in its process.
pub fn has_others(suite: &Suite, case: &TestCase) -> bool {
    let mut others = suite.tests.iter();
    suite.binary.harness == Harness::Nondex
        && others.any(|other| other.name != case.name && other.runs_with_others())
}

/// Runs the tests `broken` of one binary, which fail alone, after its other tests. Returns the
/// result of each, or `None` if the search was stopped. `clean` returns the first clean run of a
/// test of the campaign, if that was made. `hangs` returns whether a test is known to
/// [hang](crate::judge::isolation::Runs::hang).
pub(super) fn run(
    context: &ProcessContext<'_>,
    suite: &Suite,
    broken: &[&TestCase],
    clean: &dyn Fn(&TestCase) -> Option<Run>,
    hangs: &dyn Fn(&TestCase) -> bool,
) -> Option<Vec<order::AfterOthers>> {
    let is_broken = |case: &TestCase| broken.iter().any(|broken| broken.name == case.name);
    let tests: Vec<&TestCase> =
        suite.tests.iter().filter(|case| case.runs_with_others() || is_broken(case)).collect();
    let names: Arc<[String]> = tests.iter().map(|case| case.name.clone()).collect();
    let place = |case: &&TestCase| names.iter().position(|name| *name == case.name);
    let failing: Vec<usize> = broken.iter().filter_map(place).collect();
    let known: Vec<Option<Run>> = tests.iter().map(|case| clean(case)).collect();
    let mut runs = failing.iter().filter_map(|test| known[*test].as_ref());
    let limits = if runs.all(deadlock::has_no_end) {
        known.iter().map(|run| deadlock::limit_together(run.as_ref())).collect()
    } else {
        let longest = known
            .iter()
            .flatten()
            .filter(|run| run.outcome != Outcome::TimedOut)
            .map(|run| run.took)
            .max()
            .unwrap_or_default();
        let short = once_hung(context.options.timeout, longest);
        // A test that was not selected may hang, too.
        let limit = |(case, known): (&&TestCase, &Option<Run>)| {
            if known.is_none() || hangs(case) { short } else { Duration::MAX }
        };
        tests.iter().zip(&known).map(limit).collect()
    };
    let processes = Processes::new(context, suite, tests).within(limits);
    let mut search = Search {
        processes: &processes,
        number: names.len(),
        failing: &failing,
        experiments: Experiments::new(context.options.jobs.get() > 1),
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
    let after = failing.iter().enumerate().map(|(number, test)| order::AfterOthers {
        conclusion: found.get(test).cloned().unwrap_or(OrderConclusion::Unknown),
        names: Arc::clone(&names),
        is_paired: !search.unpaired.contains(test),
        // The processes ran all tests together. Only the first result has their number, so that
        // the sum is right.
        processes: if number == 0 { processes.started() } else { 0 },
    });
    Some(after.collect())
}

/// State of the search in one binary. Tests are indices into its list of names.
struct Search<'a> {
    processes: &'a Processes<'a>,
    /// Number of tests of the binary.
    number: usize,
    /// Tests that fail alone.
    failing: &'a [usize],
    experiments: Experiments,
    /// Tests that end the process or take too long in it.
    ending: Vec<usize>,
    /// Duration of each test of `failing` alone, except those that hang.
    took: BTreeMap<usize, Duration>,
    /// Tests of `failing` that could not be tried after each other test.
    unpaired: Vec<usize>,
}

impl Search<'_> {
    /// Records what the clean run of a test shows.
    fn learn(&mut self, test: usize, run: Run) {
        if self.failing.contains(&test) {
            // The run is not added as an experiment, because earlier runs may have left files in
            // the folder for temporary files. If the test passes after others, it is run alone
            // again with an empty folder. With real threads, a deadlock never ends, and a long
            // sleep takes all its time.
            let is_proven = deadlock::has_no_end(&run);
            if is_proven || !matches!(run.outcome, Outcome::Failed) {
                self.ending.push(test);
            }
            // A test that hangs may do so after each other test too, up to the time limit.
            if !is_proven && run.outcome != Outcome::TimedOut {
                self.took.insert(test, run.took);
            }
            return;
        }
        let is_too_long = run.oversleeps();
        let experiment = self.processes.made(vec![test], vec![run], false);
        if is_too_long || experiment.cut().is_some() {
            self.ending.push(test);
        }
        self.experiments.add(experiment);
    }

    /// Runs the tests in orders until each of `failing` has passed, or no affordable order is left.
    /// Returns `None` if the search was stopped.
    fn detect(&mut self) -> Option<Detection> {
        let (processes, failing) = (self.processes, self.failing);
        let original: Vec<usize> = (0..self.number).collect();
        let reverse: Vec<usize> = original.iter().rev().copied().collect();
        let begun = Instant::now();
        let mut detection = processes.answer(&mut self.experiments, |experiments| {
            detect(std::slice::from_ref(&original), &self.ending, experiments)
        })?;
        // A test that hung would do so in each further order.
        let hung: Vec<usize> =
            self.experiments.made().iter().filter_map(Experiment::hung).collect();
        let ending = &self.ending;
        let ends = |test: &usize| ending.contains(test) || hung.contains(test);
        let others: Vec<usize> = (0..self.number).filter(|test| !ends(test)).collect();
        if !failing.iter().all(|test| detection.has_passed(*test, &self.experiments)) {
            let without_hung = |mut order: Vec<usize>| {
                order.retain(|test| !hung.contains(test));
                order
            };
            let planned = [original, reverse].map(without_hung);
            detection = processes.answer(&mut self.experiments, |experiments| {
                detect(&planned, ending, experiments)
            })?;
        }
        // Each order runs every test once, with real threads and in real time.
        let both = begun.elapsed();
        let mut room = MAX_PAIRS.saturating_sub(both);
        let mut is_paired = |test: &usize| {
            let number = u32::try_from(self.number).unwrap_or(u32::MAX);
            let own = self.took.get(test).map(|own| own.saturating_mul(number));
            let left = own.and_then(|own| room.checked_sub(own));
            room = left.unwrap_or(room);
            left.is_some()
        };
        let (left, unpaired): (Vec<usize>, Vec<usize>) = failing
            .iter()
            .copied()
            .filter(|test| !detection.has_passed(*test, &self.experiments))
            .partition(&mut is_paired);
        self.unpaired = unpaired;
        if !left.is_empty() {
            let (found, _) = processes
                .answer(&mut self.experiments, |experiments| pairs(&others, &left, experiments))?;
            detection.orders.extend(found);
        }
        let fails = |test: &usize| !ends(test) && !detection.has_passed(*test, &self.experiments);
        let last: Vec<usize> = left.into_iter().filter(fails).collect();
        // Two beginnings whose lengths add up to all tests take as long as one order.
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

    /// Returns the conclusion about each of `failing` that passed in some order. Returns `None` if
    /// the search was stopped.
    fn conclude(&mut self, detection: &Detection) -> Option<BTreeMap<usize, OrderConclusion>> {
        let (failing, number) = (self.failing, self.number);
        let limits = SearchLimits {
            reruns: RERUNS,
            questions: self.processes.context.options.search_runs,
            has_pairs: false,
        };
        self.processes.answer(&mut self.experiments, |experiments| {
            let passes = |test: &usize| detection.has_passed(*test, experiments);
            let suspects: Vec<usize> = failing.iter().copied().filter(passes).collect();
            let concluded = conclude(&suspects, number, detection, &limits, experiments)?;
            Ok(suspects.into_iter().zip(concluded).collect())
        })
    }
}
