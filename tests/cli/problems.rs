//! Findings in the formats of CI systems, made from hand-written reports.

use cargo_nondex::report::human::Sources;
use cargo_nondex::report::problem::{Severity, problems};
use cargo_nondex::report::schema::{
    Blame, ChangeReport, ConflictReport, InterleavingReport, KnownFlake, LaneReport,
    LaneStepReport, Order, Sanitised, Timing,
};
use cargo_nondex::report::{Report, TestReport, Verdict};
use nondex_core::{Family, Level};

use crate::sample::{advice, culprit, dependent, failure, report, sources, test};

/// Returns a test that fails because two threads use a lock at two lines in any order.
pub(crate) fn race() -> TestReport {
    let step = |lane, line| LaneStepReport {
        lane,
        what: "Mutex::lock".to_owned(),
        file: Some("src/lib.rs".to_owned()),
        line: Some(line),
        found: None,
        left: None,
        waits: false,
        delay_ns: None,
        skipped: 0,
    };
    let delay = LaneStepReport { delay_ns: Some(500), ..step(0, 6) };
    let lane = |thread: &str| LaneReport { thread: thread.to_owned(), name: None };
    TestReport {
        reason: Some(Timing::Race),
        weakest_level: Some(Level::Std),
        failures: vec![failure(Some(Level::Std), Some(1), "lost")],
        culprits: vec![culprit("std::sync::Mutex::lock", Family::Schedule, ("src/lib.rs", 6, 0))],
        interleaving: Some(InterleavingReport {
            threads: vec![lane("0"), lane("0.0")],
            steps: vec![delay, step(1, 8), step(0, 6)],
            conflicts: vec![ConflictReport {
                object: "lock".to_owned(),
                before: None,
                delay: 0,
                meanwhile: 1,
                after: Some(2),
                sleep: None,
            }],
            failed: None,
        }),
        ..test("race", Verdict::NonDeterministic)
    }
}

/// Returns a report with a test of each kind, including advice and tests that do not fail the run.
pub(crate) fn all_kinds() -> Report {
    let second = TestReport {
        id: "shop$more_names".to_owned(),
        name: "more_names".to_owned(),
        line: Some(13),
        ..dependent()
    };
    let known = TestReport {
        known: Some(KnownFlake {
            reason: "the clock is read twice".to_owned(),
            expires: "9999-12-31".to_owned(),
            link: None,
        }),
        ..test("known", Verdict::NonDeterministic)
    };
    let victim = TestReport {
        order: Some(Order {
            polluters: vec!["sets_it".to_owned()],
            sets: vec![vec!["sets_it".to_owned()]],
            ..Order::default()
        }),
        failures: vec![failure(None, None, "not empty")],
        ..test("victim", Verdict::OrderDependentVictim)
    };
    let sanitised = TestReport {
        sanitised_by: Some(Sanitised {
            name: "database".to_owned(),
            reason: "there is no database".to_owned(),
            operations: Vec::new(),
        }),
        ..test("sanitised", Verdict::Broken)
    };
    let broken = TestReport {
        failures: vec![failure(None, None, "50 % \u{1b}[31mbroken\u{1b}[0m: a,b|c")],
        ..test("broken", Verdict::Broken)
    };
    report(vec![
        test("passes", Verdict::Stable),
        dependent(),
        second,
        advice(),
        race(),
        known,
        victim,
        sanitised,
        broken,
        test("ignored", Verdict::NotRun),
    ])
}

fn one<'r>(report: &'r Report, sources: &Sources) -> cargo_nondex::report::problem::Problem<'r> {
    problems(report, sources).into_iter().next().unwrap()
}

#[test]
fn a_cause_is_one_problem_and_the_most_important_comes_first_then_the_first_test() {
    let (_folder, sources) = sources();
    let report = all_kinds();
    let found = problems(&report, &sources);
    let found: Vec<(&str, &str, Severity)> = found
        .iter()
        .map(|problem| (&*problem.first().name, &*problem.rule.id, problem.severity))
        .collect();
    assert_eq!(
        found,
        [
            ("names", "hash_map/std::collections::HashMap::keys", Severity::Error),
            ("race", "race", Severity::Error),
            ("listing", "directory/std::fs::read_dir", Severity::Warning),
            ("victim", "OD-victim", Severity::Error),
            ("broken", "broken", Severity::Error),
            ("known", "ND", Severity::Note),
            ("sanitised", "sanitised/database", Severity::Note),
        ]
    );
}

#[test]
fn advice_is_an_error_in_a_strict_run() {
    let (_folder, sources) = sources();
    let mut report = report(vec![advice()]);
    assert_eq!(one(&report, &sources).severity, Severity::Warning);
    report.run.strict = true;
    assert_eq!(one(&report, &sources).severity, Severity::Error);
}

#[test]
fn the_place_is_the_responsible_line_and_the_rest_is_related_to_it() {
    let (_folder, sources) = sources();
    let report = all_kinds();
    let places = |name: &str| {
        let all = problems(&report, &sources);
        let found = all.iter().find(|problem| problem.first().name == name).unwrap();
        let related = found.related.iter().map(|place| place.line);
        (found.place.line, related.collect::<Vec<u32>>())
    };
    // The call, the failing assertion, and both tests.
    assert_eq!(places("names"), (2, vec![20, 12, 13]));
    // The two sides of the race, the failing assertion, and the test.
    assert_eq!(places("race"), (6, vec![8, 20, 12]));
    assert_eq!(places("broken"), (20, vec![12]));
    // Only the test is known.
    assert_eq!(places("known"), (12, vec![]));
    let unknown =
        TestReport { verdict: Verdict::Broken, ..TestReport::new("shop", "shop", "somewhere") };
    let place = one(&crate::sample::report(vec![unknown]), &sources).place;
    assert_eq!((place.file.as_str(), place.line), ("Cargo.toml", 1));
}

#[test]
fn a_cause_names_no_test_so_that_a_table_can_name_it_once() {
    let (_folder, sources) = sources();
    let report = all_kinds();
    let causes: Vec<String> =
        problems(&report, &sources).into_iter().map(|problem| problem.cause).collect();
    assert_eq!(causes[0], "relies on the order of `std::collections::HashMap::keys`");
    assert_eq!(causes[5], "known to be flaky until 9999-12-31: the clock is read twice");
    assert!(causes.iter().all(|cause| !cause.contains("shop$")), "{causes:?}");
}

#[test]
fn a_fingerprint_outlives_moved_lines_and_new_seeds_but_not_another_cause() {
    let (folder, sources) = sources();
    let fingerprint = |tests: Vec<TestReport>| one(&report(tests), &sources).fingerprint;
    let first = fingerprint(vec![dependent()]);
    let mut moved = dependent();
    moved.failures[0].seed = Some(77);
    moved.culprits[0].line = 3;
    let file = folder.path().join("shop/src/lib.rs");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("\n{text}")).unwrap();
    assert_eq!(fingerprint(vec![moved.clone()]), first);
    // The same text at another line is a separate finding of the same report.
    let again = TestReport {
        culprits: vec![culprit(
            "std::collections::HashMap::keys",
            Family::HashMap,
            ("src/lib.rs", 3, 0),
        )],
        ..moved.clone()
    };
    let both = report(vec![moved.clone(), again]);
    let both: Vec<String> =
        problems(&both, &sources).into_iter().map(|problem| problem.fingerprint).collect();
    assert_eq!(both.len(), 2);
    assert_ne!(both[0], both[1]);
    moved.culprits[0].api = "std::collections::HashMap::values".to_owned();
    assert_ne!(fingerprint(vec![moved]), first);
}

#[test]
fn what_has_nothing_to_do_with_the_change_needs_nobody() {
    let (_folder, sources) = sources();
    for (blame, needs) in [(Blame::Flaky, false), (Blame::Regression, true)] {
        let test = TestReport {
            change: Some(ChangeReport {
                verdict: blame,
                witness: None,
                lines: Vec::new(),
                files: Vec::new(),
            }),
            ..dependent()
        };
        let report = report(vec![test]);
        let found = one(&report, &sources);
        assert_eq!(found.needs_attention(), needs);
        assert_eq!(found.severity == Severity::Error, needs, "{}", found.headline);
    }
    assert!(one(&report(vec![dependent()]), &sources).needs_attention());
    assert!(!one(&report(vec![advice()]), &sources).needs_attention());
}

#[test]
fn paths_start_at_the_repository_that_the_workspace_is_in() {
    let (folder, sources) = sources();
    let file = |report: &Report| one(report, &sources).place.file;
    let report = report(vec![dependent()]);
    assert_eq!(file(&report), "src/lib.rs");
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    assert_eq!(file(&report), "shop/src/lib.rs");
}
