//! The parts of a campaign that is divided among CI jobs have the same result together as one run.

use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Report;
use nondex_core::Level;

use crate::support::{Fixture, Nondex, judged, test};

const TESTS: [&str; 5] = [
    "tests::std_own_map",
    "tests::stable_sorted",
    "orders::one_fixed_hasher",
    "orders::std_read_dir",
    "orders::full_read_twice",
];

fn run(app: &Path, arguments: &[&str]) -> Report {
    let run = Nondex::run_in(app).args(["--lib", "--exact"]);
    run.args(TESTS).args(arguments).run().report()
}

/// Returns the report that `report merge` makes of these.
fn merged(app: &Path, reports: &[Report]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    for (number, report) in reports.iter().enumerate() {
        // Each artifact is downloaded to a separate folder.
        let job = folder.path().join(number.to_string());
        fs::create_dir(&job).unwrap();
        let text = serde_json::to_string(report).unwrap();
        fs::write(job.join("report.json"), text).unwrap();
    }
    let merge = Nondex::command(app, "report").args(["merge", "--message-format", "json"]);
    let output = merge.arg(folder.path()).run();
    let merged = output.expect(ExitCode::Found).report();
    let latest = Nondex::command(app, "report").args(["--message-format", "json"]);
    assert_eq!(latest.run().report(), merged, "it is the last report");
    merged
}

#[test]
fn shards_by_seeds_and_by_levels_are_together_what_one_run_is() {
    expect_the_same(&["STD,ONE", "EQ,ID,FULL"]);
}

#[test]
#[ignore = "second tier: a shard for each level"]
fn shards_by_each_level_are_together_what_one_run_is() {
    expect_the_same(&Level::ALL.map(Level::name));
}

/// Asserts that shards by seeds, and shards by these levels, have the same result together as one
/// run.
fn expect_the_same(levels: &[&str]) {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let whole = run(&app, &["--seeds", "4"]);
    assert_eq!(test(&whole, TESTS[0]).weakest_level, Some(Level::Std));
    let expected: Vec<_> = whole.tests.iter().map(judged).collect();

    let by_seeds = ["2..4", "0..2"].map(|seeds| run(&app, &["--seeds", seeds]));
    let together = merged(&app, &by_seeds);
    assert_eq!(together.run.seeds, whole.run.seeds);
    assert_eq!(together.tests.iter().map(judged).collect::<Vec<_>>(), expected);

    let line = test(&together, TESTS[0]).reproduce.as_deref().unwrap();
    Nondex::pasted(&app, line).run().expect(ExitCode::Found);

    let by_levels: Vec<Report> =
        levels.iter().map(|levels| run(&app, &["--seeds", "4", "--levels", levels])).collect();
    for report in &by_levels {
        let level = report.run.levels[0];
        for found in report.tests.iter().filter(|test| test.weakest_level.is_some()) {
            let whole = test(&whole, &found.name);
            assert_eq!(found.weakest_level, whole.weakest_level, "at {level}");
            assert_eq!(found.advice(), whole.advice(), "at {level}");
        }
    }
    let together = merged(&app, &by_levels);
    assert_eq!(together.run.levels, whole.run.levels);
    assert_eq!(together.tests.iter().map(judged).collect::<Vec<_>>(), expected);
    assert_eq!(together.summary.id, whole.summary.id);
}

#[test]
fn parts_of_the_tests_are_together_all_of_them_and_each_test_is_in_one() {
    let fixture = Fixture::shared("findings");
    let listed = |part: &str| {
        let list = Nondex::command(&fixture.path("app"), "list").arg("--offline");
        let list = match part {
            "" => list,
            part => list.args(["--partition", part]),
        };
        let output = list.run();
        output.expect(ExitCode::Ok);
        let lines: Vec<String> = output.stdout.lines().map(str::to_owned).collect();
        lines
    };
    let mut all = listed("");
    all.sort();
    for kind in ["", "hash:"] {
        let parts = (1..=3).flat_map(|part| listed(&format!("{kind}{part}/3")));
        let mut parts: Vec<String> = parts.collect();
        parts.sort();
        assert_eq!(parts, all, "{kind}");
    }
}
