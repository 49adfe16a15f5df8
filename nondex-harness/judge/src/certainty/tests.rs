//! Tests of how many runs are enough.

use nondex_core::{Family, Level, ScheduleRecord, Site, StateChange, StateKind, model};

use super::super::equivalence::is_made;
use super::super::missing::Spent;
use super::super::options::Options;
use super::super::plan;
use super::super::simulation::{options, point, run, settle, simulate, site};
use super::*;

/// Simulates like [`simulate`], and measures the failure rate of a test with two outcomes.
fn simulate_measured(
    options: &Options,
    mut test: impl FnMut(&RunSpec) -> Run,
) -> (Conclusion, Evidence) {
    let mut evidence = Evidence::new(true);
    let conclude = |evidence: &Evidence| {
        let question = Question::new("t", options, evidence);
        let conclusion = plan::conclude(question)?;
        if let Conclusion::NonDeterministic { spec } = &conclusion {
            measure(spec, question)?;
        }
        Ok(conclusion)
    };
    let conclusion = settle(&mut evidence, conclude, |evidence, spec: RunSpec, _| {
        let run = test(&spec);
        evidence.add(spec, run);
    });
    (conclusion, evidence)
}

fn timed(passed: bool, took: Duration) -> Run {
    Run { sources: vec![Source::Clock], took, ..run(passed, []) }
}

#[test]
fn a_test_that_reads_a_clock_is_run_often_before_it_is_called_stable() {
    let (conclusion, evidence) = simulate(&options(), |_| timed(true, Duration::ZERO));
    assert_eq!(conclusion, Conclusion::Stable);
    // In the clean runs, the clock is not the real one.
    assert_eq!((evidence.count(), samples(&evidence)), (2 + ENOUGH, ENOUGH));
    assert!(bound(samples(&evidence)) < 0.14);
    assert_eq!(sources(&evidence), [Source::Clock]);
}

#[test]
fn a_test_that_sleeps_beyond_every_limit_is_not_run_in_real_time() {
    for (seconds, natural) in [(300, ENOUGH), (301, 0)] {
        let (conclusion, evidence) = simulate(&options(), |spec| {
            assert!(spec.is_scheduled() || natural > 0);
            let time_us = seconds * 1_000_000;
            let schedule = spec.is_scheduled().then(|| ScheduleRecord {
                threads: 1,
                time_us,
                ..ScheduleRecord::default()
            });
            Run { schedule, ..timed(true, Duration::ZERO) }
        });
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(evidence.all().filter(|(spec, _)| spec.is_natural()).count(), natural);
    }
}

#[test]
fn a_test_that_fails_while_the_date_is_odd_passes_in_one_of_many_runs() {
    for (source, passes) in [(Source::Date, true), (Source::Clock, false)] {
        let mut runs = 0;
        let (conclusion, _) = simulate(&options(), |_| {
            runs += 1;
            Run { sources: vec![source], ..run(runs > 30, []) }
        });
        let is_chance = matches!(conclusion, Conclusion::NonDeterministic { .. });
        assert_eq!(is_chance, passes, "{conclusion:?}");
    }
}

#[test]
fn a_test_that_reads_random_bytes_or_the_date_is_run_more_often() {
    for source in [Source::RandomFile, Source::Date] {
        let (conclusion, evidence) =
            simulate(&options(), |_| Run { sources: vec![source], ..run(true, []) });
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(evidence.count(), ENOUGH_RANDOM);
        assert!(bound(evidence.count()) < 0.05);
    }
}

#[test]
fn runs_under_seeds_that_choose_threads_and_time_try_other_dates_too() {
    for (sources, seeds, natural) in [
        (&[Source::Clock, Source::Date][..], 10, ENOUGH_RANDOM - 50 - 2),
        (&[Source::Clock, Source::Date], 100, ENOUGH),
        (&[Source::Clock, Source::Date], 1, ENOUGH_RANDOM - 5 - 2),
        (&[Source::Clock], 1, ENOUGH),
    ] {
        let options = Options { seeds: (0..seeds).collect(), ..options() };
        let late = Site { family: Family::Time, api: model::THREAD_SLEEP.api.into(), ..site(1) };
        let (conclusion, evidence) = simulate(&options, |spec| Run {
            points: [point(late.clone())].into_iter().filter(|_| spec.is_scheduled()).collect(),
            sources: sources.to_vec(),
            schedule: Some(ScheduleRecord { threads: 2, ..ScheduleRecord::default() }),
            ..run(true, [])
        });
        assert_eq!(conclusion, Conclusion::Stable);
        let natural = natural.max(ENOUGH);
        assert_eq!(evidence.of(&options.natural_spec("t")).len(), natural, "{sources:?} {seeds}");
    }
}

#[test]
fn a_test_that_the_date_fails_without_a_delay_is_not_explained_by_one() {
    let late = Site { family: Family::Time, api: model::THREAD_SLEEP.api.into(), ..site(1) };
    for (source, fails_naturally, is_explained) in [
        (Source::Date, false, true),
        (Source::Date, true, false),
        // Without the date, only the machine is as slow as the delay.
        (Source::Sleep, true, true),
    ] {
        let mut natural = 0;
        let (conclusion, _) = simulate(&options(), |spec| {
            natural += usize::from(!spec.is_scheduled());
            let fails = if spec.is_scheduled() {
                is_made(spec, &late, "0") && spec.level() >= Level::Eq
            } else {
                fails_naturally && natural % 15 == 10
            };
            Run {
                points: [point(late.clone())].into_iter().filter(|_| spec.is_scheduled()).collect(),
                sources: vec![source, Source::Clock],
                ..run(!fails, [])
            }
        });
        let is_dependent = matches!(conclusion, Conclusion::Dependent(_));
        assert_eq!(is_dependent, is_explained, "{source:?} {conclusion:?}");
    }
}

#[test]
fn a_failure_among_them_is_non_deterministic() {
    let mut runs = 0;
    let (conclusion, _) = simulate(&options(), |_| {
        runs += 1;
        timed(runs != 12, Duration::ZERO)
    });
    assert!(matches!(conclusion, Conclusion::NonDeterministic { .. }));
}

#[test]
fn a_test_about_which_addresses_decide_is_told_from_one_that_fails_by_chance() {
    let by_address = |spec: &RunSpec, number: u64| spec.is_natural() && number % 3 != 1;
    let by_another = |spec: &RunSpec, number: u64| !spec.is_natural() || number % 3 == 1;
    let by_chance = |_: &RunSpec, number: u64| number % 3 != 1;
    type Fails = fn(&RunSpec, u64) -> bool;
    let all: [(Fails, bool); 3] = [(by_address, true), (by_another, true), (by_chance, false)];
    for (fails, is_of_address) in all {
        let options = options();
        let mut number = 0;
        let (conclusion, evidence) = simulate_measured(&options, |spec| {
            number += 1;
            run(!fails(spec, number), [])
        });
        let question = Question::new("t", &options, &evidence);
        assert!(matches!(conclusion, Conclusion::NonDeterministic { .. }), "{conclusion:?}");
        assert_eq!(is_of_addresses(question), is_of_address);
    }
}

#[test]
fn a_test_in_which_no_hasher_draws_ends_as_if_it_had_been_run_sixty_times() {
    let bytes = |start| StateId { kind: StateKind::Static, name: StateId::name_of_bytes(start, 8) };
    // The hasher's static is at 64. One run in thirty fails because of what is drawn there.
    for (written, is_drawn) in [(vec![64], true), (vec![0, 128], false), (vec![], false)] {
        let test = |spec: &RunSpec, number: u64| {
            let states = written
                .iter()
                .filter(|_| spec.records_changes())
                .map(|&start| StateChange { state: bytes(start), before: None, after: None });
            let is_random = spec.is_natural() && is_drawn;
            Run { states: states.collect(), ..run(!is_random || number % 30 != 29, []) }
        };
        let options = Options { address_seeds: [bytes(64)].into(), ..options() };
        let mut number = 0;
        let (short, evidence) = simulate(&options, |spec| {
            number += 1;
            test(spec, number)
        });
        let natural = evidence.of(&options.natural_spec("t")).len();
        assert_eq!(natural, if is_drawn { ENOUGH_RANDOM } else { 1 });
        let passes = |number| test(&options.natural_spec("t"), number).passed();
        assert_eq!(short == Conclusion::Stable, (0..60).all(passes), "{short:?}");
    }
}

#[test]
fn a_test_that_nothing_observes_is_run_sixty_times() {
    let options = Options { is_unobserved: true, ..options() };
    for fails in [false, true] {
        let mut number = 0;
        let (conclusion, evidence) = simulate(&options, |spec| {
            number += 1;
            run(!(fails && spec.is_natural() && number % 40 == 0), [])
        });
        assert_eq!(evidence.of(&options.natural_spec("t")).len(), ENOUGH_RANDOM);
        assert_eq!(conclusion != Conclusion::Stable, fails, "{conclusion:?}");
    }
}

#[test]
fn runs_under_seeds_count_too_unless_they_control_what_the_test_uses() {
    for (source, further) in [(Source::Child, 0), (Source::Thread, ENOUGH)] {
        let (conclusion, evidence) =
            simulate(&options(), |_| Run { sources: vec![source], ..run(true, [1]) });
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(evidence.count(), 2 + 5 * 10 + further);
    }
}

#[test]
fn a_clock_whose_start_seeds_draw_is_random_in_natural_runs_only() {
    let start = Site { family: Family::Entropy, api: model::CLOCK_GETTIME.api.into(), ..site(1) };
    // Under all seeds, the start is one with which the test passes.
    for prune in [true, false] {
        let options = Options { prune, ..options() };
        let mut number = 0;
        let (conclusion, _) = simulate(&options, |spec| {
            number += 1;
            let points = [point(start.clone())].into();
            let passed = spec.is_scheduled() || number % 2 == 0;
            Run { points, ..timed(passed, Duration::ZERO) }
        });
        assert!(matches!(conclusion, Conclusion::NonDeterministic { .. }), "{conclusion:?}");
    }
}

#[test]
fn a_test_that_takes_long_is_not_run_more_often_than_there_is_time() {
    let (_, evidence) = simulate(&options(), |_| timed(true, Duration::from_secs(3)));
    assert_eq!(evidence.count(), 2 + 3);
    let (_, evidence) = simulate(&options(), |_| timed(true, Duration::from_secs(30)));
    assert_eq!(evidence.count(), 2 + 1);
}

#[test]
fn a_test_that_was_seen_to_fail_is_confirmed_although_the_budget_is_spent() {
    let needs_runs = |first_passes: bool| {
        let options = options();
        let mut evidence = Evidence::new(true);
        for passed in [first_passes, true] {
            evidence.add(options.clean_spec("t"), timed(passed, Duration::ZERO));
        }
        for _ in 0..2 {
            evidence.add(options.natural_spec("t"), timed(true, Duration::ZERO));
        }
        evidence.spend(Spent { exploring: true, ..Spent::default() });
        is_confirmed(Question::new("t", &options, &evidence)).is_err()
    };
    assert_eq!([needs_runs(true), needs_runs(false)], [false, true]);
}

#[test]
fn the_bound_is_the_rule_of_three_for_many_runs() {
    for (runs, expected) in [(0, 1.0), (1, 0.95), (2, 0.7764), (20, 0.1391), (300, 0.0099)] {
        assert!((bound(runs) - expected).abs() < 1e-4, "{runs}: {}", bound(runs));
    }
}

#[test]
fn so_many_runs_without_a_failure_are_enough() {
    assert_eq!(runs_without_failure(0.5), 7);
    assert_eq!(runs_without_failure(0.1), 44);
    assert_eq!(runs_without_failure(1.0), 1);
    assert_eq!(runs_without_failure(0.0), usize::MAX);
}

#[test]
fn what_fails_now_and_then_is_repeated_as_often_as_it_needs_and_there_is_time() {
    let spec = RunSpec::clean("t");
    let runs = |failures: usize, all: usize, seconds| {
        let mut evidence = Evidence::new(true);
        for number in 0..all {
            let run = timed(number >= failures, Duration::from_secs(seconds));
            evidence.add(spec.clone(), run);
        }
        runs_until_failure(&spec, &evidence)
    };
    assert_eq!([runs(1, 2, 0), runs(1, 10, 0), runs(2, 2, 0)], [7, 44, 1]);
    assert_eq!([runs(1, 2, 3), runs(1, 2, 60), runs(0, 2, 0)], [3, 1, MOST]);
}
