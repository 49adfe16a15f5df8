//! Tests of failures that the scheduler itself may cause, which are judged with real threads, and
//! of runs that it ends.

use super::*;
use crate::question::Question;
use crate::simulation::simulate_within;

/// Returns whether the test is judged with real threads.
fn has_real_threads(options: &Options, evidence: &Evidence) -> bool {
    known(Question::new("t", options, evidence)).real_threads
}

#[test]
fn a_test_that_only_the_base_schedule_fails_is_judged_with_real_threads_as_without_a_scheduler() {
    let threads = Threads::new(40);
    for orders_decide in [false, true] {
        let test = |spec: &RunSpec| {
            let mut run = threads.run(spec, |_| !spec.is_scheduled());
            if orders_decide {
                reach_an_order(&mut run);
                if !spec.is_scheduled() && made(spec, 100) {
                    run.outcome = Outcome::Failed;
                }
            }
            run
        };
        let short = simulate(&options(), test);
        // Compare with a test that is never scheduled.
        let long = simulate(&options().with_real_threads(), test);
        assert_eq!(short.0, long.0);
        let clean = options().clean_runs.get() as usize;
        // The test failed once, so it runs more often before it is stable.
        let for_certainty = if orders_decide { 0 } else { 180 };
        assert_eq!(short.1.count(), long.1.count() + clean + for_certainty);
        assert!(has_real_threads(&options(), &short.1));
        assert!(matches!(
            (orders_decide, short.0),
            (false, Conclusion::Stable) | (true, Conclusion::Dependent(_))
        ));
    }
}

#[test]
fn a_test_that_reads_random_bytes_and_ends_in_two_ways_is_not_the_schedulers_doing() {
    let threads = Threads::new(40);
    for (source, is_decided) in [(Source::RandomFile, true), (Source::Clock, false)] {
        let mut runs = 0;
        let (conclusion, evidence) = simulate(&options(), |spec| {
            runs += 1;
            let mut run = threads.run(spec, |_| runs != 2);
            run.sources = vec![source];
            run
        });
        assert_eq!(has_real_threads(&options(), &evidence), !is_decided);
        let differs = matches!(conclusion, Conclusion::NonDeterministic { .. });
        assert_eq!(differs, is_decided, "{conclusion:?}");
    }
}

#[test]
fn a_test_that_failed_in_the_canonical_schedule_runs_more_often_before_it_is_stable() {
    let threads = Threads::new(40);
    for (failing, expected) in [(&[][..], 20), (&[2], 200), (&[1, 2], 200)] {
        let mut runs = 0;
        let (conclusion, evidence) = simulate(&options(), |spec| {
            runs += 1;
            let mut run = threads.run(spec, |_| !failing.contains(&runs));
            run.sources = vec![Source::Child];
            run
        });
        assert_eq!(conclusion, Conclusion::Stable);
        let natural = evidence.of(&options().natural_spec("t"));
        assert_eq!(natural.len(), expected);
    }
}

#[test]
fn a_test_that_fails_with_real_threads_too_is_judged_with_scheduled_ones() {
    let threads = Threads::new(40);
    let (conclusion, evidence) = simulate(&options(), |spec| threads.run(spec, |_| false));
    assert_eq!(conclusion, Conclusion::Broken);
    assert!(!has_real_threads(&options(), &evidence));
    let natural = evidence.of(&options().natural_spec("t"));
    assert_eq!(natural.len(), ENOUGH_FAILURES);
}

#[test]
fn what_takes_long_to_fail_with_real_threads_is_not_made_again() {
    let threads = Threads::new(40);
    let (conclusion, evidence) = simulate(&options(), |spec| Run {
        took: Duration::from_secs(if spec.is_scheduled() { 0 } else { 60 }),
        ..threads.run(spec, |_| false)
    });
    assert_eq!(conclusion, Conclusion::Broken);
    assert_eq!(evidence.of(&options().natural_spec("t")).len(), 1);
}

#[test]
fn a_test_that_sleeps_beyond_the_time_limit_may_do_so_in_real_time() {
    let threads = Threads::new(40);
    let usual = Duration::from_secs(20);
    let options = Options { timeout: usual, ..options() };
    // Seconds of sleep, and limit of the run in real time.
    for (slept, limit) in [(9, 20), (19, 40), (90, 111)] {
        let (conclusion, evidence) = simulate_within(&options, |spec, limit| {
            let mut run = threads.run(spec, |_| true);
            run.limit = limit;
            let slept = Duration::from_secs(slept);
            match &mut run.schedule {
                Some(schedule) => schedule.time_us = u64::try_from(slept.as_micros()).unwrap(),
                None if slept < limit => run.took = slept,
                None => (run.took, run.outcome) = (limit, Outcome::TimedOut),
            }
            run
        });
        assert_eq!(conclusion, Conclusion::Stable, "{slept} s");
        assert!(!has_real_threads(&options, &evidence));
        let runs = evidence.of(&options.natural_spec("t"));
        let limits: Vec<u64> = runs.iter().map(|run| run.limit.as_secs()).collect();
        assert_eq!(limits, [limit], "{slept} s");
    }
}

#[test]
fn a_test_that_fails_with_real_threads_later_as_its_base_schedule_does_has_a_culprit() {
    let threads = Threads::new(40);
    for fails_alike in [true, false] {
        let mut natural = 0;
        let (conclusion, evidence) =
            simulate(&options(), |spec| {
                natural += u32::from(!spec.is_scheduled());
                // The other thread only goes first if this one is delayed.
                let mut run = threads.run(spec, |others| {
                    if spec.is_scheduled() { others[30] > 0 } else { natural != 5 }
                });
                let line = if spec.is_scheduled() || fails_alike { 7 } else { 9 };
                run.failure = (!run.passed()).then(|| Failure {
                    message: "somebody paid".into(),
                    file: Some("src/lib.rs".into()),
                    line: Some(line),
                });
                run
            });
        assert_eq!(has_real_threads(&options(), &evidence), !fails_alike);
        match conclusion {
            Conclusion::Dependent(found) => assert!(fails_alike && found.culprits.confirmed),
            other => assert!(
                !fails_alike && matches!(other, Conclusion::NonDeterministic { .. }),
                "{other:?}"
            ),
        }
    }
}

#[test]
fn a_test_that_fails_now_and_then_with_real_threads_is_never_called_broken() {
    let threads = Threads::new(40);
    for passes_scheduled in [false, true] {
        for passing in 1..=ENOUGH_FAILURES {
            let mut natural = 0;
            let (conclusion, _) = simulate(&options(), |spec| {
                natural += usize::from(!spec.is_scheduled());
                let passes =
                    if spec.is_scheduled() { passes_scheduled } else { natural == passing };
                threads.run(spec, |_| passes)
            });
            assert!(
                matches!(conclusion, Conclusion::NonDeterministic { .. }),
                "{passes_scheduled} {passing}: {conclusion:?}"
            );
        }
    }
}

#[test]
fn a_test_that_only_passes_when_it_is_scheduled_is_broken() {
    let threads = Threads::new(40);
    let (conclusion, evidence) =
        simulate(&options(), |spec| threads.run(spec, |_| spec.is_scheduled()));
    assert_eq!(conclusion, Conclusion::Broken);
    assert!(has_real_threads(&options(), &evidence));
}

/// Returns a run of these threads, which the scheduler ends for this reason, if any.
fn ended(threads: &Threads, spec: &RunSpec, end: Option<ScheduleEndKind>, passes: bool) -> Run {
    let mut run = threads.run(spec, |_| passes && end.is_none());
    run.schedule = run.schedule.map(|schedule| ScheduleRecord {
        end: end.map(|kind| ScheduleEnd { kind, waits: Vec::new() }),
        ..schedule
    });
    run
}

#[test]
fn a_run_whose_child_saw_an_earlier_time_is_no_failure_of_the_test() {
    let threads = Threads::new(40);
    for is_always in [false, true] {
        let test = |spec: &RunSpec| {
            let is_delayed = spec.seed() % 3 == 1 && !spec.is_clean();
            let is_ahead = spec.is_scheduled() && (is_always || is_delayed);
            let mut run = threads.run(spec, |_| !is_ahead);
            let schedule = run.schedule.as_mut();
            if let Some(schedule) = schedule.filter(|_| is_ahead) {
                schedule.visible_lead_us = 4_000_000;
            }
            run
        };
        let (conclusion, evidence) = simulate(&options(), test);
        assert_eq!(conclusion, Conclusion::Stable);
        // A failure that no scheduled run shows is found with real threads.
        assert_eq!(has_real_threads(&options(), &evidence), is_always);
    }
}

#[test]
fn a_run_of_a_seed_that_comes_to_our_limit_of_operations_is_no_failure_of_the_test() {
    let threads = Threads::new(40);
    let (conclusion, evidence) = simulate(&options(), |spec| {
        let is_cut = spec.is_scheduled() && spec.seed() % 3 == 1 && !spec.is_clean();
        let end = is_cut.then_some(ScheduleEndKind::Steps);
        ended(&threads, spec, end, true)
    });
    assert_eq!(conclusion, Conclusion::Stable);
    assert!(!has_real_threads(&options(), &evidence));
    // Three of ten seeds at each level.
    assert_eq!(cut(&evidence, &options()).count(), 3 * 5);
}

#[test]
fn a_test_whose_clean_run_comes_to_a_limit_of_ours_is_judged_with_real_threads() {
    let threads = Threads::new(40);
    for kind in [ScheduleEndKind::Steps, ScheduleEndKind::Livelock] {
        let test =
            |spec: &RunSpec| ended(&threads, spec, spec.is_scheduled().then_some(kind), true);
        let short = simulate(&options(), test);
        let long = simulate(&options().with_real_threads(), test);
        assert_eq!((&short.0, &long.0), (&Conclusion::Stable, &Conclusion::Stable));
        assert!(has_real_threads(&options(), &short.1));
    }
}

#[test]
fn threads_that_look_for_ever_under_some_seed_are_a_failure() {
    let threads = Threads::new(40);
    let (conclusion, evidence) = simulate(&options(), |spec| {
        let others = threads.done(spec).others;
        let end = (!is_atomic(&others, 9, 30)).then_some(ScheduleEndKind::Livelock);
        ended(&threads, spec, end, true)
    });
    let found = dependence(conclusion);
    assert_eq!(found.reason(&evidence), Some(Timing::Race));
    assert!(found.culprits.confirmed);
}

/// Returns the finding about a test that fails when its ninth operation is late. It is cut, or
/// passes, whenever `stops` says so.
fn found_with(cut: bool, stops: impl Fn(&[u64]) -> bool) -> (Dependence, usize) {
    let threads = Threads::new(40);
    let options = options();
    let (conclusion, evidence) = simulate(&options, |spec| {
        let others = threads.done(spec).others;
        let end = (cut && stops(&others)).then_some(ScheduleEndKind::Steps);
        let passes = stops(&others) || is_atomic(&others, 8, 9);
        ended(&threads, spec, end, passes)
    });
    let cut = super::cut(&evidence, &options).count();
    (dependence(conclusion), cut)
}

#[test]
fn a_failure_is_found_and_confirmed_though_other_runs_are_cut() {
    let is_late = |at: usize| move |others: &[u64]| !is_atomic(others, at - 1, at);
    for at in [3, 20, 33] {
        let (found, cut) = found_with(true, is_late(at));
        assert!(cut > 0);
        assert!(found.culprits.confirmed, "{at}: {found:?}");
        let sites: Vec<_> = found.culprits.sites().cloned().collect();
        assert_eq!(sites, [Threads::new(40).site(9)]);
        // Compare with runs that end and pass instead of being cut.
        let (long, none) = found_with(false, is_late(at));
        assert_eq!((found, none), (long, 0));
    }
}

#[test]
fn what_is_cut_with_a_shorter_delay_is_no_proof_that_this_one_passes() {
    let threads = Threads::new(40);
    let (conclusion, _) = simulate(&options(), |spec| {
        let others = threads.done(spec).others;
        let late = others[9] - others[8];
        let end = (1..50).contains(&late).then_some(ScheduleEndKind::Steps);
        ended(&threads, spec, end, late == 0)
    });
    let found = dependence(conclusion);
    assert!(!found.culprits.confirmed);
    assert!(found.culprits.groups[0].calls.iter().all(|call| call.turn.is_none()));
}

#[test]
fn how_often_a_test_is_run_with_real_threads_follows_from_how_long_it_takes_with_them() {
    let threads = Threads::new(40);
    let (_, evidence) = simulate(&options(), |spec| Run {
        took: if spec.is_scheduled() { Duration::from_millis(10) } else { Duration::from_secs(5) },
        ..threads.run(spec, |_| true)
    });
    assert_eq!(evidence.of(&options().natural_spec("t")).len(), 2);
}

#[test]
fn models_of_threads_and_time_that_are_all_off_leave_threads_alone() {
    let mut options = options();
    assert!(options.apply(RunSpec::clean("t")).is_scheduled());
    let is_of_timing =
        |model: &&&nondex_core::Model| matches!(model.family, Family::Schedule | Family::Time);
    let all = nondex_core::model::CATALOGUE.iter().filter(is_of_timing);
    for model in all {
        assert!(options.is_scheduled());
        options.models_off.push(model.name(model.family));
    }
    assert!(!options.is_scheduled());
}
