//! Tests of which runs count as evidence.

use std::time::Duration;

use nondex_core::ScheduleRecord;

use super::*;

fn run(outcome: Outcome, complete: bool) -> Run {
    Run { complete, ..Run::ended(outcome) }
}

#[test]
fn runs_are_asked_for_until_there_are_enough() {
    let clean = RunSpec::clean("t");
    let mut evidence = Evidence::new(true);
    assert_eq!(
        evidence.repeat(&clean, 2).unwrap_err(),
        Missing::new(vec![clean.clone(), clean.clone()])
    );
    evidence.add(clean.clone(), run(Outcome::Passed, true));
    assert_eq!(evidence.repeat(&clean, 2).unwrap_err(), Missing::new(vec![clean.clone()]));
    evidence.add(clean.clone(), run(Outcome::Failed, true));
    let outcomes: Vec<_> =
        evidence.repeat(&clean, 2).unwrap().iter().map(|run| run.outcome.clone()).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Failed]);
}

#[test]
fn only_a_whole_and_repeatable_run_stands_for_another() {
    let spec = RunSpec::new("t", Level::One, 1);
    for (runs, prune, implied) in [
        (vec![run(Outcome::Passed, true)], true, true),
        (vec![run(Outcome::Failed, true)], true, true),
        (vec![run(Outcome::Passed, true)], false, false),
        (vec![run(Outcome::Passed, false)], true, false),
        (vec![run(Outcome::TimedOut, true)], true, false),
        (vec![run(Outcome::Exited(1), true)], true, false),
        (vec![run(Outcome::Passed, true), run(Outcome::Failed, true)], true, false),
    ] {
        let mut evidence = Evidence::new(prune);
        for run in &runs {
            evidence.add(RunSpec::clean("t"), run.clone());
        }
        let answers = evidence.answers(std::slice::from_ref(&spec));
        assert_eq!(
            answers.is_ok_and(|answers| answers[0].implied),
            implied,
            "{runs:?} prune {prune}"
        );
    }
}

#[test]
fn no_run_stands_for_another_once_something_decides_that_is_no_choice() {
    let spec = RunSpec::new("t", Level::One, 1);
    let is_implied = |runs: &[Run]| {
        let mut evidence = Evidence::new(true);
        evidence.add(RunSpec::clean("t"), run(Outcome::Passed, true));
        for (seed, run) in [3, 3].into_iter().zip(runs) {
            evidence.add(RunSpec::new("t", Level::Full, seed), run.clone());
        }
        evidence.answers(std::slice::from_ref(&spec)).is_ok()
    };
    let passed = run(Outcome::Passed, true);
    let failed = run(Outcome::Failed, true);
    let reads_random_bytes = Run { sources: vec![Source::RandomFile], ..passed.clone() };
    assert!(is_implied(&[passed.clone(), passed.clone()]));
    assert!(!is_implied(&[passed, failed]));
    assert!(!is_implied(&[reads_random_bytes]));
}

#[test]
fn of_all_outputs_four_are_kept() {
    let except = |line| {
        let site = nondex_core::Site {
            api: "std::fs::read_dir".into(),
            family: nondex_core::Family::Directory,
            file: "src/lib.rs".into(),
            line,
            column: 1,
        };
        RunSpec::new("t", Level::One, 1).with_selection(Selection::except([site]))
    };
    let mut evidence = Evidence::new(true);
    for (spec, outcome, output) in [
        (RunSpec::clean("t"), Outcome::Passed, "first passing"),
        (RunSpec::clean("t"), Outcome::Passed, ""),
        (RunSpec::clean("t"), Outcome::Failed, "first failing, clean"),
        (RunSpec::clean("t"), Outcome::Failed, ""),
        (RunSpec::new("t", Level::One, 1), Outcome::Failed, "first failing"),
        (except(1), Outcome::Failed, ""),
        (except(2), Outcome::Passed, ""),
        (except(3), Outcome::Passed, ""),
        (except(3), Outcome::Passed, "last of all but some"),
    ] {
        let run = Run { output: Some(output.into()), ..run(outcome, true) };
        evidence.add(spec, run);
    }
    let kept: Vec<_> = evidence.all().filter_map(|(_, run)| run.output.as_deref()).collect();
    assert_eq!(
        kept,
        ["first passing", "first failing, clean", "first failing", "last of all but some"]
    );
}

#[test]
fn of_specs_that_seem_alike_one_is_asked_for_first() {
    let specs: Vec<_> = (0..10).map(|seed| RunSpec::new("t", Level::One, seed)).collect();
    let mut evidence = Evidence::new(true);
    evidence.add(RunSpec::clean("t"), run(Outcome::Passed, false));
    assert_eq!(evidence.answers(&specs).unwrap_err(), Missing::new(specs[..1].to_vec()));
    evidence.add(specs[0].clone(), run(Outcome::Passed, true));
    assert!(evidence.answers(&specs).is_ok());
}

#[test]
fn a_run_that_sleeps_beyond_its_limit_times_out_if_no_clean_run_does() {
    let slept = |time_us, delayed_us| Run {
        limit: Duration::from_secs(60),
        schedule: Some(ScheduleRecord { time_us, delayed_us, ..ScheduleRecord::default() }),
        ..Run::ended(Outcome::Passed)
    };
    let hour = 3_600_000_000;
    let spec = RunSpec::new("t", Level::One, 1);
    for (clean, run, expected) in [
        (slept(5, 0), slept(hour, 0), Outcome::TimedOut),
        // The test sleeps that long whatever is chosen.
        (slept(hour, 0), slept(hour, 0), Outcome::Passed),
        // A delay of this tool made it that long.
        (slept(5, 0), slept(hour, hour - 5), Outcome::Passed),
        (slept(5, 0), slept(50, 0), Outcome::Passed),
    ] {
        let mut evidence = Evidence::new(true);
        evidence.add(RunSpec::clean("t"), clean);
        evidence.add(spec.clone(), run);
        assert_eq!(evidence.of(&spec)[0].outcome, expected);
    }
}
