//! Tests whose outcome depends on choices or chance, not on the tests before them.

use std::collections::BTreeMap;
use std::sync::Arc;

use nondex_core::Level;

use crate::campaign::order::Processes;
use crate::judge::Run;
use crate::judge::order::draws::{MORE_SEEDS, SEEDS};
use crate::judge::order::experiments::MissingProcesses;
use crate::judge::order::{Draws, Experiments, OrderDependence, draws};

/// Number of times that a test must fail under a seed after the others, and pass alone.
pub(super) const REPETITIONS: usize = 3;

/// A test that both passes and fails alone: it depends on choices or chance, not on earlier tests.
pub(super) struct Chance {
    pub(super) test: usize,
    /// Whether choices decide: the test always has the same outcome under the same seed.
    pub(super) is_chosen: bool,
    /// Number of seeds under which the test fails alone, and of all seeds that were tried.
    pub(super) failures: [u64; 2],
    /// First seed under which choices make it fail alone; `None` if it fails in canonical order.
    pub(super) seed: Option<u64>,
    /// A run in which it fails.
    pub(super) run: Option<Run>,
}

/// The processes of one binary under each seed, and their results.
pub(super) struct SeededProcesses<'p, 'a> {
    pub(super) processes: &'p Processes<'a>,
    /// Results of the processes in canonical order.
    pub(super) canonical: &'p Experiments,
    made: BTreeMap<(Level, u64), Experiments>,
}

impl<'p, 'a> SeededProcesses<'p, 'a> {
    pub(super) const fn new(processes: &'p Processes<'a>, canonical: &'p Experiments) -> Self {
        SeededProcesses { processes, canonical, made: BTreeMap::new() }
    }

    /// Returns the answer of processes under a seed at `STD`; `None` when stopped.
    fn answer<T>(
        &mut self,
        seed: u64,
        question: impl Fn(&Experiments) -> Result<T, MissingProcesses>,
    ) -> Option<T> {
        let drawn = self.processes.with_choices(Level::Std, seed);
        drawn.answer(self.experiments(Level::Std, seed), question)
    }

    /// Returns the results of the processes under a seed.
    pub(super) fn experiments(&mut self, level: Level, seed: u64) -> &mut Experiments {
        let is_shared = self.processes.context.options.jobs.get() > 1;
        self.made.entry((level, seed)).or_insert_with(|| Experiments::new(is_shared))
    }

    /// Returns the run of a test after these tests under each of the seeds that were tried.
    fn runs(&self, before: &[usize], test: usize) -> impl Iterator<Item = (u64, &Arc<Run>)> {
        let made = self.made.iter().filter(|((level, _), _)| *level == Level::Std);
        made.filter_map(move |((_, seed), experiments)| {
            Some((*seed, experiments.runs(before, test, 1, false).ok()?[0]?))
        })
    }

    /// Returns the number of seeds under which a test had this outcome after these tests, and of
    /// all.
    fn count_of(&self, before: &[usize], test: usize, passes: bool) -> [u64; 2] {
        let runs = self.runs(before, test);
        let known = runs.filter_map(|(_, run)| self.processes.passed(test, run));
        known.fold([0, 0], |[count, all], passed| [count + u64::from(passed == passes), all + 1])
    }

    /// Runs each suspect that reaches choices alone and after its tests, under several seeds.
    /// Returns those that both pass and fail alone.
    pub(super) fn drawn(&mut self, suspects: &[(usize, OrderDependence)]) -> Vec<Chance> {
        let has_choices = |order: &[usize]| {
            let made = self.canonical.first(order).ok();
            made.is_some_and(|made| made.runs.iter().any(|run| run.has_choices()))
        };
        let after =
            |test: usize, dependence: &OrderDependence| [&dependence.sets[0][..], &[test]].concat();
        let mut open: BTreeMap<usize, OrderDependence> = BTreeMap::new();
        for (test, dependence) in suspects {
            if has_choices(&[*test]) || has_choices(&after(*test, dependence)) {
                open.insert(*test, dependence.clone());
            }
        }
        let mut decided = Vec::new();
        for seed in 0..MORE_SEEDS {
            if open.is_empty() {
                break;
            }
            let made = self.answer(seed, |known| {
                known.each(open.iter().flat_map(|(test, dependence)| {
                    let after = (seed < SEEDS).then(|| after(*test, dependence));
                    [Some(vec![*test]), after].into_iter().flatten()
                }))
            });
            if made.is_none() {
                break;
            }
            if seed + 1 < SEEDS {
                continue;
            }
            open.retain(|test, dependence| {
                let passes = dependence.passes_alone;
                let alone = self.count_of(&[], *test, passes);
                let after = self.count_of(&dependence.sets[0], *test, !passes);
                let draws = draws(alone, after);
                decided.extend((draws == Draws::Chance).then_some((*test, passes)));
                draws == Draws::Open
            });
        }
        decided.into_iter().map(|(test, passes)| self.chance(test, passes)).collect()
    }

    /// Returns the tests that fail alone in canonical order and pass alone under some seed.
    pub(super) fn failing_by_chance(&mut self, failing: &[usize]) -> Vec<Chance> {
        let has_choices = |test: &usize| {
            let alone = self.canonical.runs(&[], *test, 1, false).ok();
            alone.is_some_and(|runs| runs[0].is_some_and(|run| run.has_choices()))
        };
        let mut open: Vec<usize> = failing.iter().copied().filter(has_choices).collect();
        let mut decided = Vec::new();
        for seed in 0..SEEDS {
            if open.is_empty() {
                break;
            }
            let orders = |known: &Experiments| known.each(open.iter().map(|test| [*test]));
            if self.answer(seed, orders).is_none() {
                break;
            }
            open.retain(|test| {
                let [passed, _] = self.count_of(&[], *test, true);
                decided.extend((passed > 0).then_some(*test));
                passed == 0
            });
        }
        decided.into_iter().map(|test| self.chance(test, false)).collect()
    }

    /// Returns whether a test fails alone under some seed.
    pub(super) fn fails_alone(&mut self, test: usize) -> bool {
        (0..MORE_SEEDS).any(|seed| {
            let passed = self.answer(seed, |known| Ok(known.passed(&[], test, 1, false)?[0]));
            passed.flatten() == Some(false)
        })
    }

    /// Classifies a test whose outcome alone differs under some seed. `passes` is its outcome alone
    /// in canonical order. Choices decide if the other outcome repeats under its seed; otherwise
    /// chance does.
    pub(super) fn chance(&mut self, test: usize, passes: bool) -> Chance {
        let processes = self.processes;
        let is_other = |run: &Run| processes.passed(test, run) == Some(!passes);
        let other = self
            .runs(&[], test)
            .find(|(_, run)| is_other(run))
            .map(|(seed, run)| (seed, Run::clone(run)));
        let is_chosen = other.as_ref().is_some_and(|(seed, run)| {
            let again = self.answer(*seed, |known| {
                let runs = known.runs(&[], test, REPETITIONS, false)?;
                Ok(runs.into_iter().flatten().all(|run| is_other(run)))
            });
            run.has_choices() && again != Some(false)
        });
        let (seed, run) =
            if passes { other.unzip() } else { (None, self.canonical.failing(&[], test).cloned()) };
        Chance {
            test,
            is_chosen,
            failures: self.count_of(&[], test, false),
            seed: seed.filter(|_| is_chosen),
            run,
        }
    }
}
