//! Tests of judgements about tests that others may have disturbed.

use crate::question::Question;
use nondex_core::{
    Family, Level, Model, RunSpec, Site, Source, StateChange, StateId, StateKind, model,
};

use super::*;
use crate::culprit::{Culprits, Group};
use crate::evidence::JointRuns;
use crate::missing::Spent;
use crate::order;
use crate::plain::PlainBuild;
use crate::run::Run;
use crate::simulation::{made, options, run, settle};

/// Simulates a test like the executor. The test is a function of the spec, whether it runs alone,
/// and the number of the run.
fn simulate(test: impl Fn(&RunSpec, bool, usize) -> Run, is_shared: bool) -> (Judgement, Runs) {
    let options = Options { every_seed: true, ..options() };
    simulate_within(&options, test, is_shared)
}

/// Simulates a test with these options. Unless every seed was requested, the budget is spent when a
/// run alone is needed.
fn simulate_within(
    options: &Options,
    test: impl Fn(&RunSpec, bool, usize) -> Run,
    is_shared: bool,
) -> (Judgement, Runs) {
    let mut runs = Runs::new(true, is_shared);
    let ask = |runs: &Runs| {
        conclude("t", options, Available::default(), runs).map_err(|need| match need {
            Need::Runs(missing) => missing,
            other => panic!("{other:?}"),
        })
    };
    let judgement = settle(&mut runs, ask, |runs, spec: RunSpec, missing| {
        if missing.alone && !options.every_seed {
            runs.spend(Spent { exploring: true, ..Spent::default() });
        }
        let run = test(&spec, missing.alone, runs.count());
        runs.of_mut(missing.alone).add(spec, run);
    });
    (judgement, runs)
}

/// Returns a name of the conclusion.
fn verdict(judgement: &Judgement) -> &'static str {
    match &judgement.conclusion {
        Conclusion::Stable | Conclusion::Latent(_) => "stable",
        Conclusion::Broken
        | Conclusion::FailsOnlyHere
        | Conclusion::Flaky
        | Conclusion::OrderDependent(_) => "broken",
        Conclusion::NonDeterministic { .. } => "ND",
        Conclusion::Dependent(dependence) if dependence.culprits.confirmed => "ID",
        Conclusion::Dependent(_) => "suspected",
        Conclusion::Artefact(_) => "artefact",
        Conclusion::Explained(_) => "explained",
    }
}

#[test]
fn a_conclusion_that_others_may_have_disturbed_is_drawn_again_alone() {
    type Simulated = Box<dyn Fn(&RunSpec, bool, usize) -> Run>;
    let depends = |spec: &RunSpec| made(spec, 2) && spec.level() >= Level::One && spec.seed() == 4;
    // Name, test, verdict, whether it follows from runs alone, and whether other tests interfere.
    let table: Vec<(&str, Simulated, &str, bool, bool)> = vec![
        ("stable", Box::new(|_, _, _| run(true, [1])), "stable", false, false),
        ("broken", Box::new(|_, _, _| run(false, [1])), "broken", false, false),
        ("dependent", Box::new(move |spec, _, _| run(!depends(spec), [1, 2])), "ID", false, false),
        ("always disturbed", Box::new(|_, alone, _| run(alone, [1])), "stable", true, true),
        (
            "disturbed in a clean run",
            Box::new(|_, alone, n| run(alone || n != 1, [1])),
            "stable",
            true,
            true,
        ),
        (
            "without choices, disturbed",
            Box::new(|_, alone, n| run(alone || n != 1, [])),
            "stable",
            true,
            true,
        ),
        (
            "disturbed at a seed",
            Box::new(|_, alone, n| run(alone || n != 7, [1])),
            "stable",
            true,
            true,
        ),
        (
            "dependent, and disturbed as seldom as by chance",
            Box::new(move |spec, alone, n| run((alone || n != 1) && !depends(spec), [1, 2])),
            "ID",
            true,
            false,
        ),
        (
            "disturbed when its failure is repeated",
            Box::new(move |spec, alone, n| {
                let is_late = spec.draws_all() && n > 16;
                run(!depends(spec) || !alone && is_late, [1, 2])
            }),
            "ID",
            true,
            false,
        ),
        ("passes the first time only", Box::new(|_, _, n| run(n == 0, [1])), "ND", false, false),
        ("every second run fails", Box::new(|_, _, n| run(n % 2 == 0, [1])), "ND", true, false),
        ("every fifth run fails", Box::new(|_, _, n| run(n % 5 != 4, [1])), "ND", true, false),
        ("fails in the end", Box::new(|_, _, n| run(n != 1 && n < 55, [1])), "ND", true, false),
    ];
    for (name, test, expected, from_alone, interferes) in table {
        let (judgement, runs) = simulate(&test, true);
        assert_eq!(
            (verdict(&judgement), judgement.from_alone, judgement.interference.is_some()),
            (expected, from_alone, interferes),
            "{name}"
        );
        if expected == "stable" && !from_alone {
            assert_eq!(runs.alone.count(), 0, "{name}");
        }
        let (judgement, runs) = simulate(&test, false);
        assert!(!judgement.from_alone && runs.alone.count() == 0, "{name}");
    }
}

#[test]
fn what_only_differs_when_it_is_scheduled_says_nothing_of_a_test_that_is_judged_with_real_threads()
{
    let ends = |is_natural_too: bool| {
        let test = move |spec: &RunSpec, _, number: usize| {
            let passes = if spec.is_scheduled() {
                number % 5 != 1
            } else {
                !is_natural_too || !number.is_multiple_of(3)
            };
            let mut run = run(passes, []);
            run.sources.push(Source::Clock);
            run
        };
        let (judgement, runs) = simulate(test, true);
        assert!(
            is_natural_too
                || threads::known(Question::new("t", &options(), &runs.together)).real_threads
        );
        assert!(runs.together.contradiction(true).is_some());
        judgement
    };
    assert_eq!(verdict(&ends(false)), "stable");
    assert_eq!(verdict(&ends(true)), "ND");
}

#[test]
fn a_broken_test_costs_one_run_alone() {
    let (_, runs) = simulate(|_, _, _| run(false, [1]), true);
    assert_eq!(runs.alone.count(), 1);
}

#[test]
fn what_is_only_suspected_is_no_interference_though_the_budget_is_spent_before_it_is_tried_alone() {
    let budgeted = Options { every_seed: false, search_runs: 1, ..options() };
    let fails = |spec: &RunSpec| made(spec, 1) && made(spec, 2) && spec.seed() == 4;
    for is_disturbed in [false, true] {
        let test =
            |spec: &RunSpec, alone: bool, _| run(!fails(spec) || is_disturbed && alone, [1, 2]);
        let (judgement, runs) = simulate_within(&budgeted, test, true);
        assert!(runs.alone.count() > 0, "{judgement:?}");
        let expected = if is_disturbed { "stable" } else { "suspected" };
        assert_eq!(verdict(&judgement), expected, "{judgement:?}");
        assert_eq!(judgement.interference.is_some(), is_disturbed);
    }
}

#[test]
fn what_there_is_no_time_to_explain_is_not_tried_again_alone_with_every_seed() {
    let options = Options { every_seed: true, ..options() };
    // Whether other tests are the reason, whether the budgets are spent, and the verdict.
    for (is_disturbed, is_spent, expected) in
        [(false, false, "ID"), (false, true, "suspected"), (true, true, "stable")]
    {
        let mut runs = Runs::new(true, true);
        runs.spend(Spent { exploring: is_spent, explaining: is_spent });
        let ask = |runs: &Runs| judge("t", &options, runs);
        let judgement = settle(&mut runs, ask, |runs, spec: RunSpec, missing| {
            let fails = made(&spec, 2) && spec.level() >= Level::One;
            let passes = !fails || is_disturbed && missing.alone;
            runs.of_mut(missing.alone).add(spec, run(passes, [1, 2]));
        });
        assert_eq!(verdict(&judgement), expected);
        assert_eq!(judgement.from_alone, is_disturbed);
        if !is_disturbed {
            assert_eq!(runs.alone.count(), if is_spent { 4 } else { 0 });
        }
    }
}

#[test]
fn the_figures_of_both_kinds_of_runs_are_given() {
    let (judgement, _) = simulate(|_, alone, n| run(alone || n != 1, []), true);
    assert_eq!(
        judgement.interference,
        Some(Interference { together: [1, 2], alone: [0, 21], reason: Reason::Shared })
    );
}

/// Returns the result of a test that needs another one, or that also passes alone.
fn after_other(passes_alone: bool) -> order::AfterOthers {
    order::AfterOthers {
        conclusion: order::OrderConclusion::Dependent(order::OrderDependence {
            passes_alone,
            sets: vec![vec![1]],
            cleaners: Vec::new(),
            is_complete: true,
        }),
        names: ["t".to_owned(), "other".to_owned()].into(),
        is_paired: true,
        processes: 3,
    }
}

#[test]
fn a_test_that_passes_only_while_others_run_is_tried_after_them() {
    // The other test wrote a file during the second run, for which this one waits.
    let waits = |_: &RunSpec, alone: bool, number: usize| Run {
        sources: vec![Source::Clock],
        ..run(!alone && number == 1, [])
    };
    let (judgement, mut runs) = simulate(waits, true);
    assert_eq!(verdict(&judgement), "ND");
    let available = Available { others: true, ..Available::default() };
    let judged = |runs: &Runs| conclude("t", &options(), available, runs);
    assert_eq!(judged(&runs), Err(Need::AfterOthers));
    for (after, is_order) in [
        (after_other(false), true),
        (after_other(true), false),
        (order::AfterOthers::unknown(), false),
    ] {
        runs.after_others = Some(after);
        let judgement = judged(&runs).unwrap();
        assert_eq!(matches!(judgement.conclusion, Conclusion::OrderDependent(_)), is_order);
        assert_eq!(judgement.from_alone, is_order);
        assert_eq!(verdict(&judgement) == "ND", !is_order);
    }
}

#[test]
fn a_test_that_fails_alone_is_no_victim_of_others_behind_which_it_fails() {
    for (passes_alone, is_order) in [(true, false), (false, true)] {
        let (_, mut runs) = simulate(|_, _, _| run(false, []), false);
        runs.after_others = Some(after_other(passes_alone));
        let found = conclude("t", &options(), Available::default(), &runs).unwrap().conclusion;
        assert_eq!(matches!(found, Conclusion::OrderDependent(_)), is_order);
        // Then a plain build decides.
        assert_eq!(found == Conclusion::Broken, !is_order);
    }
}

#[test]
fn a_test_that_fails_by_chance_is_not_disturbed_for_passing_a_few_times_alone() {
    for (sources, last) in [(vec![], 20), (vec![Source::RandomFile], 60)] {
        for every_seed in [true, false] {
            let options = Options { every_seed, ..options() };
            let fails = [0, last];
            let (judgement, _) = simulate_within(
                &options,
                |_, _, number| Run {
                    sources: sources.clone(),
                    ..run(!fails.contains(&number), [])
                },
                true,
            );
            assert_eq!(verdict(&judgement), "ND", "{judgement:?}");
            assert_eq!(judgement.interference, None);
        }
    }
}

#[test]
fn chance_is_named_where_too_few_runs_alone_are_affordable_to_rule_it_out() {
    for (took, expected) in [(1, Reason::Chance), (0, Reason::Shared)] {
        let test = |_: &RunSpec, alone: bool, n: usize| Run {
            took: Duration::from_secs(took),
            ..run(alone || n != 1, [])
        };
        let (judgement, _) = simulate(test, true);
        assert_eq!(verdict(&judgement), "stable");
        assert_eq!(judgement.interference.map(|found| found.reason), Some(expected));
    }
}

#[test]
fn alone_a_test_that_hangs_gets_a_tenth_of_its_limit_once_a_plain_build_fails_too() {
    let options = options();
    let usual = options.timeout;
    let available = Available { plain: true, ..Available::default() };
    let hanging = || Run { took: usual, limit: usual, ..Run::ended(Outcome::TimedOut) };
    let mut runs = Runs::new(true, true);
    for _ in 0..2 {
        runs.together.add(options.clean_spec("t"), hanging());
    }
    let needed = |runs: &Runs| conclude("t", &options, available, runs).unwrap_err();
    assert!(matches!(needed(&runs), Need::Plain { limit, .. } if limit == usual));
    // If a plain run passed, other tests may have delayed this one beyond the limit.
    for (plain, limit) in [([0, 20], None), ([1, 3], None), ([1, 1], Some(usual / 10))] {
        runs.plain = Some(PlainBuild::Runs(plain));
        let Need::Runs(missing) = needed(&runs) else { panic!("it is run alone") };
        assert!(missing.alone);
        assert_eq!(missing.limits.elapsed, limit, "{plain:?}");
    }
    // A test that fails without hanging runs alone first.
    let mut failing = Runs::new(true, true);
    for _ in 0..2 {
        failing.together.add(options.clean_spec("t"), run(false, []));
    }
    assert!(matches!(needed(&failing), Need::Runs(_)));
}

#[test]
fn what_follows_alone_within_a_tenth_of_the_limit_follows_within_the_whole_limit_too() {
    let options = Options { timeout: Duration::from_secs(60), ..options() };
    let usual = options.timeout;
    let available = Available { plain: true, ..Available::default() };
    // Outcome of a run alone, and its duration in seconds.
    let ends = |outcome: &Outcome, seconds: u64, limit: Duration| {
        let took = Duration::from_secs(seconds);
        if took > limit {
            return Run { took: limit, limit, ..Run::ended(Outcome::TimedOut) };
        }
        Run { took, limit, ..Run::ended(outcome.clone()) }
    };
    let concluded = |outcome: &Outcome, seconds: u64, is_short: bool| {
        let mut runs = Runs::new(true, true);
        for _ in 0..2 {
            runs.together.add(options.clean_spec("t"), ends(outcome, 600, usual));
        }
        runs.plain = Some(PlainBuild::Runs([1, 1]));
        let mut limits = Vec::new();
        let ask = |runs: &Runs| {
            conclude("t", &options, available, runs).map_err(|need| match need {
                Need::Runs(missing) => missing,
                other => panic!("{other:?}"),
            })
        };
        let judgement = settle(&mut runs, ask, |runs, spec: RunSpec, missing| {
            let limit = missing.limits.elapsed.unwrap_or(usual);
            limits.push(limit);
            let limit = if is_short { limit } else { limit.max(usual) };
            runs.of_mut(missing.alone).add(spec, ends(outcome, seconds, limit));
        });
        assert!(limits.contains(&(usual / 10)), "{limits:?}");
        judgement
    };
    let mut conclusions = Vec::new();
    for (outcome, seconds) in
        [(Outcome::Passed, 0), (Outcome::Passed, 3), (Outcome::Failed, 3), (Outcome::Passed, 600)]
    {
        let short = concluded(&outcome, seconds, true);
        assert_eq!(short, concluded(&outcome, seconds, false), "{outcome:?} after {seconds} s");
        conclusions.push(verdict(&short));
    }
    assert_eq!(conclusions, ["stable", "stable", "broken", "broken"]);
}

#[test]
fn a_test_that_varies_together_with_others_at_random_addresses_is_run_there_often() {
    let options = options();
    let available = Available { joint: true, ..Available::default() };
    // One run in ten has another outcome at random addresses.
    let changes = |spec: &RunSpec, number: usize| spec.is_natural() && number % 10 == 9;
    for (passes, varies, runs, expected) in [
        (true, false, 2, "stable"),
        (true, true, 60, "ND"),
        (false, false, 2, "broken"),
        (false, true, 60, "ND"),
    ] {
        let found =
            if varies { JointRuns::Vary } else { JointRuns::Agree { runs: 12, may_draw: false } };
        let mut made = Runs::new(true, false);
        made.spend(Spent { exploring: true, ..Spent::default() });
        let judgement = loop {
            match conclude("t", &options, available, &made) {
                Ok(judgement) => break judgement,
                Err(Need::Joint) => made.note_joint_runs(found),
                Err(Need::Runs(missing)) => {
                    for spec in missing.experiments {
                        let run = run(passes != changes(&spec, made.count()), []);
                        made.together.add(spec, run);
                    }
                }
                Err(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(verdict(&judgement), expected);
        assert!(made.count() >= runs, "{}", made.count());
        assert_eq!(made.together.joint_runs(), Some(found));
    }
}

#[test]
fn a_test_that_may_be_timed_runs_together_with_others_though_the_budget_is_spent() {
    let available = Available { joint: true, ..Available::default() };
    for (found, expected) in
        [(JointRuns::Agree { runs: 10, may_draw: false }, "stable"), (JointRuns::Vary, "ND")]
    {
        for source in [Source::Thread, Source::Date, Source::Child] {
            let mut made = Runs::new(true, false);
            made.spend(Spent { exploring: true, ..Spent::default() });
            let mut joined = 0;
            let judgement = loop {
                match conclude("t", &options(), available, &made) {
                    Ok(judgement) => break judgement,
                    Err(Need::Joint) => {
                        joined += 1;
                        made.note_joint_runs(found);
                    }
                    Err(Need::Runs(missing)) => {
                        for spec in missing.experiments {
                            let passes = !spec.is_natural() || made.count() % 15 != 14;
                            let run = Run { sources: vec![source], ..run(passes, []) };
                            made.together.add(spec, run);
                        }
                    }
                    Err(other) => panic!("{other:?}"),
                }
            };
            let is_joined = source != Source::Child;
            assert_eq!(joined, usize::from(is_joined), "{source:?}");
            let expected = if is_joined { expected } else { "stable" };
            assert_eq!(verdict(&judgement), expected, "{source:?} {found:?}");
        }
    }
}

#[test]
fn a_test_that_may_be_timed_ends_after_runs_with_other_tests_as_after_runs_alone() {
    let is_clean = |number: usize| number < 3;
    let is_joinable = |source| matches!(source, Source::Clock | Source::Date);
    type Passes = fn(usize) -> bool;
    let all: [(Source, Passes, &str); 7] = [
        (Source::Clock, |_| true, "stable"),
        (Source::Date, |_| true, "stable"),
        (Source::Date, |number| number % 15 != 14, "ND"),
        (Source::Clock, |number| number % 15 != 14, "ND"),
        (Source::Clock, |_| false, "broken"),
        // Other processes see what other tests do.
        (Source::Child, |_| true, "stable"),
        (Source::RandomFile, |number| number % 15 != 14, "ND"),
    ];
    for (source, passes, expected) in all {
        // How often it runs alone, if runs with other tests are made, fail for lack of time, or
        // cannot be made.
        let runs = [Some(19), Some(0), None].map(|together| {
            let mut made = Runs::new(true, false);
            let judgement = loop {
                let available = Available { joint: together.is_some(), ..Available::default() };
                match conclude("t", &options(), available, &made) {
                    Ok(judgement) => break judgement,
                    Err(Need::Joint) => {
                        assert!(is_joinable(source), "{source:?}");
                        let runs = together.unwrap();
                        let agree = (0..runs).all(|number| passes(number) == passes(0));
                        made.note_joint_runs(if agree {
                            JointRuns::Agree { runs, may_draw: false }
                        } else {
                            JointRuns::Vary
                        });
                    }
                    Err(Need::Runs(missing)) => {
                        for spec in missing.experiments {
                            let number = if is_clean(made.count()) { 0 } else { made.count() };
                            let run = Run { sources: vec![source], ..run(passes(number), []) };
                            made.together.add(spec, run);
                        }
                    }
                    Err(other) => panic!("{other:?}"),
                }
            };
            assert_eq!(verdict(&judgement), expected, "{source:?} {together:?}");
            made.count()
        });
        let is_shorter = is_joinable(source) && expected == "stable";
        assert_eq!(runs[0] < runs[2], is_shorter, "{source:?} {runs:?}");
        assert_eq!(runs[1], runs[2]);
    }
}

#[test]
fn a_test_whose_hasher_draws_ends_after_runs_with_other_tests_as_after_runs_alone() {
    let bytes = |start| StateId { kind: StateKind::Static, name: StateId::name_of_bytes(start, 8) };
    let options = Options { address_seeds: [bytes(64)].into(), ..options() };
    let is_clean = |number: usize| number < 2;
    type Passes = fn(usize) -> bool;
    let all: [(Passes, &str); 4] = [
        (|_| true, "stable"),
        (|_| false, "broken"),
        (|number| number % 40 != 39, "ND"),
        (|number| number % 40 == 39, "ND"),
    ];
    for (passes, expected) in all {
        // How often it runs alone, if runs with other tests are made, fail for lack of time, or
        // cannot be made.
        let runs = [Some(60), Some(0), None].map(|together| {
            let mut made = Runs::new(true, false);
            let judgement = loop {
                let available = Available { joint: together.is_some(), ..Available::default() };
                match conclude("t", &options, available, &made) {
                    Ok(judgement) => break judgement,
                    Err(Need::Joint) => {
                        let runs = together.unwrap();
                        let agree = (0..runs).all(|number| passes(number) == passes(0));
                        made.note_joint_runs(if agree {
                            JointRuns::Agree { runs, may_draw: true }
                        } else {
                            JointRuns::Vary
                        });
                    }
                    Err(Need::Runs(missing)) => {
                        for spec in missing.experiments {
                            let draws = spec.is_natural() && !is_clean(made.count());
                            let passed = passes(if draws { made.count() } else { 0 });
                            let change =
                                StateChange { state: bytes(64), before: None, after: None };
                            let states = if spec.records_changes() { vec![change] } else { vec![] };
                            made.together
                                .add(spec, Run { states: states.into(), ..run(passed, []) });
                        }
                    }
                    Err(other) => panic!("{other:?}"),
                }
            };
            assert_eq!(verdict(&judgement), expected, "{together:?}");
            made.count()
        });
        assert_eq!(runs[0] == 2, expected != "ND", "{runs:?}");
        assert_eq!(runs[1], runs[2]);
    }
}

#[test]
fn a_clock_that_shows_one_time_twice_decides_if_a_plain_build_fails_at_the_same_line() {
    let options = options();
    let spec = options.seed_spec("t", Level::One, 2);
    let at = |line| Failure { file: Some("src/lib.rs".to_owned()), line, ..Failure::default() };
    let decided = |by: &Model, confirmed: bool, plain: Option<Failure>| {
        let site = Site {
            api: by.api.into(),
            family: Family::Time,
            file: "src/lib.rs".into(),
            line: 1,
            column: 1,
        };
        let groups = vec![Group { sites: vec![site], ..Group::default() }];
        let culprits = Culprits { groups, confirmed, ..Culprits::default() };
        let found = Dependence { passes_clean: true, spec: spec.clone(), culprits, is_cut: false };
        let mut runs = Runs::new(true, false);
        let failing = Run { failure: Some(at(Some(7))), ..run(false, []) };
        runs.together.add(spec.clone(), failing);
        runs.plain_failure = plain;
        decide(&found, Question::new("t", &options, &runs.together), &runs)
    };
    for confirmed in [false, true] {
        for (plain, expected) in [
            (Some(at(Some(7))), true),
            (Some(at(Some(8))), false),
            (Some(Failure::default()), false),
            (None, false),
        ] {
            assert_eq!(decided(&model::SYSTEM_TIME_NOW, confirmed, plain.clone()), expected);
            // A delay of a confirmed length decides, whatever else happens.
            assert_eq!(decided(&model::SYSTEM_TIME_ELAPSED, confirmed, plain), confirmed);
        }
    }
}
