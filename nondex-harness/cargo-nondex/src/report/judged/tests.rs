//! Tests of reports of judged runs.

mod deadlocks;
mod failures;

use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::{DrawnChoices, Failure, Frame, NetworkMode, Outcome, PointRecord, Schedule};

use super::*;
use crate::judge::culprit::{Culprits, Group};
use crate::judge::simulation::{made, options, run, simulate, site};
use crate::judge::{Interference, NetworkPolicy, Reason, World};
use crate::project::suite::tests::binary;
use crate::report::schema::Verdict;

fn suite() -> Suite {
    Suite { binary: binary("pkg", "it"), tests: Vec::new() }
}

fn case(name: &str) -> TestCase {
    TestCase {
        name: name.into(),
        file: Some("tests/it.rs".into()),
        line: Some(12),
        ignored: false,
        left_out: false,
        doctest: None,
    }
}

fn judged(test: impl FnMut(&RunSpec) -> Run) -> TestReport {
    judged_with(&options(), test)
}

fn judged_with(options: &Options, test: impl FnMut(&RunSpec) -> Run) -> TestReport {
    let (conclusion, evidence) = simulate(options, test);
    let mut runs = Runs::new(true, false);
    runs.together = evidence;
    reported(options, &runs, Some(&Judgement::together(conclusion)))
}

fn reported(options: &Options, runs: &Runs, judgement: Option<&Judgement>) -> TestReport {
    let workspace = Workspace::new("/nonexistent".into());
    report(&suite(), &case("t"), options, &workspace, runs, judgement)
}

fn failing(message: &str, lines: impl IntoIterator<Item = u32>) -> Run {
    Run {
        failure: Some(Failure {
            message: message.into(),
            file: Some("src/lib.rs".into()),
            line: Some(9),
        }),
        output: Some(format!("output of {message}")),
        ..run(false, lines)
    }
}

#[test]
fn each_kind_of_test_gets_its_verdict_and_the_command_that_shows_it() {
    let mut run_number = 0;
    type Simulated<'a> = Box<dyn FnMut(&RunSpec) -> Run + 'a>;
    let table: [(&str, Simulated<'_>, Verdict, Option<RunSpec>); 4] = [
        ("stable", Box::new(|_| run(true, [1])), Verdict::Stable, None),
        ("broken", Box::new(|_| run(false, [1])), Verdict::Broken, Some(RunSpec::clean("t"))),
        (
            "dependent",
            Box::new(|spec| {
                run(!(made(spec, 1) && spec.level() == Level::One && spec.seed() == 4), [1])
            }),
            Verdict::ImplementationDependent,
            Some(RunSpec::new("t", Level::One, 4)),
        ),
        (
            "does not repeat",
            Box::new(|_| {
                run_number += 1;
                run(run_number != 4, [1])
            }),
            Verdict::NonDeterministic,
            Some(RunSpec::new("t", Level::Std, 1)),
        ),
    ];
    for (name, test, verdict, reproduce) in table {
        let report = judged(test);
        assert_eq!(report.verdict, verdict, "{name}");
        let command = reproduce.as_ref().map(|spec| match spec.drawn() {
            None => "cargo nondex replay 'pkg::it$t' --clean".to_owned(),
            Some(DrawnChoices { level, seed, .. }) => {
                format!("cargo nondex replay 'pkg::it$t' --level {level} --seed {seed}")
            }
        });
        let by_chance = verdict == Verdict::NonDeterministic;
        let expected =
            command.map(|command| if by_chance { format!("{command} --runs 7") } else { command });
        assert_eq!(report.reproduce, expected, "{name}");
        let id = reproduce.map(|spec| id::of("pkg::it$t", &options().apply(spec)));
        let primary = report.replay.as_ref();
        assert_eq!(primary.and_then(|replay| replay.primary.clone()), id, "{name}");
        let failures = report.failures.iter();
        let ids: Vec<_> = failures.map(|failure| failure.id.clone()).collect();
        assert_eq!(id.is_some(), ids.contains(&id), "{name}");
    }
}

#[test]
fn what_only_natural_runs_show_is_made_again_with_real_threads() {
    let report = judged(|spec| run(!spec.is_natural(), [1]));
    assert_eq!(report.verdict, Verdict::NonDeterministic);
    let command = "cargo nondex replay 'pkg::it$t' --clean --real-threads";
    assert_eq!(report.reproduce.as_deref(), Some(command));
    let id = id::of("pkg::it$t", &options().natural_spec("t"));
    assert_eq!(report.replay.unwrap().primary, Some(id));
}

#[test]
fn a_finding_has_its_rate_its_failures_and_its_culprit() {
    let report = judged(|spec| {
        if made(spec, 2) && spec.level() == Level::Eq && spec.seed() % 2 == 0 {
            failing(&format!("seed {}", spec.seed()), [1, 2])
        } else {
            run(true, [1, 2])
        }
    });
    assert_eq!(report.weakest_level, Some(Level::Eq));
    let rates: Vec<_> = report.failure_rate.into_iter().collect();
    assert_eq!(rates, [(Level::Std, [0, 10]), (Level::One, [0, 10]), (Level::Eq, [5, 10])]);
    let failures: Vec<_> = report
        .failures
        .iter()
        .map(|failure| (failure.level, failure.seed, failure.message.as_str()))
        .collect();
    let messages = [0, 2, 4, 6, 8].map(|seed| (seed, format!("seed {seed}")));
    let expected =
        messages.each_ref().map(|(seed, message)| (Some(Level::Eq), Some(*seed), message.as_str()));
    assert_eq!(failures, expected);
    assert_eq!(report.output.as_deref(), Some("output of seed 0"));
    assert_eq!(report.choice_points, 6);
    let [culprit] = report.culprits.as_slice() else { panic!("{:?}", report.culprits) };
    assert_eq!((culprit.line, culprit.len, culprit.confirmed), (2, 100, true));
    assert_eq!(culprit.place(), ("src/lib.rs", 2, Some(5)));
}

#[test]
fn a_test_that_passes_in_another_order_than_the_base_says_so() {
    let report = judged(|spec| run(made(spec, 1) && spec.seed() == 3, [1]));
    assert_eq!(report.verdict, Verdict::ImplementationDependent);
    assert_eq!(
        report.notes,
        ["it fails in canonical order too, and passes at level STD with seed 3"]
    );
    assert_eq!(report.failure_rate[&Level::Std], [9, 10]);
}

#[test]
fn a_test_that_fails_by_chance_names_the_source_and_no_doubt_about_a_replay() {
    let options = options();
    let clean = options.clean_spec("t");
    let mut runs = Runs::new(true, false);
    for passes in [true, false] {
        let schedule = nondex_core::ScheduleRecord { outside: 2, ..Default::default() };
        let sources = vec![nondex_core::Source::Child];
        let run = Run { sources, schedule: Some(schedule), ..run(passes, [1]) };
        runs.together.add(clean.clone(), run);
    }
    let judgement = Judgement::together(Conclusion::NonDeterministic { spec: Box::new(clean) });
    let report = reported(&options, &runs, Some(&judgement));
    assert_eq!(report.verdict, Verdict::NonDeterministic);
    assert!(report.scheduled.as_ref().is_some_and(|scheduled| scheduled.outside > 0));
    let [rate, source] = &report.notes[..] else { panic!("{:?}", report.notes) };
    assert!(rate.starts_with("1 of 2 runs in canonical order failed"), "{rate}");
    assert_eq!(source, "no seed controls all that it uses: programs that it starts");
}

#[test]
fn a_broken_test_whose_seeds_did_not_fit_into_the_budget_may_pass_under_one() {
    let options = options();
    let clean = options.clean_spec("t");
    for (exploring, left_out) in [(true, 49), (false, 0)] {
        let mut runs = Runs::new(true, false);
        runs.together.add(clean.clone(), run(false, [1]));
        runs.together.add(options.seed_spec("t", Level::Std, 0), run(false, [1]));
        runs.spend(crate::judge::Spent { exploring, explaining: false });
        let report = reported(&options, &runs, Some(&Judgement::together(Conclusion::Broken)));
        assert_eq!((report.verdict, report.left_out), (Verdict::Broken, left_out));
        let is_noted = report.notes.iter().any(|note| note.contains("`--thorough` makes 49 more"));
        assert_eq!(is_noted, exploring, "{:?}", report.notes);
    }
}

#[test]
fn what_no_seed_controls_is_a_list_at_the_end_of_its_note() {
    use nondex_core::Source::{Clock, Date, Port};
    assert_eq!(
        notes::may_pass(&[Clock, Date, Port], 71).unwrap(),
        "it failed in each of 71 runs, and may pass in up to 5 % of runs, with 95 % confidence: \
         no seed controls a clock, the date or the time of day, a port that the system chooses"
    );
}

#[test]
fn a_culprit_outside_the_workspace_is_shown_where_the_user_called_it() {
    let directory = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/mine.rs"), "").unwrap();
    let mine = root.join("src/mine.rs");
    let frame = |(file, line): (&str, u32)| Frame {
        // The frame of the test, if a macro of a dependency generated it.
        function: ["f", "it::t"][usize::from(file.ends_with("macro.rs"))].into(),
        file: file.into(),
        line,
    };
    let expanded = ("dep-1.0.0/src/macro.rs", 5);
    let (dependency, std) = (("dep-1.0.0/src/lib.rs", 2), ("library/std/src/x.rs", 1));
    let users = [(mine.as_str(), 3), (mine.as_str(), 4)];
    let all = [&[std, dependency], &users[..]].concat();
    let stack = ("stack:9baf4734e811ac81", 0, 0);
    // Site, its stack, the culprit's place, the shown place, and the site that the culprit keeps.
    for (site, frames, place, shown, identity) in [
        (
            ("dep-1.0.0/src/lib.rs", 9, 5),
            &all[..],
            ("dep-1.0.0/src/lib.rs", 9, 5),
            ("src/mine.rs", 3, None),
            None,
        ),
        (
            ("dep-1.0.0/src/lib.rs", 9, 5),
            &[],
            ("dep-1.0.0/src/lib.rs", 9, 5),
            ("dep-1.0.0/src/lib.rs", 9, Some(5)),
            None,
        ),
        (stack, &all, ("src/mine.rs", 3, 0), ("src/mine.rs", 3, None), Some(stack.0)),
        (
            stack,
            &[std, dependency],
            ("dep-1.0.0/src/lib.rs", 2, 0),
            ("tests/it.rs", 12, None),
            Some(stack.0),
        ),
        (
            ("dep-1.0.0/src/lib.rs", 9, 5),
            &[std, dependency, expanded],
            ("dep-1.0.0/src/lib.rs", 9, 5),
            ("tests/it.rs", 12, None),
            None,
        ),
        (
            stack,
            &[std, dependency, expanded],
            ("tests/it.rs", 12, 0),
            ("tests/it.rs", 12, None),
            Some(stack.0),
        ),
        (stack, &[std], ("tests/it.rs", 12, 0), ("tests/it.rs", 12, None), Some(stack.0)),
    ] {
        let mut point = crate::judge::simulation::point(self::site(1));
        (point.site.file, point.site.line, point.site.column) = (site.0.into(), site.1, site.2);
        point.stack = frames.iter().copied().map(frame).collect();
        let group =
            Group { sites: vec![point.site.clone()], points: vec![point], ..Group::default() };
        let found = Culprits { groups: vec![group], confirmed: true, notes: Vec::new() };
        let workspace = Workspace::new(root.clone());
        let reported = culprits::report(&found, &case("t"), &workspace);
        assert_eq!((reported[0].file.as_str(), reported[0].line, reported[0].column), place);
        assert_eq!(reported[0].place(), shown);
        assert_eq!(reported[0].site.as_deref(), identity);
    }
}

#[test]
fn what_reproduces_a_failure_says_all_that_a_fresh_clone_does_not_know() {
    let mut options = options();
    let fails = |spec: &RunSpec| run(spec.is_clean(), [1]);
    let command = |options: &Options| judged_with(options, fails).reproduce.unwrap();
    assert_eq!(command(&options), "cargo nondex replay 'pkg::it$t' --level STD --seed 0");
    options.build_words =
        ["--manifest-path", "a b/Cargo.toml", "--release"].map(str::to_owned).to_vec();
    options.schedule = Schedule::Random;
    options.models_off = vec!["directory/std::fs::read_dir".into(), "entropy/getrandom".into()];
    options.network = NetworkPolicy::new(NetworkMode::Block, vec!["a.example".into()], true);
    options.timeout = Duration::from_millis(1500);
    assert_eq!(
        command(&options),
        "cargo nondex replay --manifest-path 'a b/Cargo.toml' --release 'pkg::it$t' --level STD \
         --seed 0 --schedule random \
         --skip-models '^(directory/std::fs::read_dir|entropy/getrandom)$' --network block \
         --network-allow a.example \
         --timeout 1.5"
    );
}

#[test]
fn what_searches_a_cause_looks_in_the_targets_of_the_run() {
    let world = Some(World { seed: Some(0), verify: false });
    let build_words = vec!["--workspace".to_owned()];
    let options = Options { build_words, world, ..options() };
    let depends = judged_with(&options, |spec| run(spec.is_clean(), [1]));
    let search = "`cargo nondex --workspace --seed 0 --exact t`";
    assert_eq!(
        depends.notes,
        [format!("it passes in canonical order; {search} names what decides")]
    );

    let mut runs = Runs::new(true, false);
    let by_chance = Run { sources: vec![nondex_core::Source::Date], ..failing("by chance", [1]) };
    runs.together.add(RunSpec::clean("t"), by_chance);
    runs.plain = Some(PlainBuild::Runs([1, 3]));
    let judgement = Judgement::together(Conclusion::Flaky);
    let flaky = reported(&options, &runs, Some(&judgement));
    assert_eq!(flaky.notes[0], "`cargo nondex --workspace -E 'test(=t)'` searches the cause");
    let source = flaky.notes.last().unwrap();
    assert_eq!(source, "no seed controls all that it uses: the date or the time of day");
}

#[test]
fn the_note_on_a_plain_build_uses_the_output_of_the_failing_run() {
    let judgement = Judgement::together(Conclusion::Broken);
    for (output, is_named) in [("error[E0460]: found possibly newer `std`", true), ("", false)] {
        let refused = Run { output: Some(output.to_owned()), ..failing("docs fail", []) };
        let mut runs = Runs::new(true, false);
        runs.together.add(options().clean_spec("t"), refused);
        runs.plain = Some(PlainBuild::Runs([0, 20]));
        let report = reported(&options(), &runs, Some(&judgement));
        let has_note = report.notes.iter().any(|note| note.contains("E0460"));
        assert_eq!(has_note, is_named, "{:?}", report.notes);
    }
}

#[test]
fn a_flaky_test_that_no_seed_can_change_is_flaky_for_an_unknown_reason() {
    let judgement = Judgement::together(Conclusion::Flaky);
    for (points, is_searched) in [(vec![], true), (vec![1], false)] {
        let mut runs = Runs::new(true, false);
        for _ in 0..2 {
            runs.together.add(options().clean_spec("t"), failing("by chance", points.clone()));
        }
        runs.plain = Some(PlainBuild::Runs([1, 3]));
        let flaky = reported(&options(), &runs, Some(&judgement));
        assert_eq!(flaky.verdict, Verdict::Unknown);
        assert_eq!(flaky.is_searched(), is_searched);
        let names_search = flaky.notes.iter().any(|note| note.contains("searches the cause"));
        assert_eq!(names_search, !is_searched, "{:?}", flaky.notes);
    }
}

#[test]
fn a_test_that_others_disturb_is_judged_from_its_runs_alone_and_says_so() {
    let clean = RunSpec::clean("t");
    let mut runs = Runs::new(true, true);
    runs.together.add(clean.clone(), failing("disturbed", [1]));
    runs.alone.add(clean.clone(), run(true, [1]));
    runs.alone.add(clean, run(true, [1]));
    let judgement = Judgement {
        conclusion: Conclusion::Stable,
        from_alone: true,
        interference: Some(Interference {
            together: [1, 1],
            alone: [0, 2],
            reason: Reason::Shared,
        }),
        is_provisional: false,
    };
    let report = reported(&options(), &runs, Some(&judgement));
    assert_eq!((report.verdict, report.run_alone, report.runs), (Verdict::Stable, true, 3));
    assert!(report.failures.is_empty() && report.output.is_none());
    assert_eq!(
        report.notes,
        ["it failed in 1 of 1 runs together with other tests of the campaign and in 0 of 2 \
            alone: most likely they share something outside the process, such as a path, or the \
             processors, so it was judged from runs alone"]
    );
}

#[test]
fn that_the_schedule_alone_makes_a_test_fail_is_said_only_where_no_scheduled_run_passes() {
    for (passing, said) in [
        (0, "could not reproduce its outcome"),
        (1, "it failed in one scheduled run and passed in another"),
    ] {
        let mut scheduled = 0;
        let report = judged(|spec| {
            scheduled += usize::from(spec.is_scheduled());
            let mut run = run(!spec.is_scheduled() || scheduled == passing, [1]);
            run.sources.push(nondex_core::Source::Clock);
            run
        });
        assert_eq!(report.verdict, Verdict::Stable);
        assert!(report.notes[0].contains(said), "{:?}", report.notes);
    }
}

#[test]
fn of_choices_that_decide_a_test_that_fails_in_canonical_order_the_passing_seeds_are_counted() {
    for (failures, expected) in [
        (vec![], "alone it fails under 2 of 7 seeds: "),
        (
            vec![FailureReport::clean(Outcome::Failed)],
            "alone it fails in canonical order, and passes under 5 of 7 seeds: ",
        ),
    ] {
        let mut report = TestReport::new("shop", "shop", "t");
        report.failures = failures;
        order::decided_by_choices(&mut report, [2, 7]);
        assert!(report.notes[0].starts_with(expected), "{:?}", report.notes);
    }
}

#[test]
fn what_no_seed_controls_may_be_the_number_of_the_process_where_no_source_is_known() {
    assert!(notes::uncontrolled(&[]).contains("the process id"));
    let clock = notes::uncontrolled(&[nondex_core::Source::Clock]);
    assert!(clock.ends_with("all that it uses: a clock"), "{clock}");
}

#[test]
fn a_test_that_passed_and_is_not_called_stable_says_why() {
    for (lost, verdict) in [(true, Verdict::Passed), (false, Verdict::Stable)] {
        let report = judged(|_| Run { lost, ..run(true, [1]) });
        assert_eq!(report.verdict, verdict);
        assert_eq!(report.notes.iter().any(|note| note.contains("miss events")), lost);
    }
}
