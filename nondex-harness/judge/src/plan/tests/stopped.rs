//! Tests of what is known about a test when its runs are stopped.

use super::*;

/// Number of runs after which a test that fails under every seed at STD is established. These are
/// ten seeds, and five runs each of the clean spec and of the first seed, which is one of the ten.
const ESTABLISHED: usize = 10 + 2 * REPETITIONS - 1;

/// Returns what is known about a simulated test after a number of runs.
fn after(runs: usize, test: impl FnMut(&RunSpec) -> Run) -> Option<Conclusion> {
    known_after(runs, test).0
}

/// Returns what is known about a simulated test after a number of runs, with the runs.
fn known_after(
    runs: usize,
    mut test: impl FnMut(&RunSpec) -> Run,
) -> (Option<Conclusion>, Evidence) {
    let options = options();
    let mut evidence = Evidence::new(true);
    while evidence.count() < runs {
        let Err(Missing { experiments, .. }) = conclude(Question::new("t", &options, &evidence))
        else {
            panic!("all is known after {} runs", evidence.count());
        };
        for spec in experiments.into_iter().take(runs - evidence.count()) {
            let run = test(&spec);
            evidence.add(spec, run);
        }
    }
    (so_far(Question::new("t", &options, &evidence)), evidence)
}

#[test]
fn a_time_out_that_is_doubtful_when_the_runs_are_stopped_contradicts_nothing() {
    let options = options();
    let clean = RunSpec::clean("t");
    let hanging = |factor| Run { limit: options.timeout * factor, ..Run::ended(Outcome::TimedOut) };
    let known_from = |runs: &[Run]| {
        let mut evidence = Evidence::new(true);
        for run in runs {
            evidence.add(options.apply(clean.clone()), run.clone());
        }
        so_far(Question::new("t", &options, &evidence))
    };
    let ends = || Run { took: Duration::from_secs(1), ..run(true, [1]) };
    assert_eq!(known_from(&[ends(), hanging(1)]), None);
    assert_eq!(known_from(&[hanging(1), ends(), ends()]), None);
    // After a run with the longer limit, it counts as a hang.
    let is_found =
        |runs: &[Run]| matches!(known_from(runs), Some(Conclusion::NonDeterministic { .. }));
    assert!(is_found(&[ends(), hanging(LONGER)]));
    assert!(is_found(&[ends(), run(false, [1]), hanging(1)]));
}

#[test]
fn what_may_be_a_delay_when_the_search_was_stopped_is_not_called_an_order() {
    let of_schedule = |line| Site { family: Family::Schedule, ..site(line) };
    let fails = |is_of_threads: bool| {
        move |spec: &RunSpec| {
            let delay = is_of_threads.then(|| point(of_schedule(2)));
            let ended = run(!made(spec, 1), [1]);
            Run { points: ended.points.iter().cloned().chain(delay).collect(), ..ended }
        }
    };
    for is_of_threads in [true, false] {
        let (conclusion, evidence) = known_after(ESTABLISHED, fails(is_of_threads));
        let found = dependence(conclusion.expect("all seeds fail"));
        assert_eq!(found.reason(&evidence), None);
        assert_eq!(found.may_be_delays(&evidence), is_of_threads);
    }
    let (conclusion, evidence) = simulate(&options(), fails(true));
    let found = dependence(conclusion);
    assert!(found.culprits.confirmed && !found.may_be_delays(&evidence));
}

#[test]
fn what_may_be_a_delay_and_was_not_confirmed_is_not_called_an_order() {
    for family in [Family::Schedule, Family::Directory] {
        let other = Site { family, ..site(2) };
        let (conclusion, evidence) = simulate(&options(), |spec| {
            let ended = run(!(made(spec, 1) && made(spec, 2)), [1]);
            Run {
                points: ended.points.iter().cloned().chain([point(other.clone())]).collect(),
                ..ended
            }
        });
        let mut found = dependence(conclusion);
        assert!(found.culprits.confirmed && !found.may_be_delays(&evidence));
        // For instance a test that reads the time of day: equal choices lead to different
        // behaviour.
        found.culprits.confirmed = false;
        assert_eq!(found.reason(&evidence), None);
        assert_eq!(found.may_be_delays(&evidence), family == Family::Schedule);
    }
}

#[test]
fn what_is_known_when_time_is_over_is_said_and_nothing_else() {
    let passes = |_: &RunSpec| run(true, [1]);
    let fails = |spec: &RunSpec| run(!made(spec, 1), [1]);
    let broken = |_: &RunSpec| run(false, [1]);
    for runs in [0, 1, 2, 10] {
        assert_eq!(after(runs, passes), None, "{runs} runs");
    }
    // A plain build, which only a whole campaign runs, may pass.
    for runs in 1..3 {
        assert_eq!(after(runs, broken), None, "{runs} runs");
    }
    // Seeds that failed once or twice may have failed by chance.
    for runs in 3..ESTABLISHED {
        assert_eq!(after(runs, fails), None, "{runs} runs");
    }
    for runs in ESTABLISHED..ESTABLISHED + 10 {
        let found = dependence(after(runs, fails).expect("nine of ten seeds fail"));
        assert_eq!((found.spec.level(), found.spec.seed()), (Level::Std, 0));
        assert!(found.passes_clean && !found.culprits.confirmed);
    }
    let mut number = 0;
    let by_chance = |_: &RunSpec| {
        number += 1;
        run(number != 2, [1])
    };
    assert!(matches!(after(2, by_chance), Some(Conclusion::NonDeterministic { .. })));
}
