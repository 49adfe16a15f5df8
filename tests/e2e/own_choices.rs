//! Choices that a project's own code leaves open, in both modes and without the tool.

use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, Verdict};
use nondex_core::Level;

use crate::support::{Fixture, Nondex, Output, cargo, plain_command, test};

/// Tests that rely on a choice: API, mark of the line, and level.
const FOUND: [(&str, &str, &str, Level); 3] = [
    ("the_first_replica_answers", "nondex_collections::choose", "choose", Level::One),
    ("two_requests_have_one_replica", "nondex_collections::choose", "choose", Level::Full),
    ("rows_come_as_they_were_inserted", "nondex_collections::permute", "permute", Level::One),
];

fn expect_found(report: &Report, fixture: &Fixture) {
    for (name, api, mark, level) in FOUND {
        let found = test(report, &format!("tests::{name}"));
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{name}");
        assert_eq!(found.weakest_level, Some(level), "{name}");
        assert_eq!(found.advice(), None, "{name}");
        let [culprit] = found.culprits.as_slice() else {
            panic!("{name}: {:#?}", found.culprits);
        };
        let line = fixture.line("src/lib.rs", mark);
        assert!(culprit.confirmed);
        assert_eq!(
            (culprit.api.as_str(), culprit.file.as_str(), culprit.line),
            (api, "src/lib.rs", line)
        );
    }
    assert_eq!(report.summary.stable, 2);
}

/// Runs the project in `folder`. The mirror is compiled for each mode, so it has only the debug
/// information that the test uses: lines.
fn run(folder: &Path, more: &[&str]) -> Output {
    Nondex::run_in(folder)
        .args(["--lib", "--seeds", "4"])
        .args(more)
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .run()
}

#[test]
fn own_choices_follow_the_seed_in_both_modes_and_are_canonical_without() {
    let fixture = Fixture::linked("tests/fixtures/own-choices");
    let folder = fixture.path("");
    let output = run(&folder, &[]);
    output.expect(ExitCode::Found).prints(&[
        "relies on the order of `nondex_collections::permute`",
        "on the value of `nondex_collections::choose`",
    ]);
    let report = output.report();
    expect_found(&report, &fixture);
    let excluded = test(&report, "tests::rows_are_drawn_in_order");
    assert_eq!(excluded.verdict, Verdict::NotRun);
    let found = test(&report, "tests::rows_come_as_they_were_inserted");
    let reproduce = found.reproduce.as_deref().expect("it can be reproduced");
    Nondex::pasted(&folder, reproduce)
        .run()
        .expect(ExitCode::Found)
        .prints(&["Failed again as recorded"]);

    let swapped = run(&folder, &["--mode", "swap"]);
    expect_found(&swapped.expect(ExitCode::Found).report(), &fixture);

    // Without the models, without the calls, and without the tool.
    for [option, value] in [["--skip-models", "^own_"], ["--skip-files", "src/lib.rs"]] {
        let report = run(&folder, &[option, value]).expect(ExitCode::Ok).report();
        assert_eq!(report.summary.choice_points, 0, "{option}");
    }
    let plain =
        plain_command(cargo(), &folder).args(["test", "--offline", "--lib"]).output().unwrap();
    let text = String::from_utf8_lossy(&plain.stdout);
    assert!(plain.status.success(), "{text}");
}

#[test]
#[ignore = "second tier: builds the mirror twice"]
fn the_own_feature_of_a_project_changes_nothing_because_std_has_the_shims_already() {
    let fixture = Fixture::linked("tests/fixtures/own-choices");
    let both = ["--features", "nondex-collections/nondex"];
    let output = run(&fixture.path(""), &both);
    expect_found(&output.expect(ExitCode::Found).report(), &fixture);
}
