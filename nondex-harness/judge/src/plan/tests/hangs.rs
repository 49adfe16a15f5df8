//! Tests of runs that end at their time limit.

use super::*;
use nondex_core::ScheduleRecord;

use crate::Options;

#[test]
fn a_test_that_hangs_in_base_order_is_broken_and_not_run_at_any_seed() {
    let (conclusion, evidence) =
        simulate(&options(), |_| Run { outcome: Outcome::TimedOut, ..run(false, [1]) });
    assert_eq!(conclusion, Conclusion::Broken);
    assert_eq!(evidence.all().count(), 2);
}

#[test]
fn a_test_that_never_ended_takes_the_whole_limit_twice() {
    let spec = options().clean_spec("t");
    let hangs = |took| Run {
        outcome: Outcome::TimedOut,
        took: Duration::from_secs(took),
        limit: Duration::from_secs(60),
        ..run(false, [])
    };
    let limit = |runs: &[Run]| {
        let mut evidence = Evidence::new(true);
        evidence.extend(runs.iter().map(|run| (spec.clone(), Some(run.clone()))));
        let next = || Err::<(), _>(Missing::new(vec![spec.clone()]));
        patiently(options().timeout, &evidence, next).unwrap_err().limits.elapsed
    };
    assert_eq!(limit(&[hangs(60)]), None);
    // The scheduler ends a run without waiting.
    assert_eq!(limit(&[hangs(60), hangs(0)]), None);
    assert_eq!(limit(&[hangs(60), hangs(60)]), Some(Duration::from_secs(6)));
}

#[test]
fn a_test_that_hangs_under_a_seed_is_found_without_trying_every_seed() {
    let mut hangs = 0;
    let (conclusion, _) = simulate(&options(), |spec| {
        if made(spec, 2) {
            hangs += 1;
            Run { outcome: Outcome::TimedOut, complete: false, ..run(false, [1, 2]) }
        } else {
            run(true, [1, 2])
        }
    });
    let found = dependence(conclusion);
    assert!(found.culprits.sites().eq([&site(2)]));
    assert!(found.culprits.confirmed);
    // Two seeds, the repetition, the search and its confirmation.
    assert!(hangs <= MAX_HANGS + 1 + 1 + 4, "{hangs} hangs");
}

/// Returns `run` as if its test needed this number of seconds.
fn taking(seconds: u64, limit: Duration, run: Run) -> Run {
    let took = Duration::from_secs(seconds);
    if took <= limit {
        return Run { took, ..run };
    }
    Run { outcome: Outcome::TimedOut, took: limit, complete: false, ..run }
}

/// Returns whether the time limit ended a run.
fn is_timed_out((_, run): &(&RunSpec, &Run)) -> bool {
    run.outcome == Outcome::TimedOut
}

#[test]
fn what_only_takes_longer_with_other_choices_is_what_it_is_in_the_end() {
    // The clean run takes a small part of the limit, or almost all of it.
    for clean in [1, 59] {
        for passes in [true, false] {
            let mut at_the_usual_limit = 0;
            let (conclusion, evidence) = simulate_within(&options(), |spec, limit| {
                if !(made(spec, 2) && spec.level() == Level::Eq) {
                    return taking(clean, limit, run(true, [1, 2]));
                }
                at_the_usual_limit += u32::from(limit == options().timeout);
                taking(200, limit, run(passes, [1, 2]))
            });
            assert!(!evidence.all().any(|run| is_timed_out(&run)));
            // The first seed, and those that were requested with it.
            assert_eq!(at_the_usual_limit, 1);
            if passes {
                assert_eq!(conclusion, Conclusion::Stable);
                assert_eq!(runs_at(&evidence, Level::Eq), 10);
                assert_eq!(evidence.count(), 2 + 5 * 10 + 1);
            } else {
                let found = dependence(conclusion);
                assert_eq!(found.spec.level(), Level::Eq);
                assert!(found.culprits.sites().eq([&site(2)]));
            }
        }
    }
}

#[test]
fn a_hang_is_waited_for_longer_once_and_then_as_long_as_the_others_make_likely() {
    // If the other runs take almost no time, there is no doubt.
    for (clean, of_the_first, of_others) in
        [(0, &[60][..], 5), (1, &[60, 300], 20), (20, &[60, 300], 100), (59, &[60, 590], 295)]
    {
        let mut limits = Vec::new();
        let (conclusion, evidence) = simulate_within(&options(), |spec, limit| {
            let hangs = made(spec, 2);
            limits.extend(hangs.then_some(limit.as_secs()));
            let seconds = if hangs { 1_000_000 } else { clean };
            taking(seconds, limit, run(true, [1, 2]))
        });
        let found = dependence(conclusion);
        assert!(found.culprits.sites().eq([&site(2)]) && found.culprits.confirmed);
        let (first, others) = limits.split_at(of_the_first.len());
        assert_eq!(first, of_the_first);
        // If clean runs are requested together with it, it gets the usual time like these.
        let is_right = |limit: &u64| [of_others, of_others.max(60)].contains(limit);
        assert!(others.iter().all(is_right), "{limits:?}");
        assert!(others.contains(&of_others), "{limits:?}");
        assert!(others.len() <= MAX_HANGS + 1 + 4, "{limits:?}");
        // All runs are counted, but inconclusive ones are no evidence.
        let replaced = evidence.count() - evidence.all().count();
        assert_eq!(replaced, first.len() - 1);
    }
}

#[test]
fn an_endless_loop_is_known_by_its_processor_time_before_its_time_limit() {
    for (usual, first, others) in [(60, &[10][..], 1), (5, &[5, 10], 1), (8, &[8, 10], 1)] {
        let options = Options { timeout: Duration::from_secs(usual), ..options() };
        let mut durations = Vec::new();
        let (conclusion, evidence) = simulate_limited(&options, |spec, limit, busy| {
            if !made(spec, 2) {
                // On a busy machine, runs take long, and later ones may need more than the first.
                let took = Duration::from_secs(1);
                let busy = Duration::from_millis(if spec.is_clean() { 0 } else { 40 });
                return Run { took, busy, ..run(true, [1, 2]) };
            }
            let took = busy.map_or(limit, |busy| busy.min(limit));
            durations.push(took.as_secs());
            let outcome = Outcome::TimedOut;
            Run { outcome, took, busy: took, complete: false, ..run(false, [1, 2]) }
        });
        let found = dependence(conclusion);
        assert!(found.culprits.sites().eq([&site(2)]) && found.culprits.confirmed);
        let (of_first, of_others) = durations.split_at(first.len());
        assert_eq!(of_first, first, "{durations:?}");
        assert!(of_others.iter().all(|took| *took == others), "{durations:?}");
        assert!(of_others.len() <= MAX_HANGS + 1 + 4, "{durations:?}");
        assert_eq!(evidence.count() - evidence.all().count(), first.len() - 1);
    }
}

#[test]
fn a_run_on_a_busy_machine_or_a_waiting_one_is_not_taken_for_an_endless_loop() {
    // Both take little processor time, so only the time limit ends them.
    let mut ends = Vec::new();
    let (conclusion, _) = simulate_limited(&options(), |spec, limit, busy| {
        let took = Duration::from_secs(1);
        if !made(spec, 2) {
            return Run { took, busy: took, ..run(true, [1, 2]) };
        }
        ends.push((limit.as_secs(), busy.is_some_and(|busy| busy < Duration::from_secs(1))));
        Run { busy: took, ..taking(200, limit, run(true, [1, 2])) }
    });
    assert_eq!(conclusion, Conclusion::Stable);
    assert!(ends.iter().all(|(limit, _)| [60, 300].contains(limit)), "{ends:?}");
    assert!(!ends.iter().any(|(_, is_hasty)| *is_hasty), "{ends:?}");
}

#[test]
fn a_run_that_sleeps_too_long_for_its_limit_gets_a_longer_one_however_busy_it_was() {
    // The scheduler ends its sleeps at once, so it takes less than its limit.
    let limits = |busy| {
        let mut limits = Vec::new();
        let (conclusion, _) = simulate_within(&options(), |spec, limit| {
            let sleeps = made(spec, 2);
            limits.extend(sleeps.then_some(limit.as_secs()));
            let time_us = if sleeps { 100_000_000 } else { 0 };
            let schedule = ScheduleRecord { threads: 1, time_us, ..ScheduleRecord::default() };
            let took = Duration::from_secs(1);
            Run { took, busy, schedule: Some(schedule), ..run(true, [1, 2]) }
        });
        assert_eq!(conclusion, Conclusion::Stable, "{busy:?}");
        limits
    };
    assert!(limits(Duration::ZERO).contains(&300));
    assert_eq!(limits(Duration::from_millis(40)), limits(Duration::ZERO));
}

#[test]
fn clean_runs_that_take_about_the_whole_limit_do_not_contradict_each_other() {
    for late in [0, 1] {
        let mut clean = 0;
        let (conclusion, _) = simulate_within(&options(), |spec, limit| {
            let is_clean = spec.is_clean();
            clean += usize::from(is_clean);
            let seconds = if is_clean && clean == late + 1 { 61 } else { 59 };
            taking(seconds, limit, run(true, [1]))
        });
        assert_eq!(conclusion, Conclusion::Stable);
    }
}

#[test]
fn a_test_that_ends_in_no_run_is_not_waited_for_longer() {
    let (conclusion, evidence) = simulate_within(&options(), |_, limit| {
        assert_eq!(limit, options().timeout);
        taking(1000, limit, run(true, [1]))
    });
    assert_eq!((conclusion, evidence.count()), (Conclusion::Broken, 2));
}

#[test]
fn a_run_that_ends_later_than_a_proven_hang_is_still_waited_for() {
    // Seed 0 hangs, seed 1 is slow: a proven hang does not make a slow run count as a hang.
    let (conclusion, evidence) = simulate_within(&options(), |spec, limit| {
        let seconds = match spec.seed() {
            _ if !(made(spec, 2) && spec.level() == Level::One) => 30,
            0 => 1_000_000,
            _ => 100,
        };
        taking(seconds, limit, run(true, [1, 2]))
    });
    let found = dependence(conclusion);
    assert_eq!((found.spec.level(), found.spec.seed()), (Level::One, 0));
    let hanging = evidence.all().filter(is_timed_out);
    assert!(hanging.into_iter().all(|(spec, _)| spec.seed() == 0));
    assert!(options().timeout * LONGER > Duration::from_secs(100));
}

#[test]
fn what_is_slow_at_the_level_that_is_said_is_no_hang_because_it_hangs_at_another() {
    // It hangs at ONE, the only requested level, and is slow at STD. STD is tried because a
    // finding's level is the weakest.
    let mut options = options();
    options.levels = vec![Level::One];
    let (conclusion, evidence) = simulate_within(&options, |spec, limit| {
        let seconds = match spec.level() {
            _ if !made(spec, 2) => 1,
            Level::One => 1_000_000,
            _ => 100,
        };
        taking(seconds, limit, run(true, [1, 2]))
    });
    assert_eq!(dependence(conclusion).spec.level(), Level::One);
    assert!(runs_at(&evidence, Level::Std) > 0);
    let hanging = evidence.all().filter(is_timed_out);
    assert!(hanging.into_iter().all(|(spec, _)| spec.level() == Level::One));
}
