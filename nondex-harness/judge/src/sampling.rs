//! Reduces the number of seeds for tests that draw many samples in one run.
//!
//! A property test runs hundreds of cases in one run. If each case draws keys for a hash map, one
//! run draws more keys than ten seeds do in a test with a single map. So if a run draws often and
//! independently at every site with a choice, only some seeds are tried at its level. Reported
//! rates count the runs that were made.
//!
//! At FULL, each call draws a new order. At the levels between STD and FULL, calls draw one order
//! if they have their [key](nondex_core::choice::key) in common, so a run counts its keys. At STD,
//! all tables hash with equal keys: there the order of a table depends on its content, which a run
//! at EQ counts.

use std::collections::BTreeMap;

use nondex_core::{Family, Level, RunSpec, Site};

use super::question::Question;
use super::run::Run;
use super::{alike, margin, unseen};

/// Minimum number of calls of each site that make a run a sample.
const SAMPLE: u64 = 64;

/// Minimum number of bits in the set of a site's keys that make a run a sample. Of 64 random bits,
/// 64 keys set at least as many with a probability of 98 percent.
const BITS: u32 = 36;

/// Number of seeds out of ten that are tried for such a test.
const OF_TEN: usize = 3;

/// Returns the spec of each seed that is tried at `level`.
pub fn seed_specs(question: Question<'_>, level: Level) -> Vec<RunSpec> {
    seeds(question, level).iter().map(|&seed| question.seed_spec(level, seed)).collect()
}

/// Returns the spec whose run counts the contents of tables, if this may make runs at STD samples
/// and EQ is a level of the search.
pub(super) fn counting_spec(question: Question<'_>) -> Option<RunSpec> {
    let options = question.options;
    let is_table = |family| matches!(family, Family::HashMap | Family::HashSet);
    let is_often = |run: &Run| {
        let calls = calls_at(run, Level::Std);
        calls.keys().any(|site| is_table(site.family))
            && calls.values().all(|(calls, _)| *calls >= SAMPLE)
    };
    let is_used = options.prune && options.levels.contains(&Level::Eq);
    let is_used = is_used && question.clean().first().is_some_and(is_often);
    let seed = options.seeds.first().filter(|_| is_used)?;
    Some(question.seed_spec(Level::Eq, *seed))
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
    if options.prune && is_sample(question, level) {
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
fn is_sample(question: Question<'_>, level: Level) -> bool {
    let shown_at = if level == Level::Std { Level::Eq } else { level };
    let runs = [question.clean().first(), question.first_drawn(shown_at)];
    runs.into_iter().flatten().any(|run| draws_often(run, level))
}

/// Returns whether a run shows that runs at `level` draw independently and often at every site.
fn draws_often(run: &Run, level: Level) -> bool {
    let sites = calls_at(run, level);
    let is_often = |(site, (calls, keys)): (&&Site, &(u64, u64))| match (site.family, level) {
        (Family::HashKeys, _) => *calls >= SAMPLE,
        (Family::Environment, _) => false,
        (Family::HashMap | Family::HashSet, Level::Std) => keys.count_ones() >= BITS,
        (_, Level::Std) => false,
        (family, Level::Full) => family.is_of_orders() && *calls >= SAMPLE,
        (family, Level::One | Level::Eq | Level::Id) => {
            family.is_of_orders() && keys.count_ones() >= BITS
        }
    };
    run.complete && !run.lost && !sites.is_empty() && sites.iter().all(is_often)
}

/// Returns the number of calls and the set of keys of each site with a choice at `level`, except of
/// random bytes.
fn calls_at(run: &Run, level: Level) -> BTreeMap<&Site, (u64, u64)> {
    let mut sites: BTreeMap<&Site, (u64, u64)> = BTreeMap::new();
    for point in run.points.iter() {
        let family = point.site.family;
        if family.varies(level) && family != Family::Entropy {
            let (calls, keys) = sites.entry(&point.site).or_default();
            *calls += point.count;
            *keys |= point.keys;
        }
    }
    sites
}

#[cfg(test)]
mod tests {
    use nondex_core::{Outcome, PointRecord, hash};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::options::Options;
    use crate::simulation::{made, options, point, run, runs_at, simulate, site};

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
            let found = Level::ALL.into_iter().filter(|level| draws_often(&run, *level));
            assert_eq!(found.collect::<Vec<_>>(), levels, "{sites:?}");
        }
    }

    #[test]
    fn a_run_is_a_sample_where_the_orders_of_every_site_have_many_keys() {
        use Family::{Environment, FixedHasher, HashKeys, HashMap};
        const MANY: u64 = (1 << BITS) - 1;
        for (sites, levels) in [
            (&[(HashMap, 1, MANY)][..], &[Level::Std, Level::One, Level::Eq, Level::Id][..]),
            (&[(HashMap, 64, MANY)], &Level::ALL),
            (&[(HashMap, 1, MANY >> 1)], &[]),
            (&[(HashMap, 1, MANY), (HashMap, 1, 1)], &[]),
            (&[(HashMap, 1, MANY), (FixedHasher, 1, 1)], &[Level::Std]),
            (&[(HashMap, 1, MANY), (HashKeys, 1, 0)], &[Level::One, Level::Eq, Level::Id]),
            (&[(FixedHasher, 1, MANY)], &[Level::One, Level::Eq, Level::Id]),
            (&[(Environment, 1, MANY)], &[]),
        ] {
            let reached = reached(&sites.iter().map(|site| (site.0, site.1)).collect::<Vec<_>>());
            let keys = sites.iter().map(|site| site.2);
            let points = reached.points.iter().zip(keys);
            let points = points.map(|(point, keys)| PointRecord { keys, ..point.clone() });
            let run = Run { points: points.collect(), ..run(true, []) };
            let found = Level::ALL.into_iter().filter(|level| draws_often(&run, *level));
            assert_eq!(found.collect::<Vec<_>>(), levels, "{sites:?}");
        }
    }

    #[test]
    fn a_level_has_fewer_seeds_if_its_own_run_drew_orders_from_many_keys() {
        // Tables of many contents, one length and one version.
        let sample = |spec: &RunSpec| {
            let keys = if spec.level() == Level::Eq && spec.draws_all() { u64::MAX } else { 0 };
            let point = PointRecord { count: 100, keys, ..point(site(1)) };
            Run { points: [point].into(), ..run(true, []) }
        };
        let mut options = options();
        let number = |options: &Options, level| {
            let (conclusion, evidence) = simulate(options, sample);
            assert_eq!(conclusion, Conclusion::Stable);
            runs_at(&evidence, level)
        };
        assert_eq!(Level::ALL.map(|level| number(&options, level)), [3, 10, 3, 10, 3]);
        options.every_seed = false;
        assert_eq!(Level::ALL.map(|level| number(&options, level)), [3, 10, 3, 10, 3]);
        options.levels = vec![Level::Std, Level::Id];
        assert_eq!(Level::ALL.map(|level| number(&options, level)), [10, 0, 0, 10, 0]);
    }

    #[test]
    fn a_property_that_few_orders_of_many_break_is_found_at_its_level_as_under_all_seeds() {
        for weakest in [Level::Std, Level::Eq, Level::Id, Level::Full] {
            // Each map has another content, and one order in a hundred breaks the property.
            let test = |spec: &RunSpec| {
                let drawn = spec.seed() << 12 | (spec.level() as u64) << 8;
                let is_unlucky = (0..200).any(|map| hash::mix(drawn | map).is_multiple_of(100));
                let fails = made(spec, 1) && spec.level() >= weakest && is_unlucky;
                let keys = if spec.is_clean() { 0 } else { u64::MAX };
                let point = PointRecord { count: 200, keys, ..point(site(1)) };
                Run { points: [point].into(), ..run(!fails, []) }
            };
            let found = |prune: bool| match simulate(&Options { prune, ..options() }, test).0 {
                Conclusion::Dependent(found) => found.spec.level(),
                other => panic!("{other:?}"),
            };
            assert_eq!((found(true), found(false)), (weakest, weakest));
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
