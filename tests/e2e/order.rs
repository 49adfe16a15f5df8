//! Tests that depend on earlier tests of their process. The expected results of the fixture's tests
//! are in its `truth.json`.

mod brittle;
mod checks;
mod choices;
mod endings;
mod races;
mod requests;
mod roles;
mod unexplained;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_nondex::report::schema::SharedState;
use cargo_nondex::report::{Report, TestReport, Verdict};
use serde_json::Value;

use crate::support::{Fixture, Nondex, Output};

/// Makes a call with an empty folder for temporary files.
fn nondex(fixture: &Fixture, command: &str, args: &[&str]) -> Output {
    called(fixture, Nondex::command(&fixture.path(""), command).args(args))
}

/// Makes the same call with a JSON report.
fn reported(fixture: &Fixture, command: &str, args: &[&str]) -> Output {
    let shown = ["--offline", "--message-format", "json"];
    nondex(fixture, command, &[&shown, args].concat())
}

fn called(fixture: &Fixture, call: Nondex) -> Output {
    let folder = fixture.path("target/temporary");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    call.env("TMPDIR", folder).run()
}

/// Runs the command that reproduces a test's failure.
fn reproduced(fixture: &Fixture, test: &TestReport) -> Output {
    let command = test.reproduce.as_deref().expect("it can be reproduced");
    called(fixture, Nondex::pasted(&fixture.path(""), command))
}

/// Asserts that the report agrees with the fixture's truth for each test.
fn expect_truth(fixture: &Fixture, report: &Report) {
    let truth = fs::read_to_string(fixture.path("truth.json")).unwrap();
    let truth: BTreeMap<String, Value> = serde_json::from_str(&truth).unwrap();
    assert_eq!(report.tests.len(), truth.len());
    for test in &report.tests {
        let expected = &truth[&test.name];
        let verdict = match test.verdict {
            Verdict::Passed if report.run.seeds.is_empty() => Verdict::Stable,
            verdict => verdict,
        };
        assert_eq!(verdict.name(), expected["verdict"], "{test:#?}");
        if let Some(idempotent) = test.idempotent {
            let expected = expected["idempotent"].as_bool().unwrap_or(true);
            assert_eq!(idempotent, expected, "{test:#?}");
        }
        let order = test.order.clone().unwrap_or_default();
        expect_state(fixture, &order.state, expected, &test.name);
        for (role, names) in [
            ("polluters", order.polluters),
            ("setters", order.setters),
            ("cleaners", order.cleaners),
        ] {
            let expected: BTreeSet<&str> =
                expected[role].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            assert_eq!(names, expected, "the {role} of {}", test.name);
        }
    }
}

/// Asserts that the report names the state that the tests share. If the truth has lines, it also
/// names the lines that change and use the state.
fn expect_state(fixture: &Fixture, found: &[SharedState], truth: &Value, test: &str) {
    let Some(expected) = truth["state"].as_array() else {
        assert!(found.is_empty(), "{test}: {found:?}");
        return;
    };
    assert_eq!(found.len(), expected.len() - 1, "{test}: {found:?}");
    let is_set = |what: &str, usually: bool| truth[what].as_bool().unwrap_or(usually);
    for (found, name) in found.iter().zip(&expected[1..]) {
        assert_eq!(found.confirmed, is_set("confirmed", true), "{test}: {found:?}");
        assert_eq!(found.joint, is_set("joint", false), "{test}: {found:?}");
        let name = name.as_str().unwrap();
        let kind = expected[0].as_str().unwrap();
        let (kind, name) = match name.split_once(':') {
            Some((kind, name)) if kind == "env" => (kind, name),
            _ => (kind, name),
        };
        assert_eq!(found.kind, kind, "{test}");
        assert!(found.name.ends_with(name), "{test}: {found:?}");
        let is_without = |side: &str| truth.get(side).is_some_and(Value::is_null);
        if is_without("read") {
            assert_eq!(found.read, None, "{test}");
            let written = found.written.is_none();
            assert_eq!(written, is_without("written"), "{test}: {found:?}");
        } else {
            expect_lines(fixture, found, test);
        }
    }
}

fn expect_lines(fixture: &Fixture, found: &SharedState, test: &str) {
    let line = |file: &str, line: u32| {
        let text = fs::read_to_string(fixture.path(file)).unwrap();
        text.lines().nth(line as usize - 1).unwrap().to_owned()
    };
    let is_static = ["static", "thread_local", "lock"].contains(&found.kind.as_str());
    let symbol = if is_static { found.name.rsplit("::").next().unwrap() } else { "" };
    if is_static {
        let defined = found.defined.as_ref().expect(test);
        let text = line(&defined.file, defined.line);
        assert!(text.contains("static") && text.contains(symbol), "{test}: {text}");
    }
    // The watchpoints that observe these accesses are only available on x86_64.
    if cfg!(not(target_arch = "x86_64")) && (is_static || found.kind == "hook") {
        return;
    }
    let read = found.read.as_ref().expect(test);
    let text = line(&read.file, read.line);
    assert!(text.contains(symbol), "{test} reads: {text}");
    // This line runs when a thread ends, which is after its test.
    if symbol == "ENDED" {
        return;
    }
    let written = found.written.as_ref().expect(test);
    let text = line(&written.file, written.line);
    // A guard poisons its lock where it is dropped.
    assert!(text.contains(symbol) || found.kind == "lock", "{test}: {text}");
}
