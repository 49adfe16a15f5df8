//! The examples show what their READMEs say.

use std::collections::BTreeSet;
use std::fs;

use nondex_core::Level;
use nondex_harness::exit_code::ExitCode;
use nondex_harness::report::{Report, Verdict};

use crate::support::{Fixture, Nondex, cargo, expect_diagnostics, plain_command, repository};

/// The findings of a report: test, weakest level, and the place that is shown.
fn findings(report: &Report) -> Vec<(&str, Option<Level>, String)> {
    let found = report
        .tests
        .iter()
        .filter(|test| test.verdict != Verdict::Stable);
    found
        .map(|test| {
            assert_eq!(test.verdict, Verdict::ImplementationDependent, "{test:#?}");
            let (file, line, _) = test.culprits[0].place();
            (
                test.name.as_str(),
                test.weakest_level,
                format!("{file}:{line}"),
            )
        })
        .collect()
}

#[test]
fn quickstart_has_three_findings_and_six_stable_tests() {
    let example = Fixture::example("quickstart");
    let output = Nondex::run_in(&example.path("")).run();
    let report = output.expect(ExitCode::Found).report();
    let expected = [
        (
            "rotated_logs_are_read_in_order",
            Some(Level::Std),
            "src/logs.rs:11",
        ),
        (
            "the_busiest_page_is_named",
            Some(Level::One),
            "src/report.rs:35",
        ),
        (
            "the_first_visitor_is_named",
            Some(Level::Std),
            "src/report.rs:56",
        ),
    ];
    assert_eq!(
        findings(&report),
        expected.map(|(name, level, place)| (name, level, place.to_owned()))
    );
    assert_eq!(report.summary.stable, 6);
    let readme = fs::read_to_string(example.path("README.md")).unwrap();
    for (name, level, place) in findings(&report) {
        let level = level.map_or("", Level::name);
        assert!(
            readme.contains(&format!("| `{name}` | ID at {level} |")),
            "{name} at {level} in {readme}"
        );
        assert!(
            readme.contains(&format!("`{place}`")),
            "{place} in {readme}"
        );
    }
    for readme in ["README.md", "examples/quickstart/README.md"] {
        expect_diagnostics(&repository().join(readme), &output.stderr);
    }
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
    let report = Nondex::run_in(&root)
        .args(["--mode", "swap"])
        .run()
        .expect(ExitCode::Found)
        .report();
    let expected = (
        "tests::the_audit_is_called_before_the_mail",
        Some(Level::Std),
        "src/lib.rs:20".to_owned(),
    );
    assert_eq!(findings(&report), [expected]);
    let readme = fs::read_to_string(example.path("README.md")).unwrap();
    assert!(
        readme.contains("at STD, on `HashSet::iter` at `src/lib.rs:20`"),
        "{readme}"
    );

    let tests = |features: &[&str]| {
        let mut command = plain_command(cargo(), &root);
        command.args(["test", "--offline", "--lib"]).args(features);
        command.env("NONDEX_SEED", "3").env("NONDEX_LEVEL", "FULL");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Without what differs between runs: the order of the lines, times and thread numbers.
        text.lines()
            .filter(|line| line.starts_with("test tests::"))
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    let first = tests(&["--features", "nondex"]);
    assert_eq!(first.len(), 3, "{first:?}");
    assert_eq!(first, tests(&["--features", "nondex"]));
    assert_eq!(tests(&[]).len(), 3, "without the feature");
}
