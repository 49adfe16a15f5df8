//! Effects of a change on tests that run in other orders.

use std::collections::BTreeSet;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use super::{Edited, LIB, ran};
use crate::support::{Nondex, committed};

/// Tests of two executables that share code. The first test of one executable may change shared
/// state.
const FIRST: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static COUNT: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_leaves_nothing() {
    COUNT.fetch_max(project::add(0, 0), SeqCst);
}

#[test]
fn b_counts_from_zero() {
    assert_eq!(COUNT.load(SeqCst), 0);
}
"#;

const SECOND: &str = "#[test]\nfn c_adds() {\n    assert_eq!(project::add(1, 2), 3);\n}\n\n\
    #[test]\nfn d_reads() {\n    assert!(!project::text().is_empty());\n}\n";

#[test]
fn in_orders_only_executables_that_a_change_is_in_run_again_and_all_else_ends_as_it_did() {
    expect_to_run("order", 3, 2);
    expect_to_run("check", 1, 1);
}

#[test]
#[ignore = "second tier: more edits for check, which is an order and a run"]
fn in_a_check_only_executables_that_a_change_is_in_run_again_and_all_else_ends_as_it_did() {
    expect_to_run("check", 3, 2);
}

/// Asserts which tests this command runs again after each of the first edits, and that all others
/// keep their outcome. `victims` is the expected number of victims.
fn expect_to_run(name: &str, edits: usize, victims: usize) {
    let project = committed(&[
        ("src/lib.rs", LIB),
        ("tests/first.rs", FIRST),
        ("tests/second.rs", SECOND),
        ("data.txt", "1\n"),
        ("README.md", "One.\n"),
    ]);
    let first = ["a_leaves_nothing", "b_counts_from_zero"];
    let second = ["c_adds", "d_reads"];
    let all = [first, second].concat();
    let run = |name: &str| {
        let tests = ["--seeds", "2", "--test", "first", "--test", "second"];
        let tests = tests.iter().skip(if name == "order" { 2 } else { 0 });
        Nondex::reported(&project.path(""), name).args(tests)
    };
    let all_edits: [(&str, &str, &str, &[&str]); 3] = [
        // The first test now pollutes the second one.
        ("tests/first.rs", "project::add(0, 0)", "project::add(0, 1)", &first),
        ("README.md", "One.", "Two.", &[]),
        // So does this edit, through code that both executables use.
        ("src/lib.rs", "    a + b\n", "    a.max(1) + b\n", &all),
    ];
    let changed = || run(name).arg("--changed=HEAD");
    let known = changed().run().expect(ExitCode::Ok).report();
    assert_eq!(ran(&known), all.iter().copied().collect(), "{name}");
    let again = changed().run().expect(ExitCode::Ok).report();
    assert_eq!((again.tests.len(), again.unchanged.len()), (0, 4), "{name}");
    let mut findings = 0;
    for (file, old, new, expected) in &all_edits[..edits] {
        let edited = Edited::new(&project, file, (old, new));
        let part = changed().run().report();
        // The report omits a test that did not run by itself if a check found nothing in other
        // orders.
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        let is_as_expected = match name {
            "order" => ran(&part) == expected,
            _ => ran(&part).is_subset(&expected),
        };
        assert!(is_as_expected, "{name}: {new}: {:?}", ran(&part));
        assert_eq!(part.unchanged.len(), 4 - expected.len(), "{name}: {new}");
        let whole = run(name).run().report();
        assert_eq!(whole.tests.len(), 4, "{name}: {new}");
        for test in &whole.tests {
            let of_part = part.tests.iter().find(|other| other.id == test.id);
            let verdict = of_part.map_or(Verdict::Stable, |test| test.verdict);
            assert_eq!(verdict, test.verdict, "{name}: {new}: {}", test.id);
            let is_left_out = part.unchanged.contains(&test.id);
            assert!(!is_left_out || of_part.is_none(), "{name}: {new}: {}", test.id);
            findings += usize::from(test.verdict == Verdict::OrderDependentVictim);
        }
        edited.undo();
    }
    assert_eq!(findings, victims, "{name}");
}
