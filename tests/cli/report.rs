//! The report in human format, made from hand-written reports.

mod culprits;

use std::collections::BTreeMap;

use cargo_nondex::report::schema::{
    FailureReport, InterleavingReport, Line, NetworkEvent, Order, Position, Race, Replay, Step,
};
use cargo_nondex::report::{Report, TestReport, Verdict};
use nondex_core::model::CATALOGUE;
use nondex_core::{Family, Level, Outcome, RunSpec, Source};

use crate::sample::{
    advice, because_of, briefly, culprit, dependent, failure, findings, known, report, shown, test,
};

#[test]
fn a_finding_reads_like_a_diagnostic() {
    insta::assert_snapshot!(shown(
        &report(vec![dependent(), test("stable", Verdict::Stable)]),
        0,
        false
    ));
}

#[test]
fn a_finding_at_full_is_advice_and_shows_the_users_frame_first() {
    insta::assert_snapshot!(shown(&report(vec![advice()]), 0, false));
}

#[test]
fn a_finding_with_a_fixed_hasher_that_no_implementation_would_show_is_advice() {
    let mut finding = dependent();
    finding.weakest_level = Some(Level::Id);
    for culprit in &mut finding.culprits {
        culprit.family = Family::FixedHasher;
    }
    let text = shown(&report(vec![finding.clone()]), 0, false);
    assert!(text.starts_with("warning[ID]"), "{text}");
    assert!(text.contains("= advice: the hasher is not `RandomState`"), "{text}");
    finding.weakest_level = Some(Level::One);
    let text = shown(&report(vec![finding]), 0, false);
    assert!(text.starts_with("error[ID]") && !text.contains("advice"), "{text}");
}

#[test]
fn a_test_that_fails_in_base_order_too_is_told_where_it_passes_and_is_no_advice() {
    let mut finding = advice();
    finding.failures.insert(0, FailureReport::clean(Outcome::Failed));
    let text = shown(&report(vec![finding]), 0, false);
    assert!(text.starts_with("error[ID]"), "{text}");
    let level = "FULL: fails in every order of today's std that was tried, and passes where an \
                 unmodified collection has another order";
    assert!(text.contains(level), "{text}");
}

#[test]
fn the_line_at_which_a_test_fails_is_that_of_the_run_that_is_explained() {
    let mut finding = dependent();
    finding.failures = vec![
        failure(Some(Level::Std), Some(1), "another one"),
        failure(Some(Level::Std), Some(2), "the one that is reproduced"),
    ];
    finding.failures[0].line = Some(7);
    finding.failures[1].id = Some("reproduced".to_owned());
    finding.replay = Some(Replay {
        primary: Some("reproduced".to_owned()),
        kind: "lib".to_owned(),
        target: "shop".to_owned(),
        spec: RunSpec::clean(""),
        timeout_ms: 60_000,
    });
    let failing = |finding: &TestReport| {
        let text = findings(vec![finding.clone()], 0);
        assert!(text.contains("message: STD, seed 2, at src/lib.rs:20"), "{text}");
        assert!(!text.contains("another one"), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        let label = lines.iter().position(|line| line.ends_with("the test fails here"));
        let source = lines[label.expect("it is shown where") - 1];
        source.split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(failing(&finding), "20");
    // With only the choices of the culprits, the test may fail at another place.
    finding.interleaving = Some(InterleavingReport {
        threads: Vec::new(),
        steps: Vec::new(),
        conflicts: Vec::new(),
        failed: Some(Line { file: "src/lib.rs".to_owned(), line: 9 }),
    });
    assert_eq!(failing(&finding), "9");
}

#[test]
fn a_strict_run_makes_advice_an_error() {
    let mut report = report(vec![advice()]);
    report.run.strict = true;
    assert!(shown(&report, 0, false).starts_with("error[ID]: `shop$listing`"));
}

#[test]
fn every_other_verdict_has_its_line_and_the_output_of_the_failing_run() {
    let network = NetworkEvent {
        operation: "connect".to_owned(),
        address: "example.org:443".to_owned(),
        error: "network is unreachable".to_owned(),
        thread: "0.1".to_owned(),
        elapsed_ms: Some(30_250),
        ..NetworkEvent::default()
    };
    let long: String = (0..50).map(|n| format!("line {n}\n")).collect();
    let tests = vec![
        TestReport {
            failures: vec![failure(None, None, "exited with code 3")],
            output: Some(long),
            ..test("fails", Verdict::Broken)
        },
        TestReport {
            failures: vec![failure(Some(Level::Std), Some(1), "timed out after 60 s")],
            output: Some("thread 'main' panicked\n\n  at here\n".to_owned()),
            notes: vec!["it passed 1 of 3 runs of the same spec".to_owned()],
            ..test("races", Verdict::NonDeterministic)
        },
        TestReport {
            order: Some(Order { polluters: vec!["sets_locale".to_owned()], ..Order::default() }),
            ..test("victim", Verdict::OrderDependentVictim)
        },
        TestReport { network: vec![network], ..test("fetches", Verdict::Network) },
        TestReport {
            failures: vec![failure(None, None, "exited with code 3")],
            ..test("unexplained", Verdict::Unknown)
        },
        TestReport { notes: vec!["it is ignored".to_owned()], ..test("slow", Verdict::NotRun) },
    ];
    insta::assert_snapshot!(shown(&report(tests), 1, false));
}

#[test]
fn the_headline_of_a_race_names_the_test_that_it_races_with() {
    for (inner, expected) in [
        (false, "fails when `other` runs in the middle of it"),
        (true, "fails when it runs in the middle of `other`"),
    ] {
        let race = Race { with: "other".to_owned(), inner, ..Race::default() };
        let failure =
            FailureReport { before: vec!["other".to_owned()], ..failure(None, None, "seen") };
        let test = TestReport {
            failures: vec![failure],
            race: Some(race),
            ..test("races", Verdict::NonDeterministic)
        };
        let shown = shown(&report(vec![test]), 0, false);
        assert!(shown.contains(&format!("`shop$races` {expected}\n")), "{shown}");
        assert!(shown.contains("message: at the same time as `other`"), "{shown}");
    }
}

#[test]
fn a_flaky_test_whose_cause_was_not_searched_is_not_called_unexplained() {
    let clean = FailureReport { id: Some("rgv36bdx".to_owned()), ..failure(None, None, "seen") };
    let step = |name: &str| Step { name: name.to_owned(), runs: 1, failures: 1 };
    let flaky = |steps| TestReport {
        failures: vec![clean.clone()],
        plain: Some([1, 3]),
        steps,
        ..test("flaky", Verdict::Unknown)
    };
    let unsearched = shown(&report(vec![flaky(vec![step("clean")])]), 0, false);
    for expected in
        ["`shop$flaky` is flaky, and its cause was not searched\n", "message: clean run"]
    {
        assert!(unsearched.contains(expected), "{unsearched}");
    }
    let searched = flaky(vec![step("clean"), step("choices")]);
    let searched = shown(&report(vec![searched]), 0, false);
    assert!(searched.contains("`shop$flaky` is flaky for an unknown reason\n"), "{searched}");
}

#[test]
fn a_brief_finding_has_its_two_lines_and_no_more_than_fifteen_lines_of_text() {
    let [mut other, mut several] = [dependent(), dependent()];
    other.name = "other".to_owned();
    other.id = "shop$other".to_owned();
    several.culprits =
        vec![known(), culprit("std::fs::read_dir", Family::Directory, ("src/lib.rs", 4, 14))];
    let tests = vec![dependent(), other, several, advice()];
    let shown = briefly(&report(tests));
    insta::assert_snapshot!(shown);
    let (findings, _) = shown.split_once("     Summary").unwrap();
    for finding in findings.trim_end().split("\n\n") {
        assert!(finding.lines().count() <= 15, "{finding}");
    }
}

#[test]
fn a_green_run_says_what_it_reached() {
    let mut report = report(vec![test("a", Verdict::Stable)]);
    report.notes.push("the doctests of 1 package were not run".to_owned());
    insta::assert_snapshot!(shown(&report, 0, false));
}

#[test]
fn of_stable_tests_that_start_programs_it_is_said_how_often_they_may_fail() {
    let one = |name: &str, source: Source, bound: f64| TestReport {
        sources: vec![source],
        failure_bound: Some(bound),
        ..test(name, Verdict::Stable)
    };
    let tests = [
        one("git", Source::Child, 0.139),
        one("sleeps", Source::Sleep, 0.5),
        one("server", Source::Child, 0.283),
        TestReport { sources: vec![Source::Child], ..dependent() },
    ];
    let printed = |tests: &[TestReport]| {
        let shown = shown(&report(tests.to_vec()), 0, false);
        let line = shown.lines().find(|line| line.contains("no seed controls"));
        line.map(|line| line.trim().to_owned())
    };
    let two = "2 stable tests start programs or wait for others, whose timing no seed controls, \
               and may fail in up to 29 % of runs, with 95 % confidence: shop$git, shop$server";
    assert_eq!(printed(&tests).as_deref(), Some(two));
    let one = "1 stable test starts programs or waits for others, whose timing no seed controls, \
               and may fail in up to 14 % of runs, with 95 % confidence: shop$git";
    assert_eq!(printed(&tests[..1]).as_deref(), Some(one));
    assert_eq!(printed(&tests[1..2]), None);
}

#[test]
fn a_partial_report_says_so_even_when_quiet() {
    let mut report = report(vec![test("a", Verdict::Stable), test("b", Verdict::NotRun)]);
    report.partial = true;
    insta::assert_snapshot!(shown(&report, 0, true));
}

#[test]
fn tests_that_were_run_alone_are_named_and_models_that_are_off_are_not_missed() {
    let mut report = report(
        ["a", "b", "c", "d"]
            .map(|name| TestReport { run_alone: true, ..test(name, Verdict::Stable) })
            .to_vec(),
    );
    report.run.models_off.extend(
        CATALOGUE
            .iter()
            .map(|model| model.name(model.family))
            .filter(|name| !name.starts_with("directory")),
    );
    insta::assert_snapshot!(shown(&report, 0, false));
}

#[test]
fn tests_with_one_cause_are_one_finding() {
    let named = |name: &str, level, rate| TestReport {
        weakest_level: Some(level),
        failure_rate: BTreeMap::from([(level, rate)]),
        reproduce: Some(format!("cargo nondex replay {name}")),
        id: format!("shop${name}"),
        ..dependent()
    };
    let mut suspected = named("suspected", Level::Std, [1, 10]);
    suspected.culprits[0].confirmed = false;
    // Tests with one cause may differ in the call and in the elements.
    let mut nearer = named("nearer", Level::One, [3, 10]);
    nearer.culprits = vec![known()];
    suspected.culprits[0].position = Some(Position::First);
    suspected.culprits[0].user_file = Some("src/main.rs".to_owned());
    suspected.culprits[0].user_line = Some(7);
    let other =
        because_of(vec![culprit("std::fs::read_dir", Family::Directory, ("src/lib.rs", 4, 14))]);
    let tests = vec![
        named("later", Level::Eq, [10, 10]),
        other,
        suspected,
        nearer,
        named("last", Level::Full, [10, 10]),
    ];
    let report = report(tests);
    let shown = shown(&report, 0, false);
    assert!(shown.contains("5 tests: 5 ID (2 causes, 1 advice)"), "{shown}");
    assert_eq!(shown.matches("error[ID]").count(), 2);
    let (_, cause) = shown.split_once("shop$nearer").unwrap();
    insta::assert_snapshot!(cause.split_once("     Summary").unwrap().0);
}

#[test]
fn tests_without_a_known_cause_are_not_taken_for_one() {
    let tests = vec![because_of(Vec::new()), because_of(Vec::new())];
    let shown = shown(&report(tests), 0, false);
    assert_eq!(shown.matches("relies on an unspecified choice").count(), 2);
    assert!(shown.contains("2 tests: 2 ID\n"), "{shown}");
}

#[test]
fn a_short_difference_of_outputs_is_always_shown_and_a_long_one_when_asked_for() {
    let short = "@@ -1 +1 @@\n-sold a, b\n+sold b, a";
    let added = "+line\n".repeat(13);
    let long = format!("-line 0\n{added}");
    for (difference, verbose, is_shown) in [
        (short, 0, true),
        (&long, 0, false),
        (&long, 1, true),
        // A difference of only added lines is not shown, because the output shows them.
        (&added, 1, false),
    ] {
        let test = TestReport { difference: Some(difference.to_owned()), ..dependent() };
        let shown = findings(vec![test], verbose);
        assert_eq!(shown.contains(" = difference: "), is_shown, "{shown}");
        if difference == short {
            let (_, block) = shown.split_once("  = difference").unwrap();
            insta::assert_snapshot!(block.split_once("  = help").unwrap().0);
        }
    }
}

#[test]
fn tests_that_passed_with_every_order_are_counted() {
    let verified =
        TestReport { verified: vec![Level::Std, Level::Full], ..test("a", Verdict::Stable) };
    let shown = shown(&report(vec![verified, test("b", Verdict::Stable)]), 0, false);
    for expected in [
        "2 tests: 2 stable (1 verified)\n",
        " verified for all orders: 1 test at STD, 1 test at FULL\n",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn the_cost_of_a_search_is_told_to_who_asks() {
    let test = || TestReport { search_runs: 31, runs: 58, ..dependent() };
    let note = " = search: 31 of its 58 runs searched for the cause\n";
    assert!(!findings(vec![test()], 0).contains(note));
    assert!(findings(vec![test()], 1).contains(note));
}

/// A finding as the first version of this tool wrote it.
const OLD: &str = r#"{
    "schema": 2,
    "run": {"id": "1-2", "command": "cargo nondex", "levels": ["STD"], "seeds": [0, 1],
    "network": "observe"},
    "summary": {"tests": 1, "stable": 0, "id": 1, "od": 0, "nd": 0, "ud": 0, "network": 0,
    "broken": 0, "not_run": 0,
                "choice_points": 2, "runs": 9, "models_reached": ["directory/std::fs::read_dir"]},
    "tests": [{"id": "shop$old", "package": "shop", "binary": "shop", "name": "old",
    "file": "src/lib.rs", "line": 13,
               "verdict": "ID", "choice_points": 2, "weakest_level": "STD",
               "failures": [{"level": "STD", "seed": 1, "message": "no", "file": "src/lib.rs",
               "line": 20}],
               "failure_rate": {"STD": [1, 2]},
               "culprits": [{"api": "std::fs::read_dir", "file": "src/lib.rs", "line": 4,
               "column": 14, "kind": "permute",
                             "len": 2, "elements": null, "confirmed": true, "family": "directory"}],
               "network": [], "order": null, "reproduce": "cargo nondex replay 0"}]
}"#;

#[test]
fn a_report_of_an_older_version_is_still_shown() {
    let report: Report = serde_json::from_str(OLD).unwrap();
    insta::assert_snapshot!(shown(&report, 0, false));
}
