//! Tests of conclusions about threads, over simulated schedules.

mod natural;
mod plain;
use std::collections::BTreeMap;
use std::time::Duration;

use nondex_core::choice::hold::{SHORTEST, longest};
use nondex_core::{
    Failure, Family, GivenChoice, Level, NumberRecord, Outcome, PointRecord, RunSpec, ScheduleEnd,
    ScheduleEndKind, ScheduleRecord, Site, Source, StepRecord, hash,
};

use super::*;
use crate::certainty::{ENOUGH, ENOUGH_FAILURES, sources};
use crate::conclusion::{Conclusion, Dependence};
use crate::culprit::Decisive;
use crate::exhaustive::verified;
use crate::plain::{PlainBuild, is_wanted};
use crate::run::Run;
use crate::sampling;
use crate::simulation::{made, options, point, run, runs_at, simulate, site};
use crate::timing::Timing;

/// Simulated test of two threads. The first does some operations, each at a separate line. Whenever
/// it is delayed, the second continues with its operations, one in 100 ns.
struct Threads {
    /// Number of operations of the first thread.
    operations: u32,
    family: Family,
}

/// Record of one run.
#[derive(Default)]
struct Done {
    longest_delay: u64,
    /// Number of operations that the second thread had done when the first reached each of its
    /// operations.
    others: Vec<u64>,
    points: BTreeMap<Site, PointRecord>,
    steps: Vec<StepRecord>,
}

impl Threads {
    fn new(operations: u32) -> Self {
        Threads { operations, family: Family::Schedule }
    }

    fn site(&self, line: u32) -> Site {
        Site { api: "std::thread::spawn".into(), family: self.family, ..site(line) }
    }

    fn done(&self, spec: &RunSpec) -> Done {
        let mut done = Done::default();
        let mut other = 0;
        for line in 0..self.operations {
            let site = self.site(line);
            let key =
                hash::mix(spec.seed() ^ hash::mix((spec.level() as u64) << 32 | u64::from(line)));
            let is_reached = if spec.is_clean() { line == 0 } else { key.is_multiple_of(4) };
            if spec.is_scheduled() && is_reached {
                let record =
                    PointRecord { count: 1, max_len: longest(spec.level()), ..point(site.clone()) };
                done.points.insert(site.clone(), record);
                let delay = self.hold(spec, &site, key >> 8, &mut done.steps);
                done.longest_delay = delay.max(done.longest_delay);
                other += delay / SHORTEST;
            }
            done.others.push(other);
        }
        done
    }

    fn hold(&self, spec: &RunSpec, site: &Site, key: u64, steps: &mut Vec<StepRecord>) -> u64 {
        let doublings = (longest(spec.level()) / SHORTEST).ilog2();
        let drawn = SHORTEST << (key % u64::from(doublings));
        let given = spec.given().iter().find(|given| given.site == *site);
        if let Some(GivenChoice::Steps(wanted)) = given.map(|given| &given.choice) {
            let value = drawn.min(*wanted);
            steps.push(StepRecord {
                site: site.clone(),
                thread: "0".into(),
                ordinal: 0,
                len: longest(spec.level()),
                steps: drawn,
                position: 0,
                exchanged: Vec::new(),
                created: Vec::new(),
                number: Some(NumberRecord { base: 0, value }),
            });
            return value;
        }
        if spec.selected(site, "0").contains(0) { drawn } else { 0 }
    }

    fn run(&self, spec: &RunSpec, passes: impl Fn(&[u64]) -> bool) -> Run {
        let done = self.done(spec);
        Run {
            points: done.points.into_values().collect(),
            steps: done.steps,
            sources: vec![Source::Thread],
            schedule: spec.is_scheduled().then(|| ScheduleRecord {
                threads: 2,
                longest_delay: done.longest_delay,
                ..ScheduleRecord::default()
            }),
            ..run(passes(&done.others), [])
        }
    }
}

/// Returns whether the second thread does nothing between these two operations of the first.
fn is_atomic(others: &[u64], from: usize, to: usize) -> bool {
    others[from] == others[to]
}

/// Makes a run also reach the choice of an order, at site 100.
fn reach_an_order(run: &mut Run) {
    let points = run.points.iter().cloned();
    run.points = points.chain([point(site(100))]).collect();
}

fn dependence(conclusion: Conclusion) -> Dependence {
    match conclusion {
        Conclusion::Dependent(found) => *found,
        other => panic!("expected a dependence, found {other:?}"),
    }
}

#[test]
fn a_delay_between_two_operations_is_found_among_hundreds_and_the_shortest_is_told() {
    for (operations, line) in [(8, 3), (400, 250)] {
        let threads = Threads::new(operations);
        let (conclusion, evidence) = simulate(&options(), |spec| {
            threads.run(spec, |others| is_atomic(others, line - 1, line))
        });
        let found = dependence(conclusion);
        assert_eq!(found.reason(&evidence), Some(Timing::Race));
        assert!(found.culprits.confirmed, "{operations} {:?} {:?}", found.culprits, found.spec);
        let [group] = &found.culprits.groups[..] else { panic!("{found:?}") };
        assert_eq!(group.sites, [threads.site(u32::try_from(line).unwrap())]);
        let turn = group.calls[0].turn.as_ref().unwrap();
        let number = NumberRecord { base: 0, value: SHORTEST };
        assert_eq!(turn.decisive, Decisive::Number(number));
        let search = evidence.all().filter(|(spec, _)| spec.draws_some());
        assert!(search.count() < 80);
    }
}

#[test]
fn how_late_a_thread_must_be_is_known_to_one_hundredth() {
    let threads = Threads { family: Family::Time, ..Threads::new(300) };
    // The second thread has to do at least 26 of its operations.
    for needed in [26, 777, 90_000] {
        let (conclusion, evidence) = simulate(&options(), |spec| {
            threads.run(spec, |others| others[40] - others[39] < needed)
        });
        let found = dependence(conclusion);
        assert_eq!(found.reason(&evidence), Some(Timing::Time));
        assert!(found.culprits.confirmed);
        let call = &found.culprits.groups[0].calls[0];
        let Decisive::Number(number) = call.turn.as_ref().unwrap().decisive else {
            panic!("{call:?}")
        };
        let exact = needed * SHORTEST;
        assert!((exact..=exact + exact / 50 + SHORTEST).contains(&number.value));
    }
}

#[test]
fn a_delay_is_confirmed_though_what_else_the_test_waits_for_takes_another_time_in_each_run() {
    let threads = Threads { family: Family::Time, ..Threads::new(300) };
    for (most, is_certain) in [(10_000, true), (120_000, false)] {
        let mut runs = 0;
        let (conclusion, _) = simulate(&options(), |spec| {
            runs += 1;
            let other = hash::mix(runs) % most;
            threads.run(spec, |others| others[40] - others[39] + other < 110_000)
        });
        let is_found = matches!(&conclusion, Conclusion::Dependent(found)
            if found.culprits.confirmed && found.culprits.groups[0].calls[0].turn.is_some());
        assert_eq!(is_found, is_certain, "{conclusion:?}");
    }
}

#[test]
fn one_of_many_delays_with_the_same_effect_is_confirmed() {
    // A thread that is delayed before the tenth operation is too late.
    let threads = Threads::new(100);
    let (conclusion, _) = simulate(&options(), |spec| threads.run(spec, |others| others[10] < 3));
    let found = dependence(conclusion);
    assert!(found.culprits.confirmed, "{:?}", found.culprits);
    assert_eq!(found.culprits.groups.len(), 1);
}

#[test]
fn an_order_that_suffices_is_blamed_before_a_delay_and_is_no_race() {
    let threads = Threads::new(50);
    let (conclusion, evidence) = simulate(&options(), |spec| {
        let mut run = threads.run(spec, |others| is_atomic(others, 9, 30));
        if made(spec, 100) {
            run.outcome = Outcome::Failed;
        }
        reach_an_order(&mut run);
        run
    });
    let found = dependence(conclusion);
    assert_eq!(found.culprits.groups[0].sites, [site(100)]);
    assert_eq!(found.reason(&evidence), None);
}

#[test]
fn a_test_that_threads_cannot_make_fail_is_stable_and_nobody_has_seen_all_its_schedules() {
    let threads = Threads::new(40);
    let (conclusion, evidence) = simulate(&options(), |spec| threads.run(spec, |_| true));
    assert_eq!(conclusion, Conclusion::Stable);
    let options = options();
    assert_eq!(verified(Question::new("t", &options, &evidence)), []);
    let sampled = sampling::levels(Question::new("t", &options, &evidence));
    assert_eq!(sampled, [Level::One, Level::Eq, Level::Id]);
    // One more run starts the search through all schedules, and finds no decision.
    assert_eq!(Level::ALL.map(|level| runs_at(&evidence, level)), [10 + 1, 1, 1, 1, 10]);
    // Chance may still act if no schedule is chosen.
    let natural = evidence.of(&options.natural_spec("t"));
    assert_eq!(natural.len(), ENOUGH);
    assert_eq!(sources(&evidence), [Source::Thread]);
}

#[test]
fn a_test_that_only_some_seed_brings_to_a_choice_of_threads_is_run_as_often_with_real_ones() {
    let threads = Threads::new(40);
    let (conclusion, evidence) = simulate(&options(), |spec| {
        // Its clean runs only reach an order.
        let is_timed = spec.is_scheduled() && !spec.is_clean() && spec.seed() >= 4;
        Run {
            sources: vec![Source::Thread],
            ..if is_timed { threads.run(spec, |_| true) } else { run(true, [1]) }
        }
    });
    assert_eq!(conclusion, Conclusion::Stable);
    let natural = evidence.of(&options().natural_spec("t"));
    assert_eq!(natural.len(), ENOUGH);
}

#[test]
fn a_test_that_comes_to_no_choice_of_threads_costs_no_run_more() {
    for scheduled in [true, false] {
        let options = Options { real_threads: !scheduled, ..options() };
        let (_, evidence) = simulate(&options, |_| run(true, []));
        assert_eq!(evidence.count(), 2);
        let (_, evidence) = simulate(&options, |_| run(true, [1]));
        assert_eq!(evidence.count(), 2 + 5 * 10);
        let (_, evidence) = simulate(&options, |_| run(false, []));
        assert_eq!(evidence.count(), 2);
    }
}

#[test]
fn what_is_written_in_another_order_by_threads_is_no_latent_dependence() {
    let threads = Threads::new(40);
    let (conclusion, evidence) = simulate(&options(), |spec| Run {
        written: hash::of(&threads.done(spec).others),
        ..threads.run(spec, |_| true)
    });
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(evidence.count(), 2 + 1 + 2 * 10 + 3 + ENOUGH);
}

#[test]
fn a_seed_that_delays_nothing_says_nothing_of_another_one() {
    // Many seeds delay none of only a few operations.
    let threads = Threads::new(2);
    let found = [true, false].map(|prune| {
        let options = Options { prune, ..options() };
        let (conclusion, evidence) =
            simulate(&options, |spec| threads.run(spec, |others| is_atomic(others, 0, 1)));
        assert!(runs_at(&evidence, Level::Std) >= 10);
        dependence(conclusion)
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn the_level_of_a_finding_is_that_of_the_shortest_delays_that_do_together() {
    let threads = Threads::new(60);
    let mut options = options();
    options.seeds = (0..200).collect();
    let longest_of_std = longest(Level::Std) / SHORTEST;
    // One thread needs two delays, one of them longer than the other. No seed of a weaker level
    // happens to draw them.
    for (lengths, from, level) in [
        ([40, 3], Level::Std, Level::Std),
        ([40, 3], Level::Full, Level::Std),
        ([longest_of_std, longest_of_std / 2], Level::Full, Level::One),
    ] {
        let wanted = [(20, lengths[0]), (50, lengths[1])];
        let (conclusion, evidence) = simulate(&options, |spec| {
            threads.run(spec, |others| {
                let is_late = |(at, least): (usize, u64)| others[at] - others[at - 1] >= least;
                spec.level() < from || !wanted.into_iter().all(is_late)
            })
        });
        let found = dependence(conclusion);
        assert!(found.culprits.confirmed);
        assert!(found.spec.level() >= from);
        assert_eq!(found.level_of_delays(&evidence), Some(level), "{found:?}");
        let values = found.culprits.groups[0].calls.iter().map(|call| {
            let Decisive::Number(number) = call.turn.as_ref().unwrap().decisive else {
                panic!("{call:?}")
            };
            number.value / SHORTEST
        });
        // The delays are found to one percent.
        let mut values = values.zip(lengths);
        assert!(values.all(|(value, least)| (least..=least + least / 100).contains(&value)));
    }
    // A delay longer than a level allows belongs to another level.
    let (conclusion, evidence) =
        simulate(&options, |spec| threads.run(spec, |others| others[20] - others[19] < 500_000));
    let found = dependence(conclusion);
    assert_eq!(found.level_of_delays(&evidence), Some(Level::One));
}

#[test]
fn what_only_passes_when_it_is_delayed_longer_than_here_is_broken_if_no_plain_run_passes() {
    let longest_of_std = longest(Level::Std) / SHORTEST;
    for (family, needed, is_broken) in [
        (Family::Time, longest_of_std / 2, false),
        (Family::Time, longest_of_std * 4, true),
        (Family::Schedule, longest_of_std * 2, false),
        (Family::Schedule, longest_of_std * 20, true),
    ] {
        let threads = Threads { family, ..Threads::new(40) };
        let (conclusion, _) = simulate(&options(), |spec| {
            threads.run(spec, |others| others[39] - others[0] >= needed)
        });
        assert!(!dependence(conclusion.clone()).passes_clean);
        assert_eq!(is_wanted(&conclusion), is_broken, "{family:?} {needed}");
        for (runs, expected) in [([20, 20], is_broken), ([19, 20], false)] {
            let plain = PlainBuild::Runs(runs);
            let compared = conclusion.clone().compared_with(Some(&plain));
            assert_eq!(compared == Conclusion::Broken, expected, "{compared:?}");
        }
    }
}

#[test]
fn where_the_search_ends_early_the_longest_delay_of_the_run_says_the_level() {
    let threads = Threads::new(60);
    let mut options = options();
    options.search_runs = 2;
    for least in [1, 2_000_000] {
        let (conclusion, evidence) = simulate(&options, |spec| {
            threads.run(spec, |others| spec.level() < Level::Id || others[40] - others[39] < least)
        });
        let found = dependence(conclusion);
        assert!(!found.culprits.confirmed);
        let delay = evidence.of(&found.spec)[0].schedule.as_ref().unwrap().longest_delay;
        let level = Level::ALL.into_iter().find(|level| delay <= longest(*level));
        assert_eq!(found.level_of_delays(&evidence), level);
        assert!(least == 1 || level >= Some(Level::Eq), "{delay}");
    }
}

#[test]
fn a_delay_that_is_not_needed_once_another_is_short_is_not_blamed() {
    // A long delay at the 20th operation needs one at the 30th too; a short one does not.
    let threads = Threads::new(40);
    let (conclusion, _) = simulate(&options(), |spec| {
        threads.run(spec, |others| {
            let at = |line: usize| others[line] - others[line - 1];
            at(20) == 0 || at(20) >= 10 && at(30) == 0
        })
    });
    let found = dependence(conclusion);
    assert!(found.culprits.confirmed, "{found:?}");
    assert_eq!(found.culprits.groups[0].sites, [threads.site(20)]);
    assert_eq!(found.culprits.groups[0].calls.len(), 1);
}
