//! `deflake` reports which failures a change did not cause.

mod repository;

use std::collections::BTreeMap;
use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Report;
use cargo_nondex::report::schema::{Blame, Witness};

use crate::support::{Fixture, Nondex, commit, committed, edit, git_at_noon, test};

const LIB: &str = r#"
pub const LIMIT: u32 = 10;

pub fn add(a: u32, b: u32) -> u32 {
    if a > 100 {
        return 0;
    }
    a + b
}

pub fn twice<T: Into<u64>>(x: T) -> u64 {
    let y = x.into();
    y * 2
}

pub fn sorted() -> Vec<std::ffi::OsString> {
    let mut names = names();
    names.sort();
    names
}

pub fn names() -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn is_stable() {
        assert_eq!(1 + 1, 2);
    }

    #[test]
    fn is_in_its_place() {
        assert!(env!("CARGO_MANIFEST_DIR").contains("checkout-"));
    }

    #[test]
    fn is_sometimes_in_time() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert!(now.subsec_nanos() % 2 == 0);
    }

    #[test]
    fn sorts_names() {
        assert!(sorted().is_sorted());
    }

    #[test]
    fn lists_names() {
        assert!(names().is_sorted());
    }
}
"#;

const IT: &str = r"
#[test]
fn doubles() {
    assert_eq!(project::twice(2_u32), 4);
}

#[test]
fn aborts() {
    if project::add(2, 2) != 4 {
        std::process::abort();
    }
}
";

/// Returns a repository with one commit of these sources.
fn repository() -> Fixture {
    committed(&[("src/lib.rs", LIB), ("tests/it.rs", IT), ("data.txt", "1\n")])
}

fn deflake(project: &Fixture) -> Nondex {
    let arguments = ["--levels", "STD", "--seeds", "3"];
    let deflake = Nondex::reported(&project.path(""), "deflake").args(arguments);
    // Incremental builds, as users have them after a change.
    deflake.env("CARGO_INCREMENTAL", "1")
}

/// Returns the reported verdict, witness and lines for each failing test.
fn blamed(report: &Report) -> BTreeMap<&str, (Blame, Option<Witness>, Vec<u32>)> {
    let changes = report.tests.iter().filter_map(|test| {
        let change = test.change.as_ref()?;
        let lines = change.lines.iter().map(|line| line.line).collect();
        Some((test.name.as_str(), (change.verdict, change.witness, lines)))
    });
    changes.collect()
}

#[test]
fn a_failure_is_blamed_on_a_change_only_if_the_test_ran_it() {
    let project = repository();
    let before = fs::read(project.path(".git/index")).unwrap();
    edit(
        &project,
        "src/lib.rs",
        &[
            ("    a + b", "    a + b + 1"),
            ("return 0;", "return 1;"),
            ("    y * 2", "    y * 3"),
            ("    names.sort();", "    names.dedup();"),
        ],
    );
    let output = deflake(&project).run();
    let report = output.expect(ExitCode::Found).report();
    let coverage = Some(Witness::Coverage);
    let expected = BTreeMap::from([
        ("tests::adds", (Blame::Regression, coverage, vec![8])),
        ("doubles", (Blame::Regression, coverage, vec![13])),
        ("aborts", (Blame::Regression, coverage, vec![8])),
        ("tests::is_in_its_place", (Blame::Flaky, coverage, vec![])),
        ("tests::is_sometimes_in_time", (Blame::Flaky, Some(Witness::Rerun), vec![])),
        // The responsible call is unchanged, but the change removed the sort after it.
        ("tests::sorts_names", (Blame::Regression, coverage, vec![18])),
        ("tests::lists_names", (Blame::Flaky, Some(Witness::Culprit), vec![])),
    ]);
    assert_eq!(blamed(&report), expected);
    let uncovered: Vec<u32> = report.uncovered.iter().map(|line| line.line).collect();
    assert_eq!(uncovered, [6]);
    assert_eq!(fs::read(project.path(".git/index")).unwrap(), before);
    let sentence = "the change may be to blame: the test reaches src/lib.rs:8";
    assert!(test(&report, "tests::adds").notes.iter().any(|note| note == sentence));

    // The same change after a commit, and then a change that affects the whole crate.
    commit(&project);
    let filter = ["--delayed", "-E", "test(is_in_its_place) | test(adds)"];
    let again = deflake(&project).args(filter).run().expect(ExitCode::CleanRunFailed).report();
    assert_eq!(blamed(&again)["tests::adds"].0, Blame::Regression);
    assert_eq!(blamed(&again)["tests::is_in_its_place"].0, Blame::Flaky);
    edit(&project, "src/lib.rs", &[("LIMIT: u32 = 10", "LIMIT: u32 = 11")]);
    let flakes = "test(is_in_its_place) | test(adds) | test(sometimes) | test(lists_names)";
    let distant = deflake(&project).args(["--delayed", "-E", flakes]).run().report();
    // The change affects all of these tests, so the outcome without it decides.
    let expected = BTreeMap::from([
        ("tests::is_in_its_place", (Blame::Regression, coverage, vec![2])),
        ("tests::adds", (Blame::Unknown, Some(Witness::Base), vec![2])),
        ("tests::is_sometimes_in_time", (Blame::Flaky, Some(Witness::Rerun), vec![2])),
        ("tests::lists_names", (Blame::Flaky, Some(Witness::Culprit), vec![2])),
    ]);
    assert_eq!(blamed(&distant), expected);

    // Lines that the test itself ran come first.
    edit(&project, "src/lib.rs", &[("    y * 3", "    y * 5")]);
    let doubles = ["--delayed", "-E", "test(doubles)"];
    let both = deflake(&project).args(doubles).run().report();
    assert_eq!(blamed(&both)["doubles"], (Blame::Unknown, Some(Witness::Base), vec![13, 2]));

    // A changed file that is no code is blamed only for a test that opens it.
    git_at_noon(&project, &["checkout", "--quiet", "."]);
    fs::write(project.path("data.txt"), "2\n").unwrap();
    let data = deflake(&project).args(filter).run().report();
    assert_eq!(blamed(&data)["tests::is_in_its_place"], (Blame::Flaky, coverage, vec![]));
    git_at_noon(&project, &["checkout", "--quiet", "."]);
    fs::write(project.path("data.bin"), [0, 1]).unwrap();
    commit(&project);
    fs::write(project.path("data.bin"), [0, 2]).unwrap();
    let bytes = deflake(&project).args(filter).run().report();
    assert_eq!(blamed(&bytes)["tests::is_in_its_place"], (Blame::Flaky, coverage, vec![]));
    let nowhere = deflake(&project).args(["--base", "nowhere"]).run();
    nowhere.expect(ExitCode::Usage);
    assert!(nowhere.stderr.contains("names no commit"), "{}", nowhere.stderr);
}

#[test]
fn a_call_that_moved_to_another_file_was_as_flaky_before() {
    let names = "pub fn names() -> Vec<u8> {\n    \
        std::collections::HashSet::from([1, 2, 3, 4, 5]).into_iter().collect()\n}\n\n\
        #[test]\nfn is_sorted() {\n    assert_eq!(names(), [1, 2, 3, 4, 5]);\n}\n";
    let library = "mod list;\nuse list::names;\n\n#[test]\nfn is_in_order() {\n    \
        assert_eq!(names(), [1, 2, 3, 4, 5]);\n}\n";
    let project = committed(&[("src/lib.rs", library), ("src/list.rs", names)]);
    fs::rename(project.path("src/list.rs"), project.path("src/names.rs")).unwrap();
    let renamed = [("mod list;", "mod names;"), ("use list::", "use names::")];
    edit(&project, "src/lib.rs", &renamed);
    let report = deflake(&project).run().expect(ExitCode::Ok).report();
    // The name of the second test was `list::is_sorted` before.
    for test in ["is_in_order", "names::is_sorted"] {
        let blamed = blamed(&report);
        let found = blamed.get(test).map(|(verdict, witness, _)| (*verdict, *witness));
        assert_eq!(found, Some((Blame::Flaky, Some(Witness::Culprit))), "{test} of {blamed:?}");
    }
}

#[test]
fn lines_that_moved_with_a_changed_one_to_another_file_are_not_blamed() {
    let list = "pub fn sum(numbers: &[u32]) -> u32 {\n    let mut sum = 0;\n    \
        for number in numbers {\n        sum += number;\n    }\n    sum\n}\n";
    let library = "mod list;\nuse list::sum;\n\n#[test]\nfn is_added() {\n    \
        assert_eq!(sum(&[1, 2]), 3);\n}\n";
    let project = committed(&[("src/lib.rs", library), ("src/list.rs", list)]);
    fs::rename(project.path("src/list.rs"), project.path("src/sums.rs")).unwrap();
    edit(&project, "src/sums.rs", &[("sum += number", "sum *= number")]);
    let renamed = [("mod list;", "mod sums;"), ("use list::", "use sums::")];
    edit(&project, "src/lib.rs", &renamed);
    let report = deflake(&project).run().report();
    let change = report.tests[0].change.as_ref().unwrap();
    let lines: Vec<u32> = change
        .lines
        .iter()
        .filter(|line| line.file == "src/sums.rs")
        .map(|line| line.line)
        .collect();
    assert_eq!((change.verdict, &lines[..]), (Blame::Regression, &[4][..]));
}

#[test]
fn a_check_says_of_a_victim_what_the_change_has_to_do_with_those_before_it() {
    let project = repository();
    let tests = |first: &str| {
        format!(
            "use std::sync::atomic::{{AtomicU8, Ordering::SeqCst}};\n\
             static COUNT: AtomicU8 = AtomicU8::new(0);\n\n#[test]\nfn a_first() {{\n    {first}\n\
             }}\n\n#[test]\nfn b_second() {{\n    assert_eq!(COUNT.load(SeqCst), 0);\n}}\n"
        )
    };
    fs::write(project.path("tests/it.rs"), tests("assert_eq!(1 + 1, 2);")).unwrap();
    commit(&project);
    let check = || {
        let arguments = ["--offline", "--message-format", "json", "--seeds", "0", "--test", "it"];
        Nondex::command(&project.path(""), "check").args(arguments)
    };
    fs::write(project.path("tests/it.rs"), tests("COUNT.store(1, SeqCst);")).unwrap();
    let report = check().args(["--base", "HEAD"]).run().expect(ExitCode::Found).report();
    // The victim is unchanged, but the test before it is not.
    let coverage = Some(Witness::Coverage);
    let expected = BTreeMap::from([("b_second", (Blame::Regression, coverage, vec![6]))]);
    assert_eq!(blamed(&report), expected);

    commit(&project);
    edit(&project, "src/lib.rs", &[("    a + b", "    b + a")]);
    let report = check().args(["--base", "HEAD"]).run().expect(ExitCode::Ok).report();
    let expected = BTreeMap::from([("b_second", (Blame::Flaky, Some(Witness::Order), vec![]))]);
    assert_eq!(blamed(&report), expected);
    let without = check().run().expect(ExitCode::Found).report();
    assert_eq!(blamed(&without), BTreeMap::new());
    let nowhere = check().args(["--base", "nowhere"]).run();
    nowhere.expect(ExitCode::Usage);
    assert!(nowhere.stderr.contains("`nowhere` names no commit"), "{}", nowhere.stderr);
}

#[test]
fn what_always_fails_for_no_known_reason_runs_again_in_the_same_process_and_a_clean_environment() {
    let project = repository();
    let tests = "static RAN: std::sync::atomic::AtomicBool = \
        std::sync::atomic::AtomicBool::new(false);\n\n#[test]\nfn passes_when_warm() {\n    \
        assert!(RAN.swap(true, std::sync::atomic::Ordering::SeqCst));\n}\n\n#[test]\n\
        fn needs_an_empty_folder() {\n    assert!(!std::env::temp_dir().join(\"left\").exists());\n\
        }\n\n#[test]\nfn never_passes() {\n    assert_eq!(project::add(1, 1), 3);\n}\n";
    fs::write(project.path("tests/it.rs"), tests).unwrap();
    commit(&project);
    edit(&project, "src/lib.rs", &[("    a + b", "    b + a")]);
    let left = project.path("target/left");
    fs::create_dir_all(left.join("left")).unwrap();
    let output = deflake(&project).args(["--delayed", "--test", "it"]).env("TMPDIR", &left).run();
    let report = output.expect(ExitCode::CleanRunFailed).report();
    let expected = BTreeMap::from([
        ("passes_when_warm", (Blame::Flaky, Some(Witness::SameProcess), vec![])),
        ("needs_an_empty_folder", (Blame::Flaky, Some(Witness::CleanEnvironment), vec![])),
        ("never_passes", (Blame::Unknown, Some(Witness::Base), vec![8])),
    ]);
    assert_eq!(blamed(&report), expected);
}

#[test]
fn a_statement_that_is_commented_out_is_blamed_for_the_test_that_runs_its_function() {
    let commented_out = (
        "    let mut b = true;\n    b |= a > 7;\n",
        "    let mut b = false;\n    // b |= a > 7;\n",
    );
    expect_met(&[commented_out]);
}

#[test]
#[ignore = "second tier: more statements that are compiled to nothing"]
fn a_statement_that_is_compiled_to_nothing_is_blamed_for_the_test_that_runs_its_function() {
    expect_met(&[
        ("    if a > 100 {\n", "    if true || a > 100 {\n"),
        ("    if a > 100 {\n        return false;\n    }\n", "\n"),
    ]);
}

/// Makes each edit of a function in turn. Asserts that the change is blamed for the failure of the
/// test that runs it.
fn expect_met(changed: &[(&str, &str)]) {
    let project = repository();
    let is_small = "pub fn is_small(a: u32) -> bool {\n    if a > 100 {\n        \
        return false;\n    }\n    let mut b = true;\n    b |= a > 7;\n    b\n}\n";
    let test = "\n#[test]\nfn is_small_test() {\n    assert!(is_small(1));\n    \
        assert!(!is_small(200));\n}\n";
    let text = fs::read_to_string(project.path("src/lib.rs")).unwrap();
    fs::write(project.path("src/lib.rs"), format!("{is_small}{test}{text}")).unwrap();
    commit(&project);
    for (before, after) in changed {
        edit(&project, "src/lib.rs", &[(*before, *after)]);
        let filter = ["--delayed", "-E", "test(is_small)"];
        let report = deflake(&project).args(filter).run().expect(ExitCode::CleanRunFailed).report();
        let (blame, witness, lines) = &blamed(&report)["is_small_test"];
        assert_eq!((*blame, *witness), (Blame::Regression, Some(Witness::Coverage)), "{after}");
        assert!(!lines.is_empty() && lines.iter().all(|line| (1..8).contains(line)), "{lines:?}");
        git_at_noon(&project, &["checkout", "--quiet", "."]);
    }
}

#[test]
fn what_begins_on_the_first_line_of_a_crate_is_run_by_the_tests_that_call_it_and_by_no_other() {
    let first = "pub fn first() -> u32 { 1 }\n";
    let chance = "#[test]\nfn is_even() {\n    \
        let now = std::time::UNIX_EPOCH.elapsed().unwrap();\n    \
        assert!(now.subsec_nanos() % 2 == 0);\n}\n";
    let always = "#[test]\nfn calls_it() {\n    assert_eq!(first(), 1);\n}\n";
    let program = "fn main() {}\n#[test]\nfn calls_main() {\n    main();\n    \
        assert!(option_env!(\"PATH\").is_none());\n}\n";
    let project =
        committed(&[("src/lib.rs", &format!("{first}{chance}{always}")), ("src/main.rs", program)]);
    edit(&project, "src/lib.rs", &[("{ 1 }", "{ 2 }")]);
    edit(&project, "src/main.rs", &[("main() {}", "main() { ; }")]);
    let report = deflake(&project).run().report();
    let blamed = blamed(&report);
    assert_eq!(blamed["is_even"], (Blame::Flaky, Some(Witness::Rerun), vec![]));
    let regression = (Blame::Regression, Some(Witness::Coverage), vec![1]);
    assert_eq!(blamed["calls_it"], regression);
    // This test fails without the change too. Only the record of its call of `main` matters.
    assert_eq!(blamed["calls_main"].2, [1]);
}
