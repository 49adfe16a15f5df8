//! The JUnit XML of a hand-written report.

use std::time::Duration;

use camino::Utf8Path;
use cargo_nondex::report::human::{Sources, View};
use cargo_nondex::report::junit;
use cargo_nondex::report::schema::{Blame, ChangeReport, NetworkEvent, RunInfo, Sanitised};
use cargo_nondex::report::{Culprit, FailureReport, Report, TestReport, Verdict};
use nondex_core::{Family, Level, Outcome, Site};

fn test(binary: &str, name: &str, verdict: Verdict) -> TestReport {
    TestReport {
        file: Some("src/lib.rs".to_owned()),
        line: Some(12),
        verdict,
        ..TestReport::new("shop", binary, name)
    }
}

fn dependent(name: &str, level: Level) -> TestReport {
    let site = Site {
        api: "std::collections::HashMap::keys".to_owned(),
        family: Family::HashMap,
        file: "src/lib.rs".to_owned(),
        line: 2,
        column: 9,
    };
    TestReport {
        weakest_level: Some(level),
        failures: vec![FailureReport {
            id: Some("0123abcd".to_owned()),
            level: Some(level),
            seed: Some(3),
            message: "left & right differ: \u{1b}[31m<a>\u{1b}[0m".to_owned(),
            file: Some("src/lib.rs".to_owned()),
            line: Some(20),
            ..FailureReport::clean(Outcome::Failed)
        }],
        failure_rate: [(level, [3, 10])].into(),
        culprits: vec![Culprit { len: 2, confirmed: true, ..Culprit::new(&site) }],
        output: Some("it said \u{0}<this>\n".to_owned()),
        reproduce: Some("cargo nondex replay 0123abcd".to_owned()),
        ..test("shop", name, Verdict::ImplementationDependent)
    }
}

fn report() -> Report {
    let connect = NetworkEvent {
        operation: "connect".to_owned(),
        address: "192.0.2.1:80".to_owned(),
        error: "ENETUNREACH".to_owned(),
        file: Some("tests/web.rs".to_owned()),
        line: Some(3),
        ..NetworkEvent::default()
    };
    let offline = TestReport {
        network: vec![connect.clone()],
        sanitised_by: Some(Sanitised {
            name: "network".to_owned(),
            reason: "there is no network".to_owned(),
            operations: vec![connect.clone()],
        }),
        ..test("shop::web", "offline", Verdict::Network)
    };
    let broken = TestReport {
        failures: vec![FailureReport {
            level: None,
            seed: None,
            message: "no".to_owned(),
            ..dependent("", Level::Std).failures.remove(0)
        }],
        ..test("shop::web", "broken", Verdict::Broken)
    };
    let tests = vec![
        test("shop", "stable", Verdict::Stable),
        dependent("names", Level::One),
        dependent("advice", Level::Full),
        offline,
        broken,
        test("shop::web", "ignored", Verdict::NotRun),
    ];
    let run = RunInfo { elapsed_ms: 1234, ..RunInfo::default() };
    Report::new(run, tests, Vec::new())
}

fn shown(report: &Report) -> String {
    let view = View {
        sources: &Sources::new(Utf8Path::new("/nonexistent"), None),
        report: None,
        elapsed: Duration::ZERO,
        brief: false,
        verbose: 0,
        quiet: false,
    };
    junit::render(report, &view).unwrap()
}

#[test]
fn findings_fail_advice_passes_and_what_was_sanitised_or_not_run_is_skipped() {
    insta::assert_snapshot!(shown(&report()));
}

#[test]
fn what_is_written_is_read_again_with_the_same_counts() {
    let mut strict = report();
    strict.run.strict = true;
    for (report, failures) in [(report(), 2), (strict, 3)] {
        let read = quick_junit::Report::deserialize_from_str(&shown(&report)).unwrap();
        assert_eq!((read.tests, read.failures), (6, failures));
        assert_eq!((read.skipped, read.errors), (2, 0));
        let suites: Vec<(&str, usize)> =
            read.test_suites.iter().map(|s| (s.name.as_str(), s.tests)).collect();
        assert_eq!(suites, [("shop", 3), ("shop::web", 3)]);
    }
}

#[test]
fn what_the_change_did_not_cause_is_skipped_unless_the_run_is_strict() {
    for (strict, skipped) in [(false, 1), (true, 0)] {
        let test = TestReport {
            change: Some(ChangeReport {
                verdict: Blame::Flaky,
                witness: None,
                lines: Vec::new(),
                files: Vec::new(),
            }),
            ..dependent("names", Level::Std)
        };
        let mut report = Report::new(RunInfo::default(), vec![test], Vec::new());
        report.run.strict = strict;
        let read = quick_junit::Report::deserialize_from_str(&shown(&report)).unwrap();
        let counts = (read.failures, read.skipped);
        assert_eq!(counts, (1 - skipped, skipped), "strict: {strict}");
    }
}
