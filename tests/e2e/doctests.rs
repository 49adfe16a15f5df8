//! Doctests are listed, filtered, judged, attributed, sanitised and replayed like other tests.

use std::collections::BTreeMap;
use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, Verdict};
use nondex_core::Level;

use crate::support::{Fixture, Nondex, cargo, plain_command, test};

const OLDER: &str = "older/src/lib.rs";
const NEWER: &str = "newer/src/lib.rs";

fn listed(project: &Fixture, args: &[&str]) -> Vec<String> {
    let list = Nondex::command(&project.path(""), "list").args(["--offline", "--quiet"]);
    let output = list.args(args).run();
    let lines = output.expect(ExitCode::Ok).stdout.lines();
    lines.map(str::to_owned).collect()
}

#[test]
fn doctests_are_listed_and_selected_as_tests_are() {
    let project = Fixture::new("doctests");
    let newer = [
        "newer::doc/newer$newer/src/lib.rs - Words::fails (line 19)",
        "newer::doc/newer$newer/src/lib.rs - Words::ordered (line 13)",
        "newer::doc/newer$newer/src/lib.rs - three (line 3)",
    ];
    let ignored = "older::doc/older$older/src/lib.rs - compiled (line 43)";
    let older = |line: &str| format!("older::doc/older$older/src/lib.rs - {line})");
    let mut all: Vec<String> = newer.iter().map(|&id| id.to_owned()).collect();
    all.push("older$unit".to_owned());
    all.push(older("(line 3"));
    all.push(format!("{ignored} (ignored)"));
    all.extend(
        [
            "fails (line 20",
            "fails (line 24",
            "fails (line 28",
            "online (line 48",
            "races (line 64",
            "returns (line 53",
            "returns (line 59",
            "two (line 8",
        ]
        .map(older),
    );
    assert_eq!(listed(&project, &[]), all);
    let json = listed(&project, &["--message-format", "json"]).concat();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["test_count"], all.len(), "as nextest counts, with ignored ones");
    assert_eq!(listed(&project, &["--doc", "-p", "newer"]), newer);
    assert_eq!(listed(&project, &["--lib"]), ["older$unit"]);
    assert_eq!(listed(&project, &["--ignored"]), [ignored]);
    assert_eq!(
        listed(&project, &["-E", "kind(doc) & test(Words)", "--skip", "ordered"]),
        newer[..1]
    );
    assert_eq!(
        listed(&project, &["-E", "binary_id(newer::doc/newer)", "--doc", "three"]),
        newer[2..]
    );
    assert_eq!(
        listed(&project, &["--exact", "newer/src/lib.rs - Words::ordered (line 13)"]),
        newer[1..2]
    );
    let both = Nondex::command(&project.path(""), "list").args(["--doc", "--lib"]);
    both.run().expect(ExitCode::Usage).prints(&["cannot be used with"]);
}

/// Returns whether each doctest passed that plain `cargo test` ran, by its printed name.
fn plain_outcomes(project: &Fixture) -> BTreeMap<String, bool> {
    let mut plain = plain_command(cargo(), &project.path(""));
    plain.args(["test", "--doc", "--offline", "--no-fail-fast"]);
    // Doctests that need another machine are skipped.
    let output = plain.args(["--", "--skip", "online"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let results = text.lines().filter_map(|line| {
        let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let is_run = !name.contains(" - compile") && !end.starts_with("ignored");
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        is_run.then(|| (name.to_owned(), end == "ok"))
    });
    results.collect()
}

#[test]
fn doctests_are_judged_as_tests_are() {
    let project = Fixture::new("doctests");
    let junit = project.path("junit.xml");
    let run = Nondex::run_in(&project.path("")).args(["--seeds", "6", "--network", "block"]);
    let output = run.arg("--junit").arg(&junit).run();
    let report = output.expect(ExitCode::Found).report();

    for (name, file, api) in [
        ("older/src/lib.rs - two (line 8)", OLDER, "std::collections::HashMap::keys"),
        ("newer/src/lib.rs - Words::ordered (line 13)", NEWER, "std::collections::HashSet::iter"),
    ] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{name}");
        assert_eq!(found.weakest_level, Some(Level::Std));
        let culprit = &found.culprits[0];
        assert_eq!(culprit.api, api);
        assert!(culprit.confirmed);
        let place = (culprit.file.as_str(), culprit.line);
        assert_eq!(place, (file, project.line(file, "order")));
        // The column is that of the call.
        let text = fs::read_to_string(project.path(file)).unwrap();
        let line = text.lines().nth(culprit.line as usize - 1).unwrap();
        let method = api.rsplit("::").next().unwrap();
        assert!(line[culprit.column as usize - 1..].starts_with(method), "{culprit:?}");
    }
    let ordered = test(&report, "older/src/lib.rs - two (line 8)");
    let failure = &ordered.failures[0];
    let place = failure.file.as_deref().zip(failure.line);
    assert_eq!(place, Some((OLDER, project.line(OLDER, "fails"))));
    let created = ordered.culprits[0].created.as_ref().unwrap();
    let place = (created.file.as_str(), created.line);
    assert_eq!(place, (OLDER, project.line(OLDER, "created")));

    let message = |name: &str| {
        let broken = test(&report, name);
        assert_eq!(broken.verdict, Verdict::Broken, "{name}");
        broken.failures[0].message.as_str()
    };
    assert_eq!(message("older/src/lib.rs - fails (line 28)"), "test did not panic as expected");
    assert_eq!(message("older/src/lib.rs - returns (line 53)"), "Error: \"out of luck\"");
    assert!(message("older/src/lib.rs - returns (line 59)").starts_with("assertion"));
    let broken = &test(&report, "older/src/lib.rs - returns (line 59)").failures[0];
    assert_eq!(broken.line, Some(project.line(OLDER, "broken")));

    let races = test(&report, "older/src/lib.rs - races (line 64)");
    assert_eq!(races.verdict, Verdict::NonDeterministic, "{races:#?}");
    let steps = &races.interleaving.as_ref().unwrap().steps;
    for mark in ["seen", "lost"] {
        let line = Some(project.line(OLDER, mark));
        let is_shown = |file: &Option<String>| file.as_deref() == Some(OLDER);
        assert!(steps.iter().any(|step| is_shown(&step.file) && step.line == line), "{steps:#?}");
    }

    let online = test(&report, "older/src/lib.rs - online (line 48)");
    assert_eq!(online.verdict, Verdict::Network);
    assert_eq!(online.hosts, ["192.0.2.1"]);
    let ignored = test(&report, "older/src/lib.rs - compiled (line 43)");
    assert_eq!(ignored.verdict, Verdict::NotRun);
    expect_as_plain_build(&report, &project);

    let junit = fs::read_to_string(junit).unwrap();
    assert!(junit.contains("newer/src/lib.rs - three (line 3)"), "{junit}");
    // The replayed program is compiled for one doctest, but behaves as the one that was compiled
    // for all.
    let replay = Nondex::command(&project.path(""), "replay").arg("Words::ordered");
    let output = replay.run();
    output.expect(ExitCode::Found).prints(&["again as recorded"]);
    assert!(!output.stderr.contains("warning"), "{}", output.stderr);
    // Doctest executables are large, and every run compiles them anew.
    let folder = project.path("target/nondex/build/doctests");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

/// Asserts that the same doctests ran as with plain `cargo test`, and that the broken ones are
/// those that fail there. Doctests that depend on an order, on threads or on the network are not
/// compared.
fn expect_as_plain_build(report: &Report, project: &Fixture) {
    let tests = report.tests.iter().filter(|test| {
        let is_open = matches!(
            test.verdict,
            Verdict::ImplementationDependent
                | Verdict::NonDeterministic
                | Verdict::Network
                | Verdict::NotRun
        );
        test.binary.contains("::doc/") && !is_open
    });
    let judged: BTreeMap<String, bool> =
        tests.map(|test| (test.name.clone(), test.verdict != Verdict::Broken)).collect();
    let mut plain = plain_outcomes(project);
    for open in [
        "older/src/lib.rs - two (line 8)",
        "older/src/lib.rs - races (line 64)",
        "newer/src/lib.rs - Words::ordered (line 13)",
    ] {
        assert!(plain.remove(open).is_some(), "{open}: {plain:?}");
    }
    assert_eq!(judged, plain);
}

#[test]
fn a_finding_in_a_doctest_is_replayed_explained_and_confirmed() {
    let project = Fixture::new("doctests");
    let run = Nondex::run_in(&project.path("")).args(["--seeds", "3", "--doc", "ordered"]);
    let report = run.run().expect(ExitCode::Found).report();
    let [found] = &report.tests[..] else {
        panic!("{report:#?}");
    };
    assert_eq!(found.verdict, Verdict::ImplementationDependent);

    let replay = Nondex::command(&project.path(""), "replay").args(["latest", "--trace"]);
    let line = project.line(NEWER, "order");
    let output = replay.run();
    output.expect(ExitCode::Found).prints(&[
        &format!("again as recorded, at newer/src/lib.rs:{line}:"),
        "std::collections::HashSet::iter at ./newer/src/lib.rs:",
        "panicked at",
    ]);
    assert!(!output.stderr.contains("warning"), "{}", output.stderr);

    let explain = Nondex::command(&project.path(""), "explain").arg("latest");
    let output = explain.run();
    output.expect(ExitCode::Found).prints(&[&format!("newer/src/lib.rs:{line}:")]);

    let confirm = Nondex::command(&project.path(""), "confirm").args(["--offline", "--doc"]);
    let output = confirm.args(["--runs", "20", "ordered"]).run();
    output.expect(ExitCode::Found).prints(&["Flaky", "of 20 runs failed"]);
}

#[test]
fn a_doctest_that_does_not_compile_fails_the_run_but_does_not_end_it() {
    let project = Fixture::new("doctests");
    let wrong = ["-p", "newer", "--features", "wrong", "--seeds", "0"];
    let output = Nondex::run_in(&project.path("")).args(wrong).run();
    let report = output.expect(ExitCode::BuildFailed).report();
    assert_eq!(report.summary.passed, 3, "{report:#?}");
    let [unbuilt] = &report.run.unbuilt[..] else {
        panic!("{:?}", report.run);
    };
    assert!(unbuilt.starts_with("newer::doc/newer$newer/src/lib.rs - wrong"), "{unbuilt}");
    output.prints(&[&format!("`{unbuilt}` does not build"), "mismatched types"]);
    assert!(report.notes.iter().any(|note| note.contains(unbuilt)));

    let only = Nondex::command(&project.path(""), "list");
    let output = only.args(["--offline", "--doc", "wrong"]).args(&wrong[..4]).run();
    output.expect(ExitCode::BuildFailed).prints(&["doctests do not build"]);
}

#[test]
fn the_report_says_that_doctests_are_not_tried_in_other_orders_and_not_that_they_do_not_run() {
    let project = Fixture::new("doctests");
    let check = Nondex::command(&project.path(""), "check");
    let output =
        check.args(["--offline", "-p", "newer", "--seeds", "0", "--message-format", "json"]).run();
    output.prints(&["the tests of `newer::doc/newer` were not tried in other orders"]);
    let report = output.report();
    assert_eq!((report.summary.passed, report.summary.not_run), (3, 0));
    assert!(!report.notes.iter().any(|note| note.contains("not run")));
}

#[test]
fn a_package_that_rustdoc_cannot_read_does_not_end_the_run() {
    let project = Fixture::new("doctests");
    let run = Nondex::run_in(&project.path("")).args(["--seeds", "0", "--features"]);
    let output = run.args(["newer/unreadable", "-E", "package(newer) + test(unit)"]).run();
    let report = output.expect(ExitCode::BuildFailed).report();
    assert_eq!(report.summary.passed, 1, "{report:#?}");
    assert_eq!(report.run.unbuilt, ["newer::doc/newer"]);
    output.prints(&["`newer::doc/newer` does not build", "rustdoc comes no further"]);
}
