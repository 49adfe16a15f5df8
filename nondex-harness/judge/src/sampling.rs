//! Reduces the number of seeds for tests that draw many samples in one run.
//!
//! A property test runs hundreds of cases in one run. If each case draws keys for a hash map, one
//! run draws more keys than ten seeds do in a test with a single map. At FULL, where every read
//! draws a new order, the same holds for orders. So if the clean run reaches every site with a
//! choice 64 times or more, only some seeds are tried at these two levels. Reported rates count the
//! runs that were made.
//!
//! At the levels between these, calls have orders in common. So one run does not draw that many
//! orders, and all seeds are tried.

use std::collections::BTreeMap;

use nondex_core::{Family, Level, RunSpec, Site};

use super::question::Question;
use super::run::Run;
use super::{alike, margin, unseen};

/// Minimum number of calls of each site that make a run a sample.
const SAMPLE: u64 = 64;

/// Number of seeds out of ten that are tried for such a test.
const OF_TEN: usize = 3;

/// Returns the spec of each seed that is tried at `level`.
pub fn seed_specs(question: Question<'_>, level: Level) -> Vec<RunSpec> {
    seeds(question, level).iter().map(|&seed| question.seed_spec(level, seed)).collect()
}

/// Returns whether a run at `level` would only be more of what runs at other levels show, as far as
/// the runs until now show.
pub(super) fn is_as_at_others(question: Question<'_>, level: Level) -> bool {
    alike::is_as_at_weaker(question, level) || margin::is_between(question, level)
}

/// Returns the seeds that are tried at `level`: all requested ones, the first of them, or none.
fn seeds<'a>(question: Question<'a>, level: Level) -> &'a [u64] {
    let options = question.options;
    let all = options.seeds.as_slice();
    if unseen::adds_nothing(question, level) {
        return &[];
    }
    if alike::is_as_at_weaker(question, level) {
        return &all[..all.len().min(1)];
    }
    if let Some(number) = margin::seeds(question, level) {
        return &all[..all.len().min(number)];
    }
    let clean = question.clean().first();
    if options.prune && clean.is_some_and(|run| is_sample(run, level)) {
        &all[..(all.len() * OF_TEN).div_ceil(10)]
    } else {
        all
    }
}

/// Returns the levels at which not all seeds are tried.
pub fn levels(question: Question<'_>) -> Vec<Level> {
    let is_less = |level: &Level| seeds(question, *level).len() < question.options.seeds.len();
    question.options.realistic_first().into_iter().filter(is_less).collect()
}

/// Returns those of these levels at which choices are like those of other levels.
pub fn alike_levels(question: Question<'_>) -> Vec<Level> {
    let mut levels = levels(question);
    levels.retain(|level| is_as_at_others(question, *level));
    levels
}

/// Returns whether a run at `level` draws independently and often at every site. Random bytes are
/// ignored, because the run does not show what they are used for.
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

    /// Returns a run that reached sites of these families, with these numbers of calls.
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
        // One map in a hundred has the failing key, so most runs have one.
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
