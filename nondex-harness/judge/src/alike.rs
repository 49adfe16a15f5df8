//! Finds levels whose orders a test cannot distinguish from those of a weaker level.
//!
//! The levels from ONE on draw every order in the same way. They only differ in which orders agree:
//! at ONE those of equal length, at EQ those of equal content, at ID those of one unmodified
//! object, and at FULL none. If the orders of a test agree in the same groups at two levels, it
//! sees the same distribution at both. Further seeds at the stronger level would only be more
//! samples of what the seeds at the weaker one sample already, less realistically. So one seed is
//! tried there, unless a run fails.

use std::collections::HashMap;

use nondex_core::choice::key;
use nondex_core::context::place;
use nondex_core::{ChoiceRecord, Level, Model, PointRecord};

use super::question::Question;
use super::run::Run;
use super::timing::{is_timing, may_be_of_schedule};

/// Returns whether the choices at `level` are orders alone, drawn like those of a weaker level.
pub(super) fn is_as_at_weaker(question: Question<'_>, level: Level) -> bool {
    let mut all = question.evidence.all().map(|(_, run)| run);
    let is_of_orders = |point: &PointRecord| {
        let family = point.site.family;
        !family.varies(level) || family.is_of_orders()
    };
    all.all(|run| !may_be_of_schedule(run) && run.points.iter().all(is_of_orders))
        && orders_are_as_at_weaker(question, level)
}

/// Returns whether the orders at `level` are drawn like those of a weaker level, as far as the
/// first run at each of them shows.
pub(super) fn orders_are_as_at_weaker(question: Question<'_>, level: Level) -> bool {
    let (options, evidence) = (question.options, question.evidence);
    if !options.prune || level <= Level::One || evidence.all().any(|(_, run)| !run.passed()) {
        return false;
    }
    let agreement = |level: Level| agreement(question, question.first_drawn(level)?, level);
    let is_weaker = |weaker: &Level| *weaker < level && *weaker >= Level::One;
    let mut weaker = options.levels.iter().copied().filter(is_weaker);
    let found = agreement(level);
    found.is_some() && weaker.any(|weaker| agreement(weaker) == found)
}

/// One observed order: its place, its ordinal there, its length, and the number of the group of
/// orders that agree. Orders that are canonical whatever the seed have no group.
type Order = (u64, u64, u64, Option<usize>);

/// Returns which observed orders of a run at `level` agree by definition of the level, sorted.
/// Returns `None` if this is unknown, and if there are none.
fn agreement(question: Question<'_>, run: &Run, level: Level) -> Option<Vec<Order>> {
    if !run.complete || run.lost {
        return None;
    }
    let mut listed: Vec<&ChoiceRecord> = Vec::new();
    for point in run.points.iter() {
        // Only the elements' own code sees some orders, and not whether two of them agree.
        if !point.site.family.varies(level)
            || is_timing(&point.site)
            || Model::by_api(&point.site.api).is_some_and(Model::is_unseen)
        {
            continue;
        }
        let place = place(question.test, &point.thread, &point.site);
        let before = listed.len();
        listed.extend(run.choices.iter().filter(|choice| choice.place == place));
        if (listed.len() - before) as u64 != point.count {
            return None;
        }
    }
    listed.sort_unstable_by_key(|choice| (choice.place, choice.ordinal));
    let mut groups = HashMap::new();
    let order = |choice: &&ChoiceRecord| {
        let group = if choice.keeps_base(level) {
            None
        } else {
            let next = groups.len();
            Some(*groups.entry(key(level, choice)?).or_insert(next))
        };
        Some((choice.place, choice.ordinal, choice.len, group))
    };
    let orders: Vec<Order> = listed.iter().map(order).collect::<Option<_>>()?;
    (!orders.is_empty()).then_some(orders)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use nondex_core::{Family, Outcome, RunSpec, ScheduleRecord, Site, model};

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
    fn a_level_has_one_seed_if_the_same_orders_agree_as_at_a_weaker_one() {
        for (reads, expected) in [
            (&[(1, 20, 1, 1)][..], [10, 10, 1, 1, 1]),
            (&[(1, 20, 1, 1), (2, 30, 2, 2)], [10, 10, 1, 1, 1]),
            (&[(1, 20, 1, 1), (1, 20, 2, 2)], [10, 10, 10, 1, 1]),
            (&[(1, 20, 1, 1), (2, 20, 1, 2)], [10, 10, 1, 10, 1]),
            (&[(1, 20, 1, 1), (2, 20, 1, 1)], [10, 10, 1, 1, 10]),
            // The content was changed without a modification of the collection.
            (&[(1, 20, 1, 1), (1, 20, 2, 1)], [10, 10, 10, 1, 1]),
            (&[(1, 20, 1, 1), (1, 20, 2, 1), (1, 20, 2, 2)], [10, 10, 10, 10, 10]),
        ] {
            assert_eq!(runs(&options(), reads), expected, "{reads:?}");
            let long = Options { prune: false, ..options() };
            assert_eq!(runs(&long, reads), [10; 5], "{reads:?}");
        }
    }

    #[test]
    fn orders_are_compared_where_one_thread_is_delayed_as_well() {
        let read_twice = [(1, 20, 1, 1), (2, 20, 1, 1)];
        for (threads, expected) in [(1, [10, 10, 1, 1, 10]), (2, [10; 5])] {
            let (_, evidence) = simulate(&options(), |spec| {
                let run = reading(spec, &read_twice);
                let delay = Site { family: Family::Time, ..site(9) };
                let delay = Site { api: model::THREAD_SLEEP.api.into(), ..delay };
                let points = run.points.iter().cloned().chain([point(delay)]).collect();
                let schedule = ScheduleRecord { threads, ..ScheduleRecord::default() };
                Run { points, schedule: Some(schedule), ..run }
            });
            assert_eq!(Level::ALL.map(|level| runs_at(&evidence, level)), expected, "{threads}");
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
