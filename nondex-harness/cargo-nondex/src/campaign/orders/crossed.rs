//! Orders and choices together: tests that other tests and random choices decide together, and
//! tests that only choices decide.

use std::collections::{BTreeMap, BTreeSet};

use nondex_core::{Level, PointRecord, Scope, Selection, Site};

use super::OrderCampaign;
use crate::campaign::order::Processes;
use crate::campaign::race::Use;
use crate::campaign::state::PLACE;
use crate::judge::order::draws::{MORE_SEEDS, SEEDS};
use crate::judge::order::{
    Dependence, Draws, End, Experiments, Limits, OrderConclusion, conclude, detect, draws,
};
use crate::judge::specs;
use crate::report::Culprit;

/// Maximum number of seeds under which the orders run at `STD`, and at each level above it.
const ORDER_SEEDS: [usize; 2] = [10, 3];

/// Maximum number of pairs of tests that run under each seed, besides the orders.
const MAX_PAIRS: usize = 12;

/// How often a test must fail under a seed after the others, and pass alone.
const REPETITIONS: usize = 3;

/// Maximum number of call sites whose choices are made alone.
const MAX_SITES: usize = 24;

/// A test that fails after others, and only with certain choices.
pub(super) struct Crossed {
    pub(super) test: usize,
    pub(super) dependence: Dependence,
    pub(super) level: Level,
    pub(super) seed: u64,
    /// The calls whose choices are enough, in this order of tests.
    pub(super) choices: Vec<Culprit>,
    pub(super) end: Option<End>,
}

/// A test that both passes and fails alone: its choices or chance decide, not the tests before it.
pub(super) struct Chance {
    pub(super) test: usize,
    /// Whether its choices decide: under the same seed it always has the same outcome.
    pub(super) is_chosen: bool,
    /// Number of seeds under which it fails alone, and of all seeds that were tried.
    pub(super) failures: [u64; 2],
    /// The first seed under which its choices make it fail alone; `None` where it fails without.
    pub(super) seed: Option<u64>,
    pub(super) end: Option<End>,
}

/// The processes of one binary under each seed.
#[derive(Default)]
pub(super) struct SeededExperiments(BTreeMap<(Level, u64), Experiments>);

impl SeededExperiments {
    fn of(&mut self, level: Level, seed: u64, processes: &Processes<'_>) -> &mut Experiments {
        let is_shared = processes.options.jobs.get() > 1;
        let new = || Experiments::new(is_shared);
        self.0.entry((level, seed)).or_insert_with(new)
    }

    /// How a test ended after these tests under each of the seeds that were tried.
    fn ends(&self, before: &[usize], test: usize) -> impl Iterator<Item = (u64, &End)> {
        let made = self.0.iter().filter(|((level, _), _)| *level == Level::Std);
        made.filter_map(move |((_, seed), experiments)| {
            let ends = experiments.ends(before, test, 1, false).ok()?;
            Some((*seed, ends[0]?))
        })
    }

    /// The number of seeds under which a test ended so after these tests, and of all.
    fn count_of(&self, before: &[usize], test: usize, passes: bool) -> [u64; 2] {
        let known = self.ends(before, test).filter_map(|(_, end)| end.passed());
        known.fold([0, 0], |[count, all], passed| [count + u64::from(passed == passes), all + 1])
    }
}

impl OrderCampaign<'_> {
    /// Runs each of these tests that reaches choices alone and after its tests under several seeds.
    /// Returns those that both pass and fail alone.
    pub(super) fn drawn(
        &self,
        processes: &Processes<'_>,
        suspects: &[(usize, Dependence)],
        experiments: &Experiments,
        seeded: &mut SeededExperiments,
    ) -> Vec<Chance> {
        let has_choices = |order: &[usize]| {
            let made = experiments.first(order).ok();
            made.is_some_and(|made| made.ends.iter().any(|end| end.has_choices))
        };
        let mut open: BTreeMap<usize, Dependence> = BTreeMap::new();
        for (test, dependence) in suspects {
            let test = *test;
            let order = [&dependence.sets[0][..], &[test]].concat();
            if has_choices(&[test]) || has_choices(&order) {
                open.insert(test, dependence.clone());
            }
        }
        let mut decided = Vec::new();
        for seed in 0..MORE_SEEDS {
            if open.is_empty() {
                break;
            }
            let made = processes.with_choices(Level::Std, seed).answer(
                seeded.of(Level::Std, seed, processes),
                |experiments: &Experiments| {
                    let orders = open.iter().flat_map(|(test, dependence)| {
                        let after = [&dependence.sets[0][..], &[*test]].concat();
                        let after = (seed < SEEDS).then_some(after);
                        [Some(vec![*test]), after].into_iter().flatten()
                    });
                    experiments.each(orders)
                },
            );
            if made.is_none() {
                break;
            }
            if seed + 1 < SEEDS {
                continue;
            }
            open.retain(|test, dependence| {
                let passes = dependence.passes_alone;
                let alone = seeded.count_of(&[], *test, passes);
                let after = seeded.count_of(&dependence.sets[0], *test, !passes);
                match draws(alone, after) {
                    Draws::Open => true,
                    Draws::Chance => {
                        decided.push((*test, passes));
                        false
                    }
                    Draws::Confirmed | Draws::Crossed => false,
                }
            });
        }
        let found = decided.into_iter();
        let found =
            found.map(|(test, passes)| self.chance(processes, test, passes, experiments, seeded));
        found.collect()
    }

    /// Of these tests, which fail alone in canonical order, those that pass alone under some seed.
    pub(super) fn failing_by_chance(
        &self,
        processes: &Processes<'_>,
        failing: &[usize],
        experiments: &Experiments,
        seeded: &mut SeededExperiments,
    ) -> Vec<Chance> {
        let has_choices = |test: &usize| {
            let alone = experiments.ends(&[], *test, 1, false).ok();
            alone.is_some_and(|ends| ends[0].is_some_and(|end| end.has_choices))
        };
        let mut open: Vec<usize> = failing.iter().copied().filter(has_choices).collect();
        let mut decided = Vec::new();
        for seed in 0..SEEDS {
            if open.is_empty() {
                break;
            }
            let drawn = processes.with_choices(Level::Std, seed);
            let made = drawn.answer(seeded.of(Level::Std, seed, processes), |known| {
                known.each(open.iter().map(|test| [*test]))
            });
            if made.is_none() {
                break;
            }
            open.retain(|test| {
                let [passed, _] = seeded.count_of(&[], *test, true);
                decided.extend((passed > 0).then_some(*test));
                passed == 0
            });
        }
        let found = decided.into_iter();
        found.map(|test| self.chance(processes, test, false, experiments, seeded)).collect()
    }

    /// Runs the tests in their order, in the reverse of it, and suspicious pairs of them, under
    /// several seeds: the tests that fail so, and neither alone under the same seed nor in these
    /// orders without it.
    pub(super) fn crossed(
        &self,
        processes: &Processes<'_>,
        (asked, cutting): (&[usize], &[usize]),
        uses: &[Use<'_>],
        experiments: &Experiments,
        seeded: &mut SeededExperiments,
    ) -> (Vec<Crossed>, Vec<Chance>) {
        let (mut found, mut chances) = (Vec::new(), Vec::new());
        let mut ends = experiments.made().iter().flat_map(|made| &made.ends);
        let pairs = suspicious(uses);
        if pairs.is_empty() || !ends.any(|end| end.has_choices) {
            return (found, chances);
        }
        let tests = processes.tests.len();
        let original: Vec<usize> = (0..tests).collect();
        let reverse = original.iter().rev().copied().collect();
        let pairs = pairs.into_iter().take(MAX_PAIRS);
        let planned: Vec<Vec<usize>> = [original, reverse].into_iter().chain(pairs).collect();
        let mut open: Vec<usize> = asked.to_vec();
        let levels = specs::levels(&self.options.levels);
        for level in levels.into_iter().filter(|level| *level != Level::Full) {
            let number = ORDER_SEEDS[usize::from(level != Level::Std)];
            for &seed in self.options.seeds.iter().take(number) {
                let drawn = processes.with_choices(level, seed);
                let known = seeded.of(level, seed, processes);
                let Some(detection) = drawn.answer(known, |known| detect(&planned, cutting, known))
                else {
                    return (found, chances);
                };
                let fails = |test: &usize| detection.seen(*test, known).any(|(_, passed)| !passed);
                let suspects: Vec<usize> = open.iter().copied().filter(fails).collect();
                if suspects.is_empty() {
                    continue;
                }
                let limits = Limits { reruns: REPETITIONS, ..self.asked.limits(false) };
                let concluded = drawn
                    .answer(known, |known| conclude(&suspects, tests, &detection, &limits, known));
                let Some(concluded) = concluded else { return (found, chances) };
                for (test, conclusion) in suspects.into_iter().zip(concluded) {
                    let OrderConclusion::Dependent(dependence) = conclusion else { continue };
                    if !dependence.passes_alone {
                        continue;
                    }
                    open.retain(|known| *known != test);
                    if self.fails_under_a_seed(processes, test, seeded) {
                        chances.push(self.chance(processes, test, true, experiments, seeded));
                        continue;
                    }
                    let known = seeded.of(level, seed, processes);
                    let end = known.failing(&dependence.sets[0], test).cloned();
                    found.push(Crossed {
                        choices: self.choices(&drawn, &dependence, test),
                        test,
                        dependence,
                        level,
                        seed,
                        end,
                    });
                }
            }
        }
        (found, chances)
    }

    /// Whether a test fails alone under some seed.
    fn fails_under_a_seed(
        &self,
        processes: &Processes<'_>,
        test: usize,
        seeded: &mut SeededExperiments,
    ) -> bool {
        for seed in 0..MORE_SEEDS {
            let drawn = processes.with_choices(Level::Std, seed);
            let known = seeded.of(Level::Std, seed, processes);
            let passed = drawn.answer(known, |known| {
                Ok(known.ends(&[], test, 1, false)?[0].and_then(End::passed))
            });
            if passed.flatten() == Some(false) {
                return true;
            }
        }
        false
    }

    /// Whether choices or chance decide a test whose outcome alone in canonical order, given as
    /// `passes`, is another one under some seed that was tried.
    fn chance(
        &self,
        processes: &Processes<'_>,
        test: usize,
        passes: bool,
        experiments: &Experiments,
        seeded: &mut SeededExperiments,
    ) -> Chance {
        let other = seeded
            .ends(&[], test)
            .find(|(_, end)| end.passed() == Some(!passes))
            .map(|(seed, end)| (seed, end.clone()));
        let is_chosen = other.as_ref().is_some_and(|(seed, end)| {
            let drawn = processes.with_choices(Level::Std, *seed);
            let again = drawn.answer(seeded.of(Level::Std, *seed, processes), |known| {
                let ends = known.ends(&[], test, REPETITIONS, false)?;
                Ok(ends.into_iter().flatten().all(|end| end.passed() == Some(!passes)))
            });
            end.has_choices && again != Some(false)
        });
        let (seed, end) =
            if passes { other.unzip() } else { (None, experiments.failing(&[], test).cloned()) };
        Chance {
            test,
            is_chosen,
            failures: seeded.count_of(&[], test, false),
            seed: seed.filter(|_| is_chosen),
            end,
        }
    }

    /// The calls whose choices are enough for a test to fail after these tests.
    fn choices(&self, drawn: &Processes<'_>, dependence: &Dependence, test: usize) -> Vec<Culprit> {
        let order = [&dependence.sets[0][..], &[test]].concat();
        let names = order[..order.len() - 1].iter().map(|test| drawn.tests[*test].name.clone());
        let spec = drawn.spec(test).after(names.collect());
        let fails = |selection: Selection| {
            let spec = spec.clone().with_selection(selection);
            let run = drawn.run(PLACE, &order, &spec)?.pop()?;
            Some(drawn.end(test, run, false).passed() == Some(false))
        };
        let runs = drawn.run(PLACE, &order, &spec).unwrap_or_default();
        let points = runs.iter().flat_map(|run| run.points.iter());
        let mut known: BTreeMap<&Site, &PointRecord> = BTreeMap::new();
        points.for_each(|point| _ = known.entry(&point.site).or_insert(point));
        let scope = |site: &Site| Scope { site: site.clone(), calls: None };
        let mut culprits = Vec::new();
        for (site, point) in known.into_iter().take(MAX_SITES) {
            if fails(Selection::Only(vec![scope(site)])) != Some(true) {
                continue;
            }
            let passes = fails(Selection::Except(vec![scope(site)])) == Some(false);
            culprits.push(self.culprit(drawn, test, point, passes));
        }
        culprits
    }

    fn culprit(
        &self,
        drawn: &Processes<'_>,
        test: usize,
        point: &PointRecord,
        confirmed: bool,
    ) -> Culprit {
        let mut culprit = Culprit { len: point.max_len, confirmed, ..Culprit::new(&point.site) };
        if point.site.line == 0 {
            let case = drawn.tests[test];
            let nearest = self.workspace.nearest(&point.stack, &drawn.suite.binary.cwd);
            let of_test = || Some((case.file.clone()?, case.line?));
            let (file, line) = nearest.or_else(of_test).unwrap_or_default();
            culprit.site = Some(std::mem::replace(&mut culprit.file, file));
            culprit.line = line;
        }
        culprit
    }
}

/// Pairs of tests of which the first leaves something changed that the other one uses: each test
/// once, before any comes twice.
fn suspicious(uses: &[Use<'_>]) -> Vec<Vec<usize>> {
    let mut rounds: BTreeMap<usize, usize> = BTreeMap::new();
    let mut pairs = BTreeSet::new();
    for then in uses {
        for first in uses.iter().filter(|first| first.test != then.test) {
            if first.leaves_to(then) {
                let round = rounds.entry(then.test).or_default();
                *round += 1;
                pairs.insert((*round, first.test, then.test));
            }
        }
    }
    pairs.into_iter().map(|(_, first, then)| vec![first, then]).collect()
}
