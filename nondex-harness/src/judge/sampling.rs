//! Which seeds are tried at a level: not always all of them.
//!
//! **Levels that are one.** The levels above STD differ in which choices have an order in common: all of one length at ONE, all of one
//! content at EQ, all of one object at ID, none at FULL. A test whose choices all have different lengths has none in common at
//! any of them, so that every one of its orders is as likely at one level as at another. It is run at the most realistic of them
//! only: what fails at all of them fails there.
//!
//! **Samples.** A property test makes some hundred cases in one run. Where it draws keys for a hash map in each of them, one run
//! has drawn more keys than ten seeds draw in a test that does so once; and at FULL, where every read has an order of its own, the same
//! holds for orders. So if every place with a choice is reached [`SAMPLE`] times or more by the clean run, the first seeds must do.
//! At the levels between these, calls have orders in common: the orders of one run are not that many draws.
//!
//! What is told of rates counts what was run.

use std::collections::{BTreeMap, BTreeSet};

use nondex_core::{Family, Level, RunSpec, Site};

use super::evidence::{Answer, Evidence};
use super::options::Options;
use super::run::Run;
use super::specs::{self, clean_spec, seed_spec};

/// So many calls of each site make a run a sample.
const SAMPLE: u64 = 64;

/// Of ten seeds, so many are tried of a test that is a sample.
const OF_TEN: usize = 3;

/// The spec of each seed that is tried at `level`, as the campaign runs it.
pub(crate) fn seed_specs(
    test: &str,
    level: Level,
    options: &Options,
    evidence: &Evidence,
) -> Vec<RunSpec> {
    let seeds = seeds(test, level, options, evidence).iter();
    seeds
        .map(|&seed| seed_spec(test, level, seed, options))
        .collect()
}

/// The seeds that are tried at `level`: all that are asked for, the first of them, or none.
fn seeds<'a>(test: &str, level: Level, options: &'a Options, evidence: &Evidence) -> &'a [u64] {
    let all = options.seeds.as_slice();
    if !options.prune {
        return all;
    }
    if is_one_with_a_level_before(test, level, options, evidence) {
        return &[];
    }
    let clean = evidence.of(&clean_spec(test, options)).first();
    if clean.is_some_and(|run| is_sample(run, level)) {
        &all[..(all.len() * OF_TEN).div_ceil(10)]
    } else {
        all
    }
}

/// Whether a more realistic level, of which all seeds were run, has the same orders with the same probability.
fn is_one_with_a_level_before(
    test: &str,
    level: Level,
    options: &Options,
    evidence: &Evidence,
) -> bool {
    if options.all_levels || options.exhaustive > 0 {
        return false;
    }
    let above_std = |level: &Level| *level != Level::Std;
    let first = specs::levels(&options.levels).into_iter().find(above_std);
    let Some(first) = first.filter(|first| *first < level) else {
        return false;
    };
    let tried = options
        .seeds
        .iter()
        .map(|&seed| seed_spec(test, first, seed, options));
    let tried: Vec<RunSpec> = tried.collect();
    let has_tried = |answers: &Vec<Answer<'_>>| {
        answers
            .iter()
            .all(|answer| has_nothing_in_common(answer.run))
    };
    !tried.is_empty()
        && evidence
            .answers(&tried)
            .is_ok_and(|answers| has_tried(&answers))
}

/// Whether no two orders of a run, all of which are known, are of the same length. The environment keeps its own order at some levels.
fn has_nothing_in_common(run: &Run) -> bool {
    let mut orders = 0;
    for point in run.points.iter() {
        if point.site.family == Family::Environment {
            return false;
        }
        if point.site.family.is_of_orders() {
            orders += point.count;
        }
    }
    let lens: BTreeSet<u64> = run.choices.iter().map(|choice| choice.len).collect();
    run.complete && orders > 0 && orders == run.choices.len() as u64 && orders == lens.len() as u64
}

/// The levels at which not all seeds are tried.
#[must_use]
pub fn levels(test: &str, options: &Options, evidence: &Evidence) -> Vec<Level> {
    let is_less =
        |level: &Level| seeds(test, *level, options, evidence).len() < options.seeds.len();
    specs::levels(&options.levels)
        .into_iter()
        .filter(is_less)
        .collect()
}

/// Whether a run at `level` draws independently, and often, wherever it draws. Random bytes count for nothing: what they are for, a run
/// does not tell.
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
    use nondex_core::{ChoiceRecord, Outcome, PointRecord, Selection, hash};

    use super::*;
    use crate::judge::conclusion::Conclusion;
    use crate::judge::equivalence::is_made;
    use crate::judge::simulation::{options, point, run, runs_at, simulate, site};
    use nondex_core::choice::draw;
    use nondex_core::context::place;

    /// A run that reached sites of these families so often.
    fn reached(sites: &[(Family, u64)]) -> Run {
        let points = sites.iter().zip(1..).map(|(&(family, count), line)| {
            let site = Site {
                family,
                ..site(line)
            };
            PointRecord {
                count,
                ..point(site)
            }
        });
        Run {
            points: points.collect(),
            ..run(true, [])
        }
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
            let found = Level::ALL
                .into_iter()
                .filter(|level| is_sample(&run, *level));
            assert_eq!(found.collect::<Vec<_>>(), levels, "{sites:?}");
        }
    }

    #[test]
    fn a_sample_is_run_under_three_of_ten_seeds_and_ends_as_under_all() {
        let mut options = options();
        let sample = |_: &RunSpec| reached(&[(Family::HashKeys, 100), (Family::Entropy, 1)]);
        let (short, evidence) = simulate(&options, sample);
        assert_eq!(evidence.count(), 2 + 3);
        assert_eq!(levels("t", &options, &evidence), [Level::Std]);
        options.prune = false;
        let (long, evidence) = simulate(&options, sample);
        assert_eq!(evidence.count(), 2 + 5 * 10);
        assert_eq!(
            (short, levels("t", &options, &evidence)),
            (long, Vec::new())
        );
    }

    #[test]
    fn a_sample_that_fails_now_and_then_is_found_with_the_first_seeds() {
        // One map in a hundred has the key that fails: most runs have one.
        let fails = |spec: &RunSpec| {
            let has_choice = spec.choices != Selection::None;
            let is_unlucky =
                (0..100).any(|map| hash::mix(spec.seed << 8 | map).is_multiple_of(100));
            Run {
                outcome: if has_choice && spec.level == Level::Std && is_unlucky {
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

    /// A run that orders collections of these lengths, each at a line of its own, drawn from the seed as the runtime does; it
    /// passes if the first and the last one begin with these elements in base order, whatever else comes.
    fn orders(spec: &RunSpec, lens: &[u64], passes: fn(&[Vec<usize>]) -> bool) -> Run {
        let mut drawn = Vec::new();
        let mut choices = Vec::new();
        let mut points = Vec::new();
        for (&len, line) in lens.iter().zip(1..) {
            let looks =
                matches!(spec.level, Level::Eq | Level::Id) && spec.choices != Selection::None;
            let choice = ChoiceRecord {
                place: place("t", "0", &site(line)),
                ordinal: 0,
                len,
                aspect: looks.then_some(u64::from(line)),
                reading: None,
            };
            let order = is_made(spec, &site(line), "0")
                .then(|| draw(spec.schedule, spec.level, spec.seed, &choice))
                .flatten();
            drawn.push(order.map_or_else(|| (0..len as usize).collect(), Iterator::collect));
            choices.push(choice);
            points.push(PointRecord {
                count: 1,
                max_len: len,
                ..point(site(line))
            });
        }
        let run = run(passes(&drawn), []);
        Run {
            choices: choices.into(),
            points: points.into(),
            ..run
        }
    }

    #[test]
    fn a_test_whose_orders_have_nothing_in_common_is_run_at_one_level_above_std() {
        let runs = |lens: &[u64], options: &Options| {
            let (conclusion, evidence) = simulate(options, |spec| orders(spec, lens, |_| true));
            assert_eq!(conclusion, Conclusion::Stable);
            Level::ALL.map(|level| runs_at(&evidence, level))
        };
        assert_eq!(runs(&[20, 30, 500], &options()), [10, 10, 0, 0, 0]);
        assert_eq!(runs(&[20, 30, 20], &options()), [10; 5]);
        let mut some = options();
        some.levels = vec![Level::Full, Level::Eq];
        assert_eq!(runs(&[20, 30, 500], &some), [0, 0, 10, 0, 0]);
        some.all_levels = true;
        assert_eq!(runs(&[20, 30, 500], &some), [0, 0, 10, 0, 10]);
    }

    #[test]
    fn what_is_left_out_where_levels_are_one_ends_as_all_the_runs_do() {
        let programs: [fn(&[Vec<usize>]) -> bool; 4] = [
            |orders| orders[0][0] == 0,
            |orders| orders[0][0] != 0 || orders[1][0] == 0,
            |orders| {
                orders[0].iter().position(|&e| e == 3) < orders[0].iter().position(|&e| e == 9)
            },
            |orders| orders[0].len() + orders[1].len() == 50,
        ];
        for passes in programs {
            let found = [true, false].map(|prune| {
                let mut options = options();
                options.prune = prune;
                let (conclusion, _) = simulate(&options, |spec| orders(spec, &[20, 30], passes));
                match conclusion {
                    Conclusion::Dependent(found) => Some(found.spec.level),
                    _ => None,
                }
            });
            assert_eq!(found[0], found[1]);
        }
    }

    #[test]
    fn orders_with_nothing_in_common_are_as_likely_at_every_level_above_std() {
        // How often the two begin with the same rank, and the first with 0, of 2,000 random seeds: about 1 in 20 each.
        for level in [Level::One, Level::Eq, Level::Id, Level::Full] {
            let mut counts = [0, 0];
            for seed in 1000..3000 {
                let spec = RunSpec::new("t", level, seed);
                for (count, is_so) in counts.iter_mut().zip([
                    (|orders: &[Vec<usize>]| orders[0][0] == orders[1][0])
                        as fn(&[Vec<usize>]) -> bool,
                    |orders| orders[0][0] == 0,
                ]) {
                    *count += u32::from(orders(&spec, &[20, 21], is_so).passed());
                }
            }
            assert!(
                counts.iter().all(|count| (60..140).contains(count)),
                "{level}: {counts:?}"
            );
        }
    }
}
