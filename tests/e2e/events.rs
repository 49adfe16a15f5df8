//! Events that go to stdout while tests run.

use std::fs;
use std::io::Read;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::store;
use serde_json::Value;

use crate::support::{Fixture, Nondex, ONE_FINDING, Output, validate};

const LINES: [&str; 2] = ["--message-format", "json-lines"];

/// Parses the events on stdout.
fn events(stdout: &str) -> Vec<Value> {
    let lines = stdout.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

/// Asserts that a value satisfies the schema of this name.
#[track_caller]
fn expect_valid(app: &Path, of: &str, value: &Value) {
    let schema = Nondex::command(app, "schema").arg(of).run();
    let schema: Value = serde_json::from_str(&schema.expect(ExitCode::Ok).stdout).unwrap();
    assert_eq!(validate(value, &schema, &schema), Ok(()), "{value:#}");
}

#[test]
fn a_program_reads_what_happens_and_each_finding_with_what_proves_and_disproves_it() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let run = Nondex::command(&app, "run").args(ONE_FINDING).args(LINES).run();
    run.expect(ExitCode::Found).prints(&["reproduce: cargo nondex"]);
    let events = events(&run.stdout);
    events.iter().for_each(|event| expect_valid(&app, "events", event));
    let names = names(&events);
    assert_eq!(names[..4], ["run-started", "build-started", "build-finished", "test-started"]);
    assert_eq!(events[0]["version"], 1);
    assert_eq!(events[2]["tests"], 1);
    let number = |name: &str| names.iter().filter(|found| **found == name).count();
    assert_eq!((number("test-started"), number("test-finished")), (1, 1));
    assert_eq!(number("finding"), 2, "when its test is judged, and at the end");

    let findings = || events.iter().filter(|event| event["event"] == "finding");
    let of = |is_final: bool| {
        let name = "findings$tests::std_own_map";
        let mut found = findings().filter(|one| one["is_final"] == is_final);
        found.find(|one| one["tests"][0] == name).unwrap()
    };
    let (early, last) = (of(false), of(true));
    assert_eq!(early["fingerprint"], last["fingerprint"]);
    assert_eq!(last["verdict"], "ID");
    let line = fixture.line("app/src/lib.rs", "own_map");
    let lines = last["lines"].as_array().unwrap();
    assert_eq!((&lines[0]["file"], &lines[0]["line"]), (&"src/lib.rs".into(), &line.into()));
    assert!(lines.len() > 1, "and where it fails: {lines:#?}");
    assert_eq!(last["proof"]["confirmed"], true);
    let disproved = last["disproved_by"].as_array().unwrap();
    let commands = disproved.iter().map(|one| one["command"].as_str().unwrap());
    // The finding holds: the commands that would disprove it do not.
    for (command, code) in commands.zip([ExitCode::Found, ExitCode::Ok]) {
        let command = command.replace("--runs 20", "--runs 2");
        Nondex::pasted(&app, &command).run().expect(code);
    }

    let last = events.last().unwrap();
    assert_eq!(names.last(), Some(&"run-finished"));
    assert_eq!((&last["exit_code"], &last["summary"]["id"]), (&100.into(), &1.into()));
    let report = last["report"].as_str().unwrap();
    let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    expect_valid(&app, "report", &report);
}

#[test]
fn nothing_is_lost_when_nobody_reads_any_more() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let args = ["--offline", "--lib", "--seeds", "1", "--levels", "STD", "std_own_map"];
    let run = Nondex::command(&app, "run").args(args).args(LINES);
    let mut child = run.spawn();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    drop(stdout);
    Output::of(child).expect(ExitCode::Found);
    let target = camino::Utf8PathBuf::from_path_buf(app.join("target")).unwrap();
    assert_eq!(store::read_latest(&target).unwrap().summary.id, 1);
}

#[test]
fn the_last_event_says_why_there_is_no_report() {
    let fixture = Fixture::new("does-not-compile");
    let run = Nondex::command(&fixture.path(""), "run").args(LINES).run();
    let events = events(&run.expect(ExitCode::BuildFailed).stdout);
    assert_eq!(names(&events), ["run-started", "build-started", "run-finished"]);
    assert_eq!(events[2]["exit_code"], 101);
    assert!(events[2]["error"].is_string(), "{:#?}", events[2]);
}
