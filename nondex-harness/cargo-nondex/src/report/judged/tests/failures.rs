//! Tests of the failures in a report, and their rates.

use super::*;
use crate::judge::{Evidence, World};

#[test]
fn a_failure_of_the_clean_run_has_no_level_and_no_seed() {
    let report = judged(|_| failing("always", []));
    assert_eq!(report.failures.len(), 1);
    let failure = &report.failures[0];
    assert_eq!((failure.level, failure.seed), (None, None));
    assert_eq!((failure.message.as_str(), failure.line), ("always", Some(9)));
}

#[test]
fn runs_that_were_not_made_are_in_no_rate() {
    let report = judged(|_| run(true, []));
    assert_eq!((report.runs, report.implied), (2, 50));
    assert!(report.failure_rate.is_empty(), "{report:#?}");
}

#[test]
fn the_first_run_of_each_seed_is_in_the_rate_as_only_some_are_repeated() {
    let specs = [0, 1].map(|seed| RunSpec::new("t", Level::Std, seed));
    let mut evidence = Evidence::new(false);
    for (seed, passes) in [(0, true), (1, false), (1, true), (1, false)] {
        evidence.add(specs[seed].clone(), run(passes, [1]));
    }
    assert_eq!(runs::rate(&specs, &evidence), ([1, 2], 0));
}

#[test]
fn only_failures_up_to_the_weakest_level_are_listed() {
    let mut options = options();
    options.levels = vec![Level::Full];
    let report = judged_with(&options, |spec| run(spec.is_clean(), [1]));
    assert_eq!(report.weakest_level, Some(Level::Std));
    assert!(report.failures.iter().all(|f| f.level == Some(Level::Std)));
    let levels: Vec<_> = report.failure_rate.keys().copied().collect();
    assert_eq!(levels, [Level::Std]);
}

#[test]
fn a_test_without_a_conclusion_counts_as_not_run_but_keeps_what_was_seen() {
    let mut runs = Runs::new(true, true);
    runs.together.add(RunSpec::clean("t"), failing("seen", [1]));
    let report = reported(&options(), &runs, None);
    assert_eq!(report.verdict, Verdict::NotRun);
    assert_eq!(report.failures[0].outcome, Outcome::Failed);
    assert_eq!((report.runs, report.notes.len()), (1, 1));
}

#[test]
fn levels_above_the_weakest_have_no_rate_though_some_of_their_runs_are_implied() {
    let few = |passed| Run {
        points: [PointRecord { count: 1, max_len: 2, ..crate::judge::simulation::point(site(1)) }]
            .into(),
        ..run(passed, [])
    };
    let report =
        judged(|spec| few(!(made(spec, 1) && spec.level() == Level::Std && spec.seed() == 2)));
    assert_eq!(report.weakest_level, Some(Level::Std));
    assert_eq!(report.failure_rate.keys().collect::<Vec<_>>(), [&Level::Std]);
    let stable = judged(|_| few(true));
    assert_eq!(stable.failure_rate.len(), 5);
}

#[test]
fn a_failing_output_is_compared_with_that_of_all_choices_but_the_culprits_or_of_a_clean_run() {
    for (lines, passing) in [([1].as_slice(), "canonical order"), (&[1, 2], "all but one")] {
        let report = judged(|spec| {
            let fails = made(spec, 1);
            let output = match spec.drawn() {
                _ if fails => "culprit",
                None => "canonical order",
                Some(_) => "all but one",
            };
            Run { output: Some(format!("same\n{output}\n")), ..run(!fails, lines.iter().copied()) }
        });
        let expected = format!("@@ -1,2 +1,2 @@\n same\n-{passing}\n+culprit");
        assert_eq!(report.difference, Some(expected));
    }
}

#[test]
fn the_output_is_that_of_the_run_whose_message_is_shown() {
    let options = Options { world: Some(World { seed: Some(3), verify: false }), ..options() };
    // The test also fails in canonical order. That run is replayed, although the seed ran first.
    let mut runs = 0;
    let report = judged_with(&options, |_| {
        runs += 1;
        failing(&format!("run {runs}"), [1])
    });
    let primary = report.replay.as_ref().and_then(|made| made.primary.as_ref());
    let mut failures = report.failures.iter();
    let shown = failures.find(|failure| failure.id.as_ref() == primary).unwrap();
    assert_eq!(shown.seed, None, "{:?}", report.failures);
    assert_eq!(report.output, Some(format!("output of {}", shown.message)));
}
