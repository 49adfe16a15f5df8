//! Findings that plain builds confirm.

use cargo_nondex::exit_code::ExitCode;
use serde_json::Value;

use crate::TEST;
use crate::support::{Fixture, Nondex};

#[test]
fn ordinary_builds_confirm_what_fails_without_the_tool() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let confirm = |name: &str, runs: &str| {
        let arguments = ["--offline", "--lib", "--exact", name, "--runs", runs];
        Nondex::command(&app, "confirm").args(arguments)
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

    // 23 of 24 orders fail. The probability that all 30 runs pass is below 10^-41.
    let flaky = confirm(TEST, "30").run();
    flaky.expect(ExitCode::Found).prints(&["runs failed:", "with 95 % confidence"]);
    let seeded = || {
        let arguments = ["--offline", "--lib", "--exact", TEST, "--seeds", "7..17"];
        json(Nondex::command(&app, "confirm").args(arguments), ExitCode::Found)
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
