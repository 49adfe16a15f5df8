//! The results for the examples are those that their READMEs describe.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, Verdict};
use nondex_core::channel;
use nondex_core::protocol::spec::SPEC_VARIABLE;
use nondex_core::{Level, Outcome, RunRecord, RunSpec, json};

use crate::support::{
    Fixture, Nondex, blocks, cargo, expect_block, expect_diagnostics, outline, plain_command,
    repository,
};

/// Returns the findings of a report: test, level and place.
fn findings(report: &Report) -> Vec<(&str, Option<Level>, String)> {
    let found = report.tests.iter().filter(|test| test.verdict != Verdict::Stable);
    found
        .map(|test| {
            let is_of_order = test.verdict == Verdict::ImplementationDependent;
            assert!(is_of_order || test.reason.is_some(), "{test:#?}");
            let (file, line, _) = test.culprits[0].place();
            (test.name.as_str(), test.delay_level.or(test.weakest_level), format!("{file}:{line}"))
        })
        .collect()
}

#[test]
fn quickstart_has_three_findings_and_six_stable_tests() {
    let example = Fixture::example("quickstart");
    let output = Nondex::run_in(&example.path("")).run();
    let report = output.expect(ExitCode::Found).report();
    let expected = [
        ("rotated_logs_are_read_in_order", Some(Level::Std), "src/logs.rs:11"),
        ("the_busiest_page_is_named", Some(Level::One), "src/report.rs:35"),
        ("the_first_visitor_is_named", Some(Level::Std), "src/report.rs:56"),
    ];
    assert_eq!(
        findings(&report),
        expected.map(|(name, level, place)| (name, level, place.to_owned()))
    );
    assert_eq!(report.summary.stable, 6);
    output.prints(&["leads to `HashMap::keys` at vendor/tally/src/lib.rs:"]);
    let readme = fs::read_to_string(example.path("README.md")).unwrap();
    for (name, level, place) in findings(&report) {
        let level = level.map_or("", Level::name);
        assert!(
            readme.contains(&format!("| `{name}` | ID at {level} |")),
            "{name} at {level} in {readme}"
        );
        assert!(readme.contains(&format!("`{place}`")), "{place} in {readme}");
    }
    for page in ["README.md", "docs/src/reading-a-finding.md", "examples/quickstart/README.md"] {
        expect_diagnostics(&repository().join(page), &output.stderr);
    }
    let page = repository().join("docs/src/getting-started.md");
    expect_block(&page, "     Running ", &outline(&output.stderr));
    a_run_is_the_data_that_the_book_shows(&example);
}

/// Asserts that the page "run as data" shows a real run: the input of a test process, its events,
/// and the driver's record of them.
fn a_run_is_the_data_that_the_book_shows(example: &Fixture) {
    let page = repository().join("docs/src/contributing/run-as-data.md");
    let text = fs::read_to_string(&page).unwrap();
    let spec = blocks(&text).next().expect("the specification comes first");
    let mut spec: RunSpec = json::from_str(spec).unwrap();
    let record = example.path("record");
    spec.record = Some(record.clone());

    let mut command = plain_command(executable(example, "report"), &example.path(""));
    command.args(["--exact", &spec.test]);
    command.env(SPEC_VARIABLE, json::to_string(&spec));
    let output = command.output().unwrap();
    assert!(!output.status.success(), "the test fails with this seed");
    let recorded = channel::read(&fs::File::open(record).unwrap()).unwrap().expect("a channel");
    let text = String::from_utf8(recorded.events.join(&b'\n')).unwrap() + "\n";
    expect_block(&page, "{\"event\":", &text);

    let events = RunRecord::parse_events(&recorded.events).unwrap();
    let exited = Outcome::Exited(output.status.code().unwrap());
    let record = RunRecord::fold(&spec, events, exited);
    let record = serde_json::to_string(&record).unwrap();
    expect_block(&page, "{\"protocol\":3,\"algorithm\"", &record);
}

/// Returns the test executable of a target, as the driver built it.
fn executable(example: &Fixture, target: &str) -> PathBuf {
    let mut found = Vec::new();
    for triple in fs::read_dir(example.path("target/nondex/build")).unwrap() {
        let Ok(files) = fs::read_dir(triple.unwrap().path().join("debug/deps")) else { continue };
        found.extend(files.map(|file| file.unwrap().path()).filter(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&format!("{target}-")) && !name.contains('.')
        }));
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.swap_remove(0)
}

#[test]
fn ci_has_no_findings() {
    let example = Fixture::example("ci");
    let report = Nondex::run_in(&example.path(""))
        .args(["--seeds", "10..20"])
        .run()
        .expect(ExitCode::Ok)
        .report();
    assert_eq!((report.summary.stable, report.summary.tests), (3, 3));
    assert!(report.summary.choice_points > 0);
}

#[test]
fn feature_swap_is_judged_by_the_tool_and_by_plain_cargo() {
    let example = Fixture::example("feature-swap");
    let root = example.path("");
    // Tests of the example use only the lines of the debug information.
    let lines = ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    let report = Nondex::run_in(&root)
        .args(["--mode", "swap", "--seeds", "20", "--levels", "STD"])
        .env(lines.0, lines.1)
        .run()
        .expect(ExitCode::Found)
        .report();
    let mut found = findings(&report);
    found.sort_unstable();
    // Either thread may be the delayed one. A seed chooses by code addresses in the executable.
    let lines_of = [
        ("tests::the_audit_is_called_before_the_mail", &[22][..]),
        ("tests::the_mail_is_called_at_once", &[38, 85]),
    ];
    assert_eq!(found.len(), lines_of.len(), "{found:?}");
    for ((name, level, place), (expected, lines)) in found.iter().zip(lines_of) {
        assert_eq!((*name, *level), (expected, Some(Level::Std)));
        let is_there = |line| *place == format!("src/lib.rs:{line}");
        assert!(lines.iter().any(is_there), "{found:?}");
    }
    let readme = fs::read_to_string(example.path("README.md")).unwrap();
    for part in [
        "at STD, on `HashSet::iter` at `src/lib.rs:22`",
        "started at `src/lib.rs:38`",
        "late at `src/lib.rs:85`",
    ] {
        assert!(readme.contains(part), "{readme}");
    }

    let tests = |features: &[&str]| {
        let mut command = plain_command(cargo(), &root);
        command.args(["test", "--offline", "--lib"]).args(features);
        command.env("NONDEX_SEED", "3").env("NONDEX_LEVEL", "FULL");
        example.share_build(&mut command);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Lines without what differs between runs: their order, times and thread numbers.
        text.lines()
            .filter(|line| line.starts_with("test tests::") && !line.contains("at_once"))
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    let first = tests(&["--features", "nondex"]);
    assert_eq!(first.len(), 4, "{first:?}");
    assert_eq!(first, tests(&["--features", "nondex"]));
    assert_eq!(tests(&[]).len(), 4, "without the feature");
}
