//! Tests of the file of known flaky tests.

use camino::Utf8Path;
use nondex_core::{Family, Outcome, Site};

use super::*;
use crate::exit_code::ExitCode;
use crate::report::schema::tests::{report, test};
use crate::report::{Culprit, FailureReport, Order, Sanitised, World, exit_code};

const TODAY: &str = "2026-11-22";

fn known(entries: &str) -> Known {
    Known::parse(entries.to_owned(), KNOWN_FILE.into()).unwrap()
}

fn entry(more: &str) -> Known {
    known(&format!("[[known]]\ntest = \"pkg$t\"\nreason = \"later\"\n{more}\n"))
}

fn found(verdict: Verdict, line: u32) -> TestReport {
    let culprit = Culprit {
        confirmed: true,
        ..Culprit::new(&Site {
            api: "std::fs::read_dir".into(),
            family: Family::Directory,
            file: "src/lib.rs".into(),
            line,
            column: 1,
        })
    };
    TestReport { id: "pkg$t".into(), culprits: vec![culprit], ..test(verdict) }
}

/// Applies the entries to a report of one test whose source has these lines.
fn applied(known: &Known, test: TestReport, lines: &str) -> Report {
    applied_to(known, report(vec![test]), lines)
}

fn applied_to(known: &Known, mut report: Report, lines: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/lib.rs"), lines).unwrap();
    let is_meant = |entry: &KnownEntry, test: &TestReport| entry.name() == test.id;
    let today = TODAY.parse().unwrap();
    apply(known, &is_meant, today, &Sources::new(root, None), &mut report);
    report
}

#[test]
fn a_known_flake_does_not_fail_the_run_while_its_cause_stays_the_same() {
    let known = entry(
        "expires = 2027-01-31\nverdict = \"ID\"\n\
         cause = [\"std::fs::read_dir at src/lib.rs: let a = read();\"]",
    );
    let id = Verdict::ImplementationDependent;
    for (lines, line, is_covered) in [
        ("let a = read();\n", 1, true),
        ("// new\n\n    let a = read();\n", 3, true),
        ("let b = read();\n", 1, false),
        ("", 1, false),
    ] {
        let report = applied(&known, found(id, line), lines);
        assert_eq!(report.tests[0].known.is_some(), is_covered, "{lines}");
        let expected = [ExitCode::Found, ExitCode::Ok][usize::from(is_covered)];
        assert_eq!(exit_code(&report), expected, "{lines}");
        assert_eq!(report.summary.known, u64::from(is_covered));
        assert_eq!(report.tests[0].notes.is_empty(), is_covered);
        assert!(report.overdue.is_empty());
    }
    let other_verdict = applied(&known, found(Verdict::NonDeterministic, 1), "let a = read();\n");
    assert!(other_verdict.tests[0].known.is_none());
    let mut two = found(id, 1);
    two.culprits.extend(found(id, 2).culprits);
    let two = applied(&known, two, "let a = read();\nlet b = read();\n");
    assert!(two.tests[0].known.is_none());
}

#[test]
fn where_no_cause_is_searched_a_known_flake_is_known_by_its_test() {
    let known = entry(
        "expires = 2027-01-31\nverdict = \"ID\"\n\
         cause = [\"std::fs::read_dir at src/lib.rs: let a = read();\"]",
    );
    for (verdict, is_covered) in [
        (Verdict::Unknown, true),
        (Verdict::ImplementationDependent, true),
        (Verdict::Broken, false),
    ] {
        let mut report = report(vec![TestReport { id: "pkg$t".into(), ..test(verdict) }]);
        report.run.world = Some(World::default());
        let report = applied_to(&known, report, "");
        assert_eq!(report.tests[0].known.is_some(), is_covered, "{verdict}");
    }
}

#[test]
fn what_is_broken_is_never_covered_and_what_is_sanitised_need_not_be() {
    let any = entry("expires = 2027-01-31");
    for verdict in Verdict::ALL {
        let is_flaky =
            ![Verdict::Stable, Verdict::Passed, Verdict::Broken, Verdict::Network, Verdict::NotRun]
                .contains(&verdict);
        let report = applied(&any, found(verdict, 1), "");
        assert_eq!(report.tests[0].known.is_some(), is_flaky, "{verdict}");
    }
    let mut sanitised = found(Verdict::NonDeterministic, 1);
    sanitised.sanitised_by =
        Some(Sanitised { name: "port".into(), reason: "x".into(), operations: Vec::new() });
    assert!(applied(&any, sanitised, "").tests[0].known.is_none());
}

#[test]
fn the_cause_of_an_order_is_its_tests_and_of_chance_the_assertion() {
    let sources = Sources::new(Utf8Path::new("/nowhere"), None);
    let mut victim = found(Verdict::OrderDependentVictim, 1);
    victim.order = Some(Order { polluters: vec!["b".into(), "a".into()], ..Order::default() });
    assert_eq!(cause(&victim, &sources), ["polluter a", "polluter b"]);
    let mut chance = test(Verdict::NonDeterministic);
    let failure = FailureReport::clean(Outcome::Failed);
    chance.failures =
        vec![FailureReport { file: Some("src/lib.rs".into()), line: Some(7), ..failure.clone() }];
    assert_eq!(cause(&chance, &sources), ["panic at src/lib.rs:7"]);
    chance.failures = vec![FailureReport { message: "signal 6\nmore".into(), ..failure }];
    assert_eq!(cause(&chance, &sources), ["signal 6"]);
}

#[test]
fn a_race_is_known_whichever_of_its_lines_a_seed_delays() {
    let raced = |delayed: u32, panicked: u32| {
        let site = Site {
            api: "std::thread::spawn".into(),
            family: Family::Schedule,
            file: "src/lib.rs".into(),
            line: delayed,
            column: 0,
        };
        let failure = FailureReport::clean(Outcome::Failed);
        let file = Some("src/lib.rs".into());
        TestReport {
            culprits: vec![Culprit { confirmed: true, ..Culprit::new(&site) }],
            failures: vec![FailureReport { file, line: Some(panicked), ..failure }],
            ..found(Verdict::NonDeterministic, 1)
        }
    };
    let known = entry(
        "expires = 2027-01-31\nverdict = \"ND\"\n\
         cause = [\"std::thread::spawn at src/lib.rs: a\", \"panic at src/lib.rs: c\"]",
    );
    for (delayed, panicked, is_known) in [(1, 3, true), (2, 3, true), (1, 4, true), (2, 4, false)] {
        let report = applied(&known, raced(delayed, panicked), "a\nb\nc\nd\n");
        assert_eq!(report.tests[0].known.is_some(), is_known, "{delayed} {panicked}");
    }
    // An order is decided by its call alone.
    let mut of_order = raced(2, 3);
    of_order.culprits[0].family = Family::HashMap;
    assert!(applied(&known, of_order, "a\nb\nc\nd\n").tests[0].known.is_none());
}

#[test]
fn an_entry_is_overdue_when_its_day_is_over_or_its_test_is_stable() {
    let mut stable = found(Verdict::Stable, 1);
    stable.culprits.clear();
    stable.failure_bound = Some(0.1);
    let flaky = found(Verdict::NonDeterministic, 1);
    let unsure = TestReport { failure_bound: None, ..stable.clone() };
    for (expires, test, expected) in [
        ("2026-11-22", &flaky, None),
        ("2026-11-21", &flaky, Some(OverdueReason::Expired)),
        ("2025-12-31", &stable, Some(OverdueReason::Expired)),
        ("2026-11-22", &stable, Some(OverdueReason::Stable)),
        ("2026-11-22", &unsure, None),
    ] {
        let known = entry(&format!("expires = {expires}"));
        let mut report = applied(&known, test.clone(), "");
        let found = report.overdue.first().map(|overdue| overdue.reason);
        assert_eq!(found, expected, "{expires} {}", test.verdict);
        assert_eq!(exit_code(&report), ExitCode::Ok);
        report.run.strict = true;
        let strict = if expected.is_some() { ExitCode::Found } else { ExitCode::Ok };
        assert_eq!(exit_code(&report), strict, "{expires} {}", test.verdict);
    }
}
