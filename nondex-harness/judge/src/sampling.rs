//! Tests that are samples in themselves, and how few seeds those need.
//!
//! A property test makes some hundred cases in one run. Where it draws keys for a hash map in each
//! of them, one run has drawn more keys than ten seeds draw in a test that does so once; and at
//! FULL, where every read draws a new order, the same holds for orders. So if every place with a
//! choice is reached 64 times or more by the clean run, not all seeds are tried there. Reported
//! rates count what was run.
//!
//! At the levels between these, calls have orders in common: the orders of one run are not that
//! many draws, and all seeds are tried.

use std::collections::BTreeMap;

use nondex_core::{Family, Level, RunSpec, Site};

use super::question::Question;
use super::run::Run;
use super::unseen;

/// Number of calls of each site that make a run a sample.
const SAMPLE: u64 = 64;

/// Number of seeds, of ten, that are tried of a test that is a sample.
const OF_TEN: usize = 3;

/// The spec of each seed that is tried at `level`, as the campaign runs it.
pub fn seed_specs(question: Question<'_>, level: Level) -> Vec<RunSpec> {
    seeds(question, level).iter().map(|&seed| question.seed_spec(level, seed)).collect()
}

/// The seeds that are tried at `level`: all requested ones, or the first of them, or none.
fn seeds<'a>(question: Question<'a>, level: Level) -> &'a [u64] {
    let options = question.options;
    let all = options.seeds.as_slice();
    if unseen::adds_nothing(question, level) {
        return &[];
    }
    let clean = question.clean().first();
    if options.prune && clean.is_some_and(|run| is_sample(run, level)) {
        &all[..(all.len() * OF_TEN).div_ceil(10)]
    } else {
        all
    }
}

/// The levels at which not all seeds are tried.
pub fn levels(question: Question<'_>) -> Vec<Level> {
    let is_less = |level: &Level| seeds(question, *level).len() < question.options.seeds.len();
    question.options.realistic_first().into_iter().filter(is_less).collect()
}

/// Whether a run at `level` draws independently, and often, wherever it draws. Random bytes count
/// for nothing: what they are for, a run does not tell.
fn is_sample(run: &Run, level: Level) -> bool {
    let mut calls: BTreeMap<&Site, u64> = BTreeMap::new();
    for point in run.points.iter() {
        let family = point.site.family;
        let is_independent = match level {
            _ if !family.varies(level) || family == Family::Entropy => continue,
            Level::Std => family == Family::HashKeys,
            Level::Full => family.is_of_orders() && family != Family::Environment,
            Level::One | Level::Eq | Level::Id => false,
        };
        if !is_independent {
            return false;
        }
        *calls.entry(&point.site).or_default() += point.count;
    }
    run.complete && !calls.is_empty() && calls.values().all(|&count| count >= SAMPLE)
}

#[cfg(test)]
mod tests {
    use nondex_core::{Outcome, PointRecord, hash};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::simulation::{options, point, run, runs_at, simulate, site};

    /// A run that reached sites of these families so often.
    fn reached(sites: &[(Family, u64)]) -> Run {
        let points = sites.iter().zip(1..).map(|(&(family, count), line)| {
            let site = Site { family, ..site(line) };
            PointRecord { count, ..point(site) }
        });
        Run { points: points.collect(), ..run(true, []) }
    }

    #[test]
    fn a_run_is_a_sample_where_it_draws_often_and_independently_at_every_site() {
        use Family::{Directory, Entropy, Environment, HashKeys, HashMap};
        for (sites, levels) in [
            (&[(HashKeys, 64)][..], &[Level::Std][..]),
            (&[(HashKeys, 100), (Entropy, 1)], &[Level::Std]),
            (&[(HashKeys, 63)], &[]),
            (&[(HashKeys, 100), (HashKeys, 1)], &[]),
            (&[(Entropy, 1000)], &[]),
            (&[(HashMap, 100), (Entropy, 1)], &[Level::Full]),
            (&[(HashMap, 100), (HashKeys, 100)], &[Level::Full]),
            (&[(HashMap, 100), (Directory, 1)], &[]),
            (&[(Environment, 100)], &[]),
            (&[], &[]),
        ] {
            let run = reached(sites);
            let found = Level::ALL.into_iter().filter(|level| is_sample(&run, *level));
            assert_eq!(found.collect::<Vec<_>>(), levels, "{sites:?}");
        }
    }

    #[test]
    fn a_sample_is_run_under_three_of_ten_seeds_and_ends_as_under_all() {
        let mut options = options();
        let sample = |_: &RunSpec| reached(&[(Family::HashKeys, 100), (Family::Entropy, 1)]);
        let (short, evidence) = simulate(&options, sample);
        assert_eq!(evidence.count(), 2 + 3);
        assert_eq!(levels(Question::new("t", &options, &evidence)), [Level::Std]);
        options.prune = false;
        let (long, evidence) = simulate(&options, sample);
        assert_eq!(evidence.count(), 2 + 5 * 10);
        assert_eq!((short, levels(Question::new("t", &options, &evidence))), (long, Vec::new()));
    }

    #[test]
    fn a_sample_that_fails_now_and_then_is_found_with_the_first_seeds() {
        // One map in a hundred has the key that fails: most runs have one.
        let fails = |spec: &RunSpec| {
            let has_choice = !spec.is_clean();
            let is_unlucky =
                (0..100).any(|map| hash::mix(spec.seed() << 8 | map).is_multiple_of(100));
            Run {
                outcome: if has_choice && spec.level() == Level::Std && is_unlucky {
                    Outcome::Failed
                } else {
                    Outcome::Passed
                },
                ..reached(&[(Family::HashKeys, 100)])
            }
        };
        for prune in [true, false] {
            let mut options = options();
            options.prune = prune;
            let (conclusion, evidence) = simulate(&options, fails);
            assert!(matches!(conclusion, Conclusion::Dependent(_)));
            assert!(runs_at(&evidence, Level::Std) >= 3);
        }
    }
}
