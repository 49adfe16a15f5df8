//! `--changed` runs only the tests that a change can affect. All other tests have the same outcome
//! as before.

mod edited;
mod orders;

use std::collections::BTreeSet;
use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::schema::{Blame, Witness};
use cargo_nondex::report::{Report, Verdict};

use self::edited::Edited;
use crate::support::{self, Fixture, Nondex, commit, committed, git_at_noon};

const LIB: &str = r#"
use std::collections::HashSet;

pub const LIMIT: u32 = 10;

pub trait Area {
    fn side(&self) -> u32;
    fn area(&self) -> u32 {
        self.side() * self.side()
    }
}

pub struct Square(pub u32);

impl Area for Square {
    fn side(&self) -> u32 {
        self.0
    }
}

pub fn add(a: u32, b: u32) -> u32 {
    a + b
}

pub fn seldom() -> u32 {
    7
}

pub fn text() -> String {
    std::fs::read_to_string("data.txt").unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn has_an_area() {
        assert_eq!(Square(3).area(), 9);
    }

    #[test]
    fn is_in_another_order() {
        let set: HashSet<u8> = (0..6).collect();
        let first = set.iter().next() == Some(&0);
        assert_eq!(if first { 7 } else { seldom() }, 7);
    }

    #[test]
    fn reads() {
        assert!(text().starts_with('1'));
    }
}
"#;

const ALL: [&str; 4] = ["adds", "has_an_area", "is_in_another_order", "reads"];

/// Returns a repository with two commits.
fn repository() -> Fixture {
    let project = committed(&[("src/lib.rs", LIB), ("data.txt", "1\n"), ("README.md", "One.\n")]);
    git_at_noon(&project, &["commit", "--quiet", "--allow-empty", "--message", "y"]);
    project
}

fn command(project: &Fixture, name: &str) -> Nondex {
    let arguments = ["--levels", "STD", "--seeds", "4", "--tests"];
    let command = Nondex::reported(&project.path(""), name).args(arguments);
    // Incremental builds, as users have them after a change.
    command.env("CARGO_INCREMENTAL", "1")
}

/// Returns the tests that ran.
fn ran(report: &Report) -> BTreeSet<&str> {
    let names = report.tests.iter().map(|test| test.name.as_str());
    names.map(|name| name.rsplit("::").next().unwrap()).collect()
}

/// File, text in it, replacement, and the tests that run again after it.
type Edit<'a> = (&'a str, &'a str, &'a str, &'a [&'a str]);

/// Makes each edit in turn. Asserts which tests run again, and that all others keep their outcome.
fn expect_to_run(project: &Fixture, edits: &[Edit<'_>]) {
    for (file, old, new, expected) in edits {
        let edited = Edited::new(project, file, (old, new));
        let report = command(project, "run").arg("--changed=HEAD").run().report();
        assert_eq!(ran(&report), expected.iter().copied().collect(), "{new}");
        let left_out: BTreeSet<&String> = report.unchanged.iter().collect();
        assert!(left_out.len() >= 4 - expected.len(), "{left_out:?}");
        // If nothing was left out, there is nothing to compare.
        if !left_out.is_empty() {
            let whole = command(project, "run").run().report();
            for test in whole.tests {
                assert!(
                    !left_out.contains(&test.id) || test.verdict == Verdict::Stable,
                    "{new}: {} is {}",
                    test.id,
                    test.verdict
                );
            }
        }
        edited.undo();
    }
}

#[test]
#[ignore = "second tier: more edits that affect the whole crate"]
fn what_affects_the_whole_crate_runs_all_tests_again_and_the_head_of_a_test_only_that() {
    let project = repository();
    command(&project, "run").arg("--changed=HEAD").run();
    let edits: &[Edit<'_>] = &[
        (
            "src/lib.rs",
            "        self.0\n    }\n}",
            "        self.0\n    }\n    fn area(&self) -> u32 {\n        4\n    }\n}",
            &ALL,
        ),
        (
            "src/lib.rs",
            "pub fn add(",
            "impl Square {\n    pub fn area(&self) -> u32 {\n        4\n    }\n}\n\npub fn add(",
            &ALL,
        ),
        (
            "src/lib.rs",
            "pub fn add(",
            "impl Drop for Square {\n    fn drop(&mut self) {\n        panic!();\n    }\n}\n\n\
             pub fn add(",
            &ALL,
        ),
        (
            "src/lib.rs",
            "    #[test]\n    fn adds()",
            "    #[test]\n    #[should_panic]\n    fn adds()",
            &["adds"],
        ),
        ("data.txt", "1", "2", &ALL),
        ("Cargo.toml", "2024\"\n", "2024\"\n\n[profile.test]\noverflow-checks = false\n", &ALL),
    ];
    expect_to_run(&project, edits);
}

#[test]
fn only_tests_that_may_have_another_outcome_run_again_and_all_others_keep_theirs() {
    let project = repository();
    let changed = || command(&project, "run").arg("--changed=HEAD");
    // There is no history yet.
    let first = changed().run().expect(ExitCode::Ok).report();
    assert_eq!(ran(&first), BTreeSet::from(ALL));
    let again = changed().run().expect(ExitCode::Ok).report();
    assert_eq!((again.tests.len(), again.unchanged.len()), (0, 4));
    // Without a value, the base is the parent of the head if the working tree has no changes.
    let bare = command(&project, "run").arg("--changed").run().expect(ExitCode::Ok).report();
    assert_eq!(bare.tests.len(), 0);

    let edits: &[Edit<'_>] = &[
        ("src/lib.rs", "    a + b\n", "    b + a\n", &["adds"]),
        ("src/lib.rs", "    a + b\n", "    // The sum.\n    a + b\n", &[]),
        ("README.md", "One.", "Two.", &[]),
        // An existing test does not depend on a new one, nor on code that only the new one uses.
        (
            "src/lib.rs",
            "    #[test]\n    fn adds()",
            "    fn helper() {}\n\n    #[test]\n    fn is_new() {\n        helper();\n    }\n\n    \
             #[test]\n    fn adds()",
            &["is_new"],
        ),
        // This function runs only if the set has another order.
        ("src/lib.rs", "    7\n", "    8\n", &["is_in_another_order"]),
        (
            "src/lib.rs",
            "        assert_eq!(add(1, 2), 3);",
            "        assert_eq!(add(2, 1), 3);",
            &["adds"],
        ),
        // This change affects the whole crate.
        ("src/lib.rs", "LIMIT: u32 = 10", "LIMIT: u32 = 11", &ALL),
    ];
    expect_to_run(&project, edits);

    // The history refers to contents. So it holds after the commit was amended, and after the next
    // commit, which includes it.
    git_at_noon(&project, &["commit", "--quiet", "--amend", "--allow-empty", "--message", "z"]);
    assert_eq!(changed().run().expect(ExitCode::Ok).report().tests.len(), 0);
    // Other options need other runs.
    let more = changed().args(["--clean-runs", "3"]).run().expect(ExitCode::Ok).report();
    assert_eq!(more.tests.len(), 4);
    // A failing test is not left out.
    fs::write(project.path("data.txt"), "2\n").unwrap();
    commit(&project);
    changed().run().expect(ExitCode::CleanRunFailed);
    let still = changed().run().expect(ExitCode::CleanRunFailed).report();
    assert_eq!(ran(&still), BTreeSet::from(["reads"]));
    for (bad, words) in
        [("--changed=nowhere", "`nowhere` names no commit"), ("--changed=", "`` names no commit")]
    {
        let output = command(&project, "run").arg(bad).run();
        output.expect(ExitCode::Usage);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
}

#[test]
fn what_a_test_opens_runs_it_again_though_nothing_that_it_ran_is_different() {
    const LIB: &str = "pub mod other;\n\
        fn sizes(folder: &str) -> Vec<usize> {\n    \
            let entries = std::fs::read_dir(folder).unwrap();\n    \
            entries.map(|entry| std::fs::read(entry.unwrap().path()).unwrap().len()).collect()\n}\n\
        #[test]\nfn reads_sources() {\n    assert!(sizes(\"src\").len() > 0);\n}\n\
        #[test]\nfn reads_pages() {\n    assert!(sizes(\"pages\").len() > 0);\n}\n\
        #[test]\nfn reads_nothing() {}\n";
    let project = committed(&[
        ("src/lib.rs", LIB),
        ("src/other.rs", "pub fn other() -> u8 {\n    1\n}\n"),
        ("pages/one.md", "1\n"),
    ]);
    // With several tests at a time, the driver could not tell which one opened a file.
    let changed = || command(&project, "run").args(["--changed=HEAD", "-j", "1"]);
    assert_eq!(changed().run().expect(ExitCode::Ok).report().tests.len(), 3);
    for (file, expected) in [("src/other.rs", "reads_sources"), ("pages/one.md", "reads_pages")] {
        let edited = Edited::new(&project, file, ("1", "2"));
        let report = changed().run().expect(ExitCode::Ok).report();
        assert_eq!(ran(&report), BTreeSet::from([expected]), "{file}");
        edited.undo();
    }
    fs::write(project.path("pages/two.md"), "2\n").unwrap();
    let report = changed().run().expect(ExitCode::Ok).report();
    assert_eq!(ran(&report), BTreeSet::from(["reads_pages"]));
    for page in ["pages/one.md", "pages/two.md"] {
        fs::remove_file(project.path(page)).unwrap();
    }
    let report = changed().run().report();
    assert_eq!(ran(&report), BTreeSet::from(["reads_pages"]));
    let failing = command(&project, "deflake").args(["--delayed", "-E", "test(reads_pages)"]);
    let report = failing.run().expect(ExitCode::CleanRunFailed).report();
    let change = report.tests[0].change.as_ref().unwrap();
    assert_eq!(change.files, ["pages/one.md"]);
    assert_eq!(change.verdict, Blame::Regression);
}

#[test]
fn what_became_of_a_test_is_shown_and_tells_deflake_how_it_was() {
    let project = repository();
    let keep = project.path("target/kept");
    let kept = |name: &str| command(&project, name).args(["--history-dir", keep.to_str().unwrap()]);
    let report = kept("run").run().expect(ExitCode::Ok).report();
    let head = git_at_noon(&project, &["rev-parse", "HEAD"]);
    assert_eq!((report.run.commit, report.run.modified), (Some(head), false));
    assert_eq!(report.run.tool, env!("CARGO_PKG_VERSION"));
    edit(&project, "    a + b\n", "    a + b + 1\n");
    let report = kept("deflake").run().expect(ExitCode::CleanRunFailed).report();
    assert!(report.run.modified);
    let change = report.tests.iter().find_map(|test| test.change.as_ref()).unwrap();
    assert_eq!(change.verdict, Blame::Regression);
    edit(&project, "    a + b + 1\n", "    a + b\n");
    edit(
        &project,
        "assert_eq!(Square(3)",
        "assert_eq!(Square(std::env::var(\"SIDE\").map_or(3, |side| side.parse().unwrap()))",
    );
    commit(&project);
    kept("run").run().expect(ExitCode::Ok);
    edit(&project, "    a + b\n", "    a + b + 1 - 1\n");
    // The test does not run without the change, because the history has that outcome.
    fs::remove_dir_all(project.path("target/nondex/deflake")).unwrap();
    let flaky = || kept("deflake").args(["--delayed", "-E", "test(has_an_area)"]).env("SIDE", "4");
    let report = flaky().run().expect(ExitCode::Ok).report();
    let of = |report: &Report| {
        let change = report.tests.iter().find_map(|test| test.change.clone()).unwrap();
        (change.verdict, change.witness)
    };
    assert_eq!(of(&report), (Blame::Flaky, Some(Witness::Coverage)));
    assert!(!project.path("target/nondex/deflake").exists());
    // The test ran the change, but it also fails without it. It passed there before, as the history
    // shows.
    edit(&project, "self.side() * self.side()", "self.side() * self.side() * 1");
    let report = flaky().run().expect(ExitCode::Ok).report();
    assert_eq!(of(&report), (Blame::Flaky, Some(Witness::History)));

    let show = |arguments: &[&str]| {
        let usual = ["--history-dir", keep.to_str().unwrap(), "--history"];
        Nondex::command(&project.path(""), "report").args(usual).args(arguments).run()
    };
    let all = show(&[]);
    all.expect(ExitCode::Ok);
    // The last runs did not select this test.
    let adds = all.stderr.lines().find(|line| line.ends_with("  project$tests::adds"));
    assert!(adds.is_some_and(|line| line.starts_with(".x.  ")), "{}", all.stderr);
    assert!(
        all.stderr.contains("..xx  project$tests::has_an_area\n")
            || all.stderr.contains("...xx  project$tests::has_an_area\n"),
        "{}",
        all.stderr
    );
    let one = show(&["reads", "--message-format", "json"]);
    let lives: serde_json::Value = serde_json::from_str(&one.stdout).unwrap();
    assert_eq!(lives[0]["runs"][0]["verdict"], "stable");
    let unknown = show(&["nothing"]);
    unknown.expect(ExitCode::Usage);
    assert!(unknown.stderr.contains("no test `nothing` in the history"), "{}", unknown.stderr);
    let nowhere = Nondex::command(&project.path(""), "report").arg("--history").run();
    nowhere.expect(ExitCode::Usage);
    assert!(nowhere.stderr.contains("there is no history in"), "{}", nowhere.stderr);
}

fn edit(project: &Fixture, old: &str, new: &str) {
    support::edit(project, "src/lib.rs", &[(old, new)]);
}
