//! Tests whose outcome depends on other tests and on random choices together.

use std::collections::{BTreeMap, BTreeSet};

use nondex_core::{Level, PointRecord, Scope, Selection, Site};

use super::OrderCampaign;
use super::chance::{Chance, REPETITIONS, SeededProcesses};
use crate::campaign::order::Processes;
use crate::campaign::race::UsedState;
use crate::campaign::state::PLACE;
use crate::judge::Run;
use crate::judge::order::{OrderConclusion, OrderDependence, SearchLimits, conclude, detect};
use crate::report::Culprit;
use crate::report::judged::culprits;

/// Maximum number of seeds under which the orders run at `STD`, and at each level above it.
const ORDER_SEEDS: [usize; 2] = [10, 3];

/// Maximum number of pairs of tests that run under each seed, in addition to the orders.
const MAX_PAIRS: usize = 12;

/// Maximum number of call sites that are tried as the only source of choices.
const MAX_SITES: usize = 24;

/// A test that fails after other tests, and only with certain choices.
pub(super) struct Crossed {
    pub(super) test: usize,
    pub(super) dependence: OrderDependence,
    pub(super) level: Level,
    pub(super) seed: u64,
    /// The calls whose choices suffice, in this order of tests.
    pub(super) choices: Vec<Culprit>,
    /// A run in which it fails.
    pub(super) run: Option<Run>,
}

impl OrderCampaign<'_> {
    /// Runs the tests in their order, in reverse, and in suspicious pairs, under several seeds.
    /// Returns the tests that fail only then: they pass alone under the same seed, and in these
    /// orders without it. Also returns tests that turn out to depend on choices alone.
    pub(super) fn crossed(
        &self,
        seeded: &mut SeededProcesses<'_, '_>,
        (requested, cutting): (&[usize], &[usize]),
        uses: &[UsedState<'_>],
    ) -> (Vec<Crossed>, Vec<Chance>) {
        let (mut found, mut chances) = (Vec::new(), Vec::new());
        let mut runs = seeded.canonical.made().iter().flat_map(|made| &made.runs);
        let pairs = suspicious(uses);
        let tests = seeded.processes.tests.len();
        if tests < 2 || !runs.any(|run| run.has_choices()) {
            return (found, chances);
        }
        // A test may restore the value from before in canonical order, such as a count of zero.
        // Then no pair is known, and only `STD` is tried.
        let has_pairs = !pairs.is_empty();
        let is_tried = |level: &Level| *level == Level::Std || *level != Level::Full && has_pairs;
        let levels = self.context.options.realistic_first().into_iter().filter(is_tried);
        let original: Vec<usize> = (0..tests).collect();
        let reverse = original.iter().rev().copied().collect();
        let pairs = pairs.into_iter().take(MAX_PAIRS);
        let planned: Vec<Vec<usize>> = [original, reverse].into_iter().chain(pairs).collect();
        let mut open: Vec<usize> = requested.to_vec();
        for level in levels {
            let number = ORDER_SEEDS[usize::from(level != Level::Std)];
            for &seed in self.context.options.seeds.iter().take(number) {
                let drawn = seeded.processes.with_choices(level, seed);
                let known = seeded.experiments(level, seed);
                let detection = drawn.answer(known, |known| detect(&planned, cutting, known));
                let Some(detection) = detection else { return (found, chances) };
                let fails = |test: &usize| detection.seen(*test, known).any(|(_, passed)| !passed);
                let suspects: Vec<usize> = open.iter().copied().filter(fails).collect();
                if suspects.is_empty() {
                    continue;
                }
                let limits =
                    SearchLimits { reruns: REPETITIONS, ..self.order_options.limits(false) };
                let concluded = drawn
                    .answer(known, |known| conclude(&suspects, tests, &detection, &limits, known));
                let Some(concluded) = concluded else { return (found, chances) };
                for (test, conclusion) in suspects.into_iter().zip(concluded) {
                    let OrderConclusion::Dependent(dependence) = conclusion else { continue };
                    if !dependence.passes_alone {
                        continue;
                    }
                    open.retain(|known| *known != test);
                    if seeded.fails_alone(test) {
                        chances.push(seeded.chance(test, true));
                        continue;
                    }
                    let known = seeded.experiments(level, seed);
                    let run = known.failing(&dependence.sets[0], test).cloned();
                    found.push(Crossed {
                        choices: self.choices(&drawn, &dependence, test),
                        test,
                        dependence,
                        level,
                        seed,
                        run,
                    });
                }
            }
        }
        (found, chances)
    }

    /// Returns the calls whose choices suffice for a test to fail after these tests.
    fn choices(
        &self,
        drawn: &Processes<'_>,
        dependence: &OrderDependence,
        test: usize,
    ) -> Vec<Culprit> {
        let order = [&dependence.sets[0][..], &[test]].concat();
        let names = order[..order.len() - 1].iter().map(|test| drawn.tests[*test].name.clone());
        let spec = drawn.spec(test).after(names.collect());
        let fails = |selection: Selection| {
            let spec = spec.clone().with_selection(selection);
            let run = drawn.run(PLACE, &order, &spec)?.pop()?;
            Some(drawn.passed(test, &run) == Some(false))
        };
        let runs = drawn.run(PLACE, &order, &spec).unwrap_or_default();
        let mut known: BTreeMap<&Site, (usize, &PointRecord)> = BTreeMap::new();
        for (made_by, run) in order.iter().zip(&runs) {
            for point in run.points.iter() {
                known.entry(&point.site).or_insert((*made_by, point));
            }
        }
        let scope = |site: &Site| Scope { site: site.clone(), calls: None };
        let mut found = Vec::new();
        for (site, (made_by, point)) in known.into_iter().take(MAX_SITES) {
            if fails(Selection::Only(vec![scope(site)])) != Some(true) {
                continue;
            }
            let passes = fails(Selection::Except(vec![scope(site)])) == Some(false);
            let workspace = self.workspace.at(&drawn.suite.binary.cwd);
            found.push(culprits::of_point(point, passes, drawn.tests[made_by], &workspace));
        }
        found
    }
}

/// Returns pairs of tests of which the first leaves a change that the second uses. Pairs with a new
/// second test come first, so that each test occurs once before any occurs twice.
fn suspicious(uses: &[UsedState<'_>]) -> Vec<Vec<usize>> {
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
