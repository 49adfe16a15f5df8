//! Finds levels whose orders a test cannot distinguish from those of a weaker level.
//!
//! The levels from ONE on draw every order in the same way. They only differ in which orders agree:
//! at ONE those of equal length, at EQ those of equal content, at ID those of one unmodified
//! object, and at FULL none. If a run has no two orders that agree at its level, it has independent
//! orders. A test whose first runs at two levels have independent orders sees the same distribution
//! at both. Further seeds at the stronger level would only be more samples of what the seeds at the
//! weaker one sample already, less realistically. So one seed is tried there, unless a run fails.

use std::collections::HashSet;

use nondex_core::choice::key;
use nondex_core::context::place;
use nondex_core::{Family, Level, Model, RunSpec};

use super::margin;
use super::question::Question;
use super::run::Run;
use super::timing::may_be_of_schedule;

/// Returns whether a run at `level` would only be more of what runs at other levels show, as far as
/// the runs until now show.
pub(super) fn is_as_at_others(question: Question<'_>, level: Level) -> bool {
    is_as_at_weaker(question, level) || margin::is_between(question, level)
}

/// Returns whether the orders at `level` are drawn like those of a weaker level, as far as the
/// first run at each of them shows.
fn is_as_at_weaker(question: Question<'_>, level: Level) -> bool {
    let (options, evidence) = (question.options, question.evidence);
    if !options.prune || level <= Level::One || evidence.all().any(|(_, run)| !run.passed()) {
        return false;
    }
    let is_independent = |level: Level| {
        let is_drawn = |spec: &RunSpec| spec.draws_all() && spec.level() == level;
        let first = evidence.specs().find(|(spec, _)| is_drawn(spec));
        first
            .and_then(|(_, runs)| runs.first())
            .is_some_and(|run| draws_apart(question, run, level))
    };
    let is_weaker = |weaker: &Level| *weaker < level && *weaker >= Level::One;
    is_independent(level) && options.levels.iter().copied().filter(is_weaker).any(is_independent)
}

/// Returns whether no two observed orders of a run at `level` agree by definition of the level.
/// Returns false if this is unknown, or if the level decides more than orders.
fn draws_apart(question: Question<'_>, run: &Run, level: Level) -> bool {
    if !run.complete || run.lost || may_be_of_schedule(run) {
        return false;
    }
    let varying = run.points.iter().filter(|point| point.site.family.varies(level));
    let mut keys = HashSet::new();
    let mut has_order = false;
    for point in varying {
        let family = point.site.family;
        if !family.is_of_orders() || family == Family::Environment {
            return false;
        }
        has_order = true;
        // Only the elements' own code sees these orders, and not whether two of them agree.
        if Model::by_api(&point.site.api).is_some_and(Model::is_unseen) {
            continue;
        }
        let place = place(question.test, &point.thread, &point.site);
        let listed = run.choices.iter().filter(|choice| choice.place == place);
        let mut count = 0;
        for choice in listed {
            count += 1;
            let Some(key) = key(level, choice) else { return false };
            if !keys.insert(key) {
                return false;
            }
        }
        if count != point.count {
            return false;
        }
    }
    has_order
}

#[cfg(test)]
mod tests {
    use nondex_core::{ChoiceRecord, Outcome, PointRecord, ScheduleRecord};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::options::Options;
    use crate::simulation::{options, point, run, runs_at, simulate, site};

    /// One read of a collection: its line, length, content, and object with its modifications.
    type Read = (u32, u64, u64, u64);

    /// Returns a run of `spec` that makes these reads.
    fn reading(spec: &RunSpec, reads: &[Read]) -> Run {
        let aspect = |&(_, _, content, version): &Read| match spec.draws_all() {
            true if spec.level() == Level::Eq => Some(content),
            true if spec.level() == Level::Id => Some(version),
            _ => None,
        };
        let choices = reads.iter().enumerate().map(|(at, read)| ChoiceRecord {
            place: place("t", "0", &site(read.0)),
            ordinal: reads[..at].iter().filter(|earlier| earlier.0 == read.0).count() as u64,
            len: read.1,
            aspect: aspect(read),
            reading: None,
            own: 0,
        });
        let lines: HashSet<u32> = reads.iter().map(|read| read.0).collect();
        let points = lines.into_iter().map(|line| PointRecord {
            count: reads.iter().filter(|read| read.0 == line).count() as u64,
            ..point(site(line))
        });
        Run { choices: choices.collect(), points: points.collect(), ..run(true, []) }
    }

    /// Returns the number of runs at each level of a test that makes these reads.
    fn runs(options: &Options, reads: &[Read]) -> Vec<usize> {
        let (conclusion, evidence) = simulate(options, |spec| reading(spec, reads));
        assert_eq!(conclusion, Conclusion::Stable);
        Level::ALL.iter().map(|level| runs_at(&evidence, *level)).collect()
    }

    #[test]
    fn a_level_has_one_seed_if_no_orders_agree_at_it_or_at_a_weaker_one() {
        for (reads, expected) in [
            (&[(1, 20, 1, 1)][..], [10, 10, 1, 1, 1]),
            (&[(1, 20, 1, 1), (2, 30, 2, 2)], [10, 10, 1, 1, 1]),
            (&[(1, 20, 1, 1), (1, 20, 2, 2)], [10, 10, 10, 1, 1]),
            (&[(1, 20, 1, 1), (2, 20, 1, 2)], [10, 10, 10, 10, 1]),
            (&[(1, 20, 1, 1), (2, 20, 1, 1)], [10, 10, 10, 10, 10]),
            // The content was changed without a modification of the collection.
            (&[(1, 20, 1, 1), (1, 20, 2, 1)], [10, 10, 10, 10, 1]),
        ] {
            assert_eq!(runs(&options(), reads), expected, "{reads:?}");
            let long = Options { prune: false, ..options() };
            assert_eq!(runs(&long, reads), [10; 5], "{reads:?}");
        }
    }

    #[test]
    fn a_level_has_all_seeds_if_no_weaker_one_was_requested_that_draws_orders() {
        let levels = vec![Level::Std, Level::Id, Level::Full];
        let options = Options { levels, ..options() };
        assert_eq!(runs(&options, &[(1, 20, 1, 1)]), [10, 0, 0, 10, 1]);
    }

    #[test]
    fn what_a_run_does_not_list_or_decides_besides_orders_is_not_taken_for_alike() {
        let reads = [(1, 20, 1, 1)];
        let unlike: [fn(&mut Run); 5] = [
            |run| run.complete = false,
            |run| run.lost = true,
            |run| run.choices = [].into(),
            |run| {
                run.points = run
                    .points
                    .iter()
                    .map(|point| PointRecord { count: 2, ..point.clone() })
                    .collect();
            },
            |run| run.schedule = Some(ScheduleRecord { threads: 2, ..ScheduleRecord::default() }),
        ];
        for (number, change) in unlike.iter().enumerate() {
            let (_, evidence) = simulate(&options(), |spec| {
                let mut run = reading(spec, &reads);
                change(&mut run);
                run
            });
            assert!(runs_at(&evidence, Level::Full) >= 10, "{number}");
        }
    }

    #[test]
    fn a_failure_at_any_level_is_judged_as_if_every_seed_had_been_tried() {
        for from in Level::ALL {
            let fails = |spec: &RunSpec| Run {
                outcome: if spec.draws_all()
                    && spec.level() >= from
                    && spec.seed().is_multiple_of(3)
                {
                    Outcome::Failed
                } else {
                    Outcome::Passed
                },
                ..reading(spec, &[(1, 20, 1, 1)])
            };
            let found = |prune| match simulate(&Options { prune, ..options() }, fails).0 {
                Conclusion::Dependent(found) => found.spec,
                other => panic!("{from}: {other:?}"),
            };
            assert_eq!(found(true), found(false), "{from}");
        }
    }
}
