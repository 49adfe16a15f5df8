//! Forks of a process compared with separate processes: the same tests in the same order must have
//! the same outcome.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_nondex::campaign::StopFlag;
use cargo_nondex::campaign::launch::Launcher;
use cargo_nondex::judge::run::Run;
use cargo_nondex::project::{TestBinary, TestCase};
use nondex_core::{Level, Outcome, RunSpec};

use crate::compile::{Harness, binary, compile};

/// Returns a test of `tests/fixtures/libtest/pairs.rs`, with whether it is ignored.
fn case(name: &str) -> TestCase {
    TestCase { ignored: name == "is_ignored", ..TestCase::new(name) }
}

/// Time limit of the tests. A test that hangs never ends.
const LIMIT: Duration = Duration::from_secs(4);

/// Returns the parts of a run that must be the same in a fork. A message is only compared for a
/// failed test. Others are made from the output, which is not kept for forks.
fn comparable(run: &Run) -> impl PartialEq + std::fmt::Debug + use<> {
    let fails = run.outcome == Outcome::Failed;
    let message = run.failure.as_ref().filter(|_| fails);
    (run.outcome.clone(), message.cloned(), run.points.clone(), run.choices.clone(), run.complete)
}

/// Returns a new folder for records.
pub(crate) fn records(folder: &Utf8Path) -> Utf8PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let records = folder.join(format!("records-{number}"));
    let _ = std::fs::remove_dir_all(&records);
    std::fs::create_dir_all(&records).unwrap();
    records
}

/// Runs `first` and then each test of `then`, in forks and in separate processes. Asserts that the
/// runs are the same.
fn compare(binary: &TestBinary, folder: &Utf8Path, first: &[&str], then: &[&str], spec: &RunSpec) {
    let stop = StopFlag::new();
    let launcher = Launcher::new(records(folder), &stop);
    let first: Vec<TestCase> = first.iter().copied().map(case).collect();
    let first: Vec<&TestCase> = first.iter().collect();
    let then: Vec<TestCase> = then.iter().copied().map(case).collect();
    let then: Vec<(&TestCase, Duration)> = then.iter().map(|test| (test, LIMIT)).collect();
    let pairs = launcher.pairs(None, LIMIT, binary, &first, &then, spec).unwrap();
    assert_eq!((pairs.first.len(), pairs.then.len()), (first.len(), then.len()));
    for ((test, _), forked) in then.iter().zip(&pairs.then) {
        let forked = forked.as_ref().unwrap();
        let tests: Vec<&TestCase> = first.iter().copied().chain([*test]).collect();
        let own = RunSpec { test: test.name.clone(), ..spec.clone() };
        let alone = launcher.experiment(None, &[LIMIT], binary, &tests, &own).unwrap();
        let (last, before) = alone.split_last().unwrap();
        assert_eq!(comparable(forked), comparable(last), "{first:?}, then {test:?}");
        let before: Vec<_> = before.iter().map(comparable).collect();
        let forked: Vec<_> = pairs.first.iter().map(comparable).collect();
        assert_eq!(forked, before, "{first:?}, then {test:?}");
    }
}

fn compiled() -> (TestBinary, std::path::PathBuf) {
    let executable = compile("pairs.rs", "2021", Harness::Interposed);
    let folder = executable.parent().unwrap().to_owned();
    (binary(&executable), folder)
}

fn utf8(path: &Path) -> &Utf8Path {
    Utf8Path::from_path(path).unwrap()
}

/// Tests with every kind of outcome.
const ENDS: [&str; 23] = [
    "victim",
    "brittle",
    "non_idempotent",
    "poisons",
    "chooses",
    "exits_well",
    "exits",
    "exits_as_a_failing_test",
    "aborts",
    "is_killed",
    "kills_its_group",
    "overflows_its_stack",
    "hangs_with_children",
    "dies_at_exit",
    "forks_and_waits",
    "leaves_a_child",
    "leaves_a_daemon",
    "leaves_a_thread",
    "floods",
    "ignores_its_children",
    "runs_a_program",
    "is_ignored",
    "panics",
];

#[test]
fn a_test_in_a_fork_ends_as_in_a_process_of_its_own_whatever_came_before() {
    let (binary, folder) = compiled();
    let folder = utf8(&folder);
    compare(&binary, folder, &["polluter"], &ENDS, &RunSpec::clean(""));
    let some = ["victim", "brittle", "chooses", "panics", "exits_as_a_failing_test"];
    for first in [
        &["failing_polluter"][..],
        &["poisons"],
        &["polluter", "failing_polluter"],
        &["ignores_its_children"],
        &["forks_and_waits"],
        &["runs_a_program", "polluter"],
    ] {
        compare(&binary, folder, first, &some, &RunSpec::clean(""));
    }
    // The same test again.
    compare(
        &binary,
        folder,
        &["non_idempotent"],
        &["non_idempotent", "victim"],
        &RunSpec::clean(""),
    );
}

#[test]
fn a_test_in_a_fork_makes_the_choices_that_it_makes_in_a_process_of_its_own() {
    let (binary, folder) = compiled();
    for level in [Level::Std, Level::One, Level::Full] {
        for seed in 0..3 {
            let spec = RunSpec::new("", level, seed);
            compare(&binary, utf8(&folder), &["polluter"], &["chooses"], &spec);
            compare(&binary, utf8(&folder), &["chooses"], &["polluter", "chooses"], &spec);
        }
    }
}

#[test]
fn what_a_fork_would_not_have_is_left_to_processes() {
    let (binary, folder) = compiled();
    let stop = StopFlag::new();
    let launcher = Launcher::new(records(utf8(&folder)), &stop);
    let (victim, brittle) = (case("victim"), case("brittle"));
    for (first, outcome) in [
        ("leaves_a_thread", Outcome::Passed),
        ("leaves_a_child", Outcome::Passed),
        ("exits", Outcome::Exited(7)),
        ("exits_well", Outcome::Exited(0)),
        ("aborts", Outcome::Signalled(6)),
        ("hangs", Outcome::TimedOut),
        ("no_such_test", Outcome::Exited(0)),
    ] {
        let first = case(first);
        let pairs = launcher
            .pairs(
                None,
                LIMIT,
                &binary,
                &[&first],
                &[(&victim, LIMIT), (&brittle, LIMIT)],
                &RunSpec::clean(""),
            )
            .unwrap();
        assert_eq!(pairs.first[0].outcome, outcome, "{first:?}");
        assert_eq!(pairs.then, [None, None], "{first:?}");
    }
    // An unknown test among the next ones does not affect the others.
    let (polluter, unknown) = (case("polluter"), case("no_such_test"));
    let pairs = launcher
        .pairs(
            None,
            LIMIT,
            &binary,
            &[&polluter],
            &[(&unknown, LIMIT), (&brittle, LIMIT)],
            &RunSpec::clean(""),
        )
        .unwrap();
    assert_eq!(pairs.then[0], None);
    assert_eq!(pairs.then[1].as_ref().unwrap().outcome, Outcome::Passed);
}
