//! Findings that are confirmed, and reproduced, by plain builds.

use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use serde_json::Value;

use crate::TEST;
use crate::support::{self, Fixture, Nondex};

#[test]
fn ordinary_builds_confirm_what_fails_without_the_tool() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let confirm = |name: &str, runs: &str| {
        let words = ["--offline", "--lib", "--exact", name, "--runs", runs];
        Nondex::command(&app, "confirm").args(words)
    };
    let json = |nondex: Nondex, code| -> Value {
        let output = nondex.args(["--message-format", "json"]).run();
        serde_json::from_str(&output.expect(code).stdout).unwrap()
    };
    let broken = json(confirm("tests::broken_always", "8"), ExitCode::Found);
    let broken = &broken["tests"][0];
    assert_eq!((&broken["failures"], &broken["runs"]), (&8.into(), &8.into()));
    assert!(broken["message"].as_str().unwrap().contains("a failure that no order explains"));

    let stable = json(confirm("tests::stable_sorted", "8"), ExitCode::Ok);
    let stable = &stable["tests"][0];
    assert_eq!((&stable["failures"], &stable["runs"]), (&0.into(), &8.into()));
    assert_eq!(stable["interval"][0], 0.0);

    // 23 orders of 24 fail: that 30 runs pass happens less than once in 10^41.
    let flaky = confirm(TEST, "30").run();
    flaky.expect(ExitCode::Found).prints(&["runs failed:", "with 95 % confidence"]);
    let seeded = || {
        let words = ["--offline", "--lib", "--exact", TEST, "--seeds", "7..17"];
        json(Nondex::command(&app, "confirm").args(words), ExitCode::Found)
    };
    let seeded = [seeded(), seeded()];
    let [first, second] = seeded.each_ref().map(|value| &value["tests"][0]["failing_seeds"]);
    assert!(first.as_array().is_some_and(|seeds| !seeds.is_empty()), "{first}");
    assert_eq!(first, second, "a seed decides");
    let unrepeated = &seeded[0]["tests"][0]["unrepeated_seeds"];
    assert_eq!(*unrepeated, Value::Array(Vec::new()));
    confirm("tests::nothing", "1").run().expect(ExitCode::NoTests);
    assert!(!app.join("target/debug").exists(), "the user's own build is left alone");
}

/// Runs a script of a repro, and returns its exit code.
fn run_script(repro: &Value, argument: Option<&str>) -> Option<i32> {
    let script = repro["script"].as_str().expect("there is a script");
    let mut command = support::plain_command("sh", Path::new("/"));
    let output = command.arg(script).args(argument).output().unwrap();
    output.status.code()
}

#[test]
fn what_a_finding_says_is_reproduced_without_the_tool_where_that_is_possible() {
    let fixture = Fixture::new("repro");
    let root = fixture.path("");
    let report = Nondex::run_in(&root).run().expect(ExitCode::Found).report();
    assert_eq!(report.summary.id, 4, "{report:#?}");
    let words = ["--offline", "--runs", "40", "--message-format", "json", "::"];
    let output = Nondex::command(&root, "confirm").args(words).run();
    let confirmed: Value = serde_json::from_str(&output.expect(ExitCode::Found).stdout).unwrap();
    let repro = |name: &str| {
        let mut tests = confirmed["tests"].as_array().unwrap().iter();
        let test = tests.find(|test| test["id"] == format!("repro${name}").as_str());
        &test.expect(name)["repros"][0]
    };
    let unchanged = repro("capacity::made_by_default");
    assert!(unchanged["script"].is_null());
    let reason = unchanged["explanation"].as_str().unwrap();
    assert!(reason.contains("fixed hasher"), "{reason}");

    let environment = repro("elsewhere::the_environment");
    assert_eq!(run_script(environment, None), Some(101), "{environment}");
    assert_eq!(run_script(environment, Some("sorted")), Some(0));

    // The first of three is the last in a third of all runs.
    assert_eq!(run_script(repro("elsewhere::a_map"), None), Some(101));

    // It depends on the filesystems of this machine.
    let directory = repro("elsewhere::a_temporary_folder");
    if directory["script"].is_null() {
        let reason = directory["explanation"].as_str().unwrap();
        assert!(reason.contains("filesystem"), "{reason}");
    } else {
        assert_eq!(run_script(directory, None), Some(101), "{directory}");
        assert_eq!(run_script(directory, Some("other")), Some(0));
    }

    let script = environment["script"].as_str().unwrap();
    fs::write(script, "the old one").unwrap();
    let words = ["--offline", "--runs", "2", "--exact", "elsewhere::the_environment"];
    let confirm = || Nondex::command(&root, "confirm").args(words);
    confirm().arg("--no-repro").run().expect(ExitCode::Ok);
    assert_eq!(fs::read_to_string(script).unwrap(), "the old one");
    confirm()
        .run()
        .expect(ExitCode::Found)
        .prints(&["Reproduced", "5 of 5 times, without cargo nondex"]);
}
