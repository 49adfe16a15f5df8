//! Tests of reports as JSON.

use nondex_core::{Family, Outcome, Site};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Creates a report of these tests.
pub(crate) fn report(tests: Vec<TestReport>) -> Report {
    let run = RunInfo {
        id: "1-2".into(),
        command: "cargo nondex".into(),
        levels: Level::ALL.to_vec(),
        seeds: vec![0, u64::MAX],
        algorithm: 1,
        clean_runs: 2,
        timeout_ms: 60_000,
        ..RunInfo::default()
    };
    let models = vec!["hash_map/std::collections::HashMap::iter".into()];
    Report::new(run, tests, models)
}

/// Creates a test with this verdict and no other data.
pub(crate) fn test(verdict: Verdict) -> TestReport {
    TestReport { verdict, ..TestReport::new("pkg", "pkg", "t") }
}

fn site(api: String, family: Family, line: u32, column: u32) -> Site {
    Site { api, family, file: "src/lib.rs".into(), line, column }
}

fn level() -> impl Strategy<Value = Level> {
    select(Level::ALL.to_vec())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Failed),
        Just(Outcome::TimedOut),
        any::<i32>().prop_map(Outcome::Exited),
        any::<i32>().prop_map(Outcome::Signalled),
    ]
}

fn failure() -> impl Strategy<Value = FailureReport> {
    (option::of((level(), any::<u64>())), ".*", option::of(("[a-z/]*", any::<u32>())), outcome())
        .prop_map(|(spec, message, place, outcome)| {
            let (level, seed) = spec.unzip();
            let (file, line) = place.unzip();
            FailureReport { level, seed, message, file, line, ..FailureReport::clean(outcome) }
        })
}

fn culprit() -> impl Strategy<Value = Culprit> {
    (
        ".*",
        any::<(u32, u32, u64, bool)>(),
        any::<Option<[u64; 2]>>(),
        option::of(("[a-z/]*", any::<u32>())),
        select(Family::ALL.to_vec()),
        option::of(("[0-9.]*", any::<u64>(), any::<u64>())),
        option::of(prop_oneof![
            Just(Position::First),
            Just(Position::Last),
            any::<u64>().prop_map(Position::Nth)
        ]),
        vec((any::<u64>(), option::of(".*"), any::<Option<u32>>()), 0..2),
    )
        .prop_map(
            |(
                api,
                (line, column, len, confirmed),
                elements,
                user,
                family,
                call,
                position,
                details,
            )| {
                let (user_file, user_line) = user.clone().unzip();
                Culprit {
                    len,
                    elements,
                    confirmed,
                    user_file,
                    user_line,
                    call: call.map(|(thread, ordinal, of)| CallReport { thread, ordinal, of }),
                    element_details: details
                        .into_iter()
                        .map(|(index, name, line)| ElementReport {
                            index,
                            file: name.clone(),
                            name,
                            line,
                        })
                        .collect(),
                    position,
                    created: user.map(|(file, line)| PlaceReport { file, line, column: None }),
                    ..Culprit::new(&site(api, family, line, column))
                }
            },
        )
}

fn any_test() -> impl Strategy<Value = TestReport> {
    (
        ".*",
        select(Verdict::ALL.to_vec()),
        option::of(level()),
        vec(failure(), 0..3),
        btree_map(level(), any::<[u64; 2]>(), 0..5),
        vec(culprit(), 0..3),
        option::of(".*"),
        option::of(vec(".*", 0..2)),
        vec(level(), 0..3),
    )
        .prop_map(
            |(
                name,
                verdict,
                weakest_level,
                failures,
                failure_rate,
                culprits,
                output,
                order,
                verified,
            )| {
                TestReport {
                    name,
                    weakest_level,
                    failures,
                    failure_rate,
                    culprits,
                    difference: output.clone(),
                    output,
                    verified,
                    order: order.map(|polluters| Order { polluters, ..Order::default() }),
                    ..test(verdict)
                }
            },
        )
}

proptest! {
    #[test]
    fn every_report_is_read_back_as_it_was_written(tests in vec(any_test(), 0..4), partial: bool) {
        let report = Report { partial, ..report(tests) };
        let json = serde_json::to_string_pretty(&report).unwrap();
        prop_assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }

    #[test]
    fn the_verdicts_add_up_to_the_tests(verdicts in vec(select(Verdict::ALL.to_vec()), 0..30)) {
        let summary = Summary::new(&verdicts.iter().map(|&v| test(v)).collect::<Vec<_>>(),
            Vec::new());
        let sum = summary.stable + summary.passed + summary.id + summary.od + summary.nd +
        summary.ud + summary.network
            + summary.broken + summary.not_run;
        prop_assert_eq!(sum, summary.tests);
        prop_assert_eq!(sum, verdicts.len() as u64);
    }
}

#[test]
fn every_verdict_is_serialised_as_its_name() {
    for verdict in Verdict::ALL {
        let json = serde_json::to_string(&verdict).unwrap();
        assert_eq!(json, format!("\"{verdict}\""));
        assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
    }
}

#[test]
fn the_schema_has_the_names_that_other_tools_rely_on() {
    let mut finding = test(Verdict::ImplementationDependent);
    finding.weakest_level = Some(Level::One);
    finding.failure_rate.insert(Level::One, [3, 10]);
    finding.failures.push(FailureReport {
        id: Some("0123abcd".into()),
        level: Some(Level::One),
        seed: Some(3),
        schedule: Schedule::Random,
        message: "assertion failed".into(),
        file: Some("src/lib.rs".into()),
        line: Some(7),
        ..FailureReport::clean(Outcome::Failed)
    });
    finding.culprits.push(Culprit {
        len: 3,
        elements: Some([0, 2]),
        confirmed: true,
        call: Some(CallReport { thread: "0.1".into(), ordinal: 2, of: 12 }),
        element_details: vec![ElementReport {
            index: 0,
            name: Some("a".into()),
            file: Some("src/lib.rs".into()),
            line: Some(3),
        }],
        position: Some(Position::Nth(1)),
        created: Some(PlaceReport { file: "src/lib.rs".into(), line: 2, column: Some(5) }),
        ..Culprit::new(&site("std::collections::HashMap::iter".into(), Family::HashMap, 4, 9))
    });
    let value = serde_json::to_value(report(vec![finding])).unwrap();
    assert_eq!(value, expected_json());
}

/// Returns the expected report of one finding, with null where a key has no value.
fn expected_json() -> serde_json::Value {
    let mut expected = serde_json::json!({
        "schema": 2,
        "partial": false,
        "run": {
            "id": "1-2", "command": "cargo nondex", "levels": ["STD", "ONE", "EQ", "ID", "FULL"],
            "seeds": [0, u64::MAX], "schedule": "covering", "network": "observe", "algorithm": 1,
            "clean_runs": 2,
            "timeout_ms": 60000, "strict": false, "models_off": [], "elapsed_ms": 0,
            "max_sanitised": null,
            "build": null, "toolchain": "", "unbuilt": [], "world": null, "commit": null,
            "modified": false, "tool": ""
        },
        "summary": {
            "tests": 1, "stable": 0, "passed": 0, "id": 1, "od": 0, "nd": 0, "ud": 0, "network": 0,
            "broken": 0, "not_run": 0,
            "choice_points": 0, "runs": 0, "models_reached":
            ["hash_map/std::collections::HashMap::iter"],
            "advice": 0, "implied": 0, "run_alone": 0, "sanitised": 0, "verified": 0
        },
        "tests": [{
            "id": "pkg$t", "package": "pkg", "binary": "pkg", "name": "t", "file": null,
            "line": null,
            "verdict": "ID", "choice_points": 0, "weakest_level": "ONE",
            "failures": [{
                "id": "0123abcd", "level": "ONE", "seed": 3, "schedule": "random",
                "message": "assertion failed", "file": "src/lib.rs", "line": 7,
                "outcome": "failed"
            }],
            "failure_rate": { "ONE": [3, 10] },
            "culprits": [{
                "api": "std::collections::HashMap::iter", "file": "src/lib.rs", "line": 4,
                "column": 9,
                "kind": "permute", "len": 3, "elements": [0, 2], "confirmed": true,
                "family": "hash_map",
                "user_file": null, "user_line": null, "site": null,
                "call": { "thread": "0.1", "ordinal": 2, "of": 12 },
                "element_details": [{ "index": 0, "name": "a", "file": "src/lib.rs", "line": 3 }],
                "position": { "nth": 1 }, "number": null, "created": { "file": "src/lib.rs",
                "line": 2, "column": 5 }
            }],
            "network": [], "order": null, "reproduce": null, "notes": [], "output": null,
            "points": [],
            "runs": 0, "implied": 0, "run_alone": false, "hosts": [],
            "search_runs": 0, "difference": null, "verified": [], "sanitised_by": null,
            "plain": null, "unjudged": false, "elapsed_ms": 0,
            "replay": null, "sampled": [], "sources": [], "failure_bound": null, "latent": null
        }],
        "notes": []
    });
    expected["tests"][0]["alike"] = serde_json::json!([]);
    expected["tests"][0]["steps"] = serde_json::json!([]);
    for empty in ["overdue", "uncovered", "unchanged"] {
        expected[empty] = serde_json::json!([]);
    }
    expected["summary"]["known"] = 0.into();
    expected["tests"][0]["flaky_today"] = false.into();
    expected["tests"][0]["cancelled"] = false.into();
    for absent in [
        "change",
        "delay_level",
        "idempotent",
        "interleaving",
        "known",
        "needed_delay_ns",
        "rate_of",
        "reason",
        "scheduled",
        "schedules",
    ] {
        expected["tests"][0][absent] = serde_json::Value::Null;
    }
    expected
}

#[test]
fn a_position_is_a_word_or_an_index() {
    for (position, json) in [
        (Position::First, r#""first""#),
        (Position::Last, r#""last""#),
        (Position::Nth(2), r#"{"nth":2}"#),
    ] {
        assert_eq!(serde_json::to_string(&position).unwrap(), json);
    }
}

#[test]
fn a_test_is_verified_when_every_order_passed_at_one_level_at_least() {
    let mut verified = test(Verdict::Stable);
    verified.verified = vec![Level::Std, Level::Full];
    let summary = Summary::new(&[verified, test(Verdict::Stable)], Vec::new());
    assert_eq!(summary.verified, 1);
}

#[test]
fn fields_of_a_later_tool_are_ignored_and_those_added_since_the_first_may_be_absent() {
    let text = r#"{
        "schema": 2, "later": true,
        "run": {"id": "x", "command": "c", "levels": [], "seeds": [], "network": "observe"},
        "summary": {"tests": 0, "stable": 0, "id": 0, "od": 0, "nd": 0, "ud": 0, "network": 0,
        "broken": 0,
                    "not_run": 0, "choice_points": 0, "runs": 0, "models_reached": []},
        "tests": [{"id": "a$b", "package": "a", "binary": "a", "name": "b", "file": null,
        "line": null,
                   "verdict": "stable", "choice_points": 0, "weakest_level": null, "failures": [],
                   "failure_rate": {},
                   "culprits": [{"api": "std::fs::read_dir", "file": "src/lib.rs", "line": 1,
                   "column": 2, "kind": "permute",
                                 "len": 2, "elements": null, "confirmed": true,
                                 "family": "directory"}],
                   "network": [], "order": null, "reproduce": null}]
    }"#;
    let report: Report = serde_json::from_str(text).unwrap();
    assert_eq!(report.tests[0].verdict, Verdict::Stable);
    assert_eq!(report.tests[0].culprits[0].call, None);
    assert!(!report.partial);
}
