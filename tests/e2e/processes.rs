//! Children, forked processes and threads of C are distinguished. No interposed function makes one
//! of them wait for ever. A choice is made for directories, however they are read.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, TestReport, Verdict};
use nondex_core::{Level, Source};

use crate::support::{Fixture, Nondex, Output, test};

/// Runs one target of the fixture.
fn run(target: &str) -> Output {
    let fixture = Fixture::shared("processes");
    Nondex::run_in(&fixture.path(""))
        .args(["--test", target, "--seeds", "2", "--levels", "STD"])
        .args(["--timeout", "20"])
        .run()
}

/// Asserts the verdict of all tests whose name `wanted` accepts. Returns their number.
fn expect_all(report: &Report, wanted: fn(&str) -> bool, verdict: Verdict) -> usize {
    let tests: Vec<_> = report.tests.iter().filter(|test| wanted(&test.name)).collect();
    for test in &tests {
        assert_eq!(test.verdict, verdict, "{test:#?}");
        let weakest = (verdict == Verdict::ImplementationDependent).then_some(Level::Std);
        assert_eq!(test.weakest_level, weakest, "{test:#?}");
    }
    tests.len()
}

#[test]
fn two_processes_of_one_test_see_orders_of_their_own() {
    let report = run("children").report();
    let all = expect_all(&report, |_| true, Verdict::ImplementationDependent);
    assert_eq!(all, 14);
}

#[test]
fn what_tests_do_in_a_child_belongs_to_the_test_that_started_it() {
    let report = run("tests").report();
    let all = expect_all(
        &report,
        |name| name.contains("order") || name.starts_with("two_"),
        Verdict::ImplementationDependent,
    );
    assert_eq!(all, 4);
    let counts = |name: &str| name == "a_child_that_only_counts";
    assert_eq!(expect_all(&report, counts, Verdict::Stable), 1);
}

#[test]
fn threads_that_std_does_not_know_see_orders_of_their_own() {
    let report = run("threads").report();
    let all = expect_all(&report, |_| true, Verdict::ImplementationDependent);
    assert_eq!(all, 4);
}

#[test]
fn nothing_waits_for_ever_and_nothing_more_is_seen() {
    let output = run("stands");
    let report = output.report();
    assert_eq!(expect_all(&report, |_| true, Verdict::Stable), 7);
    let starts = |test: &&TestReport| test.sources.contains(&Source::Child);
    let count = report.tests.iter().filter(starts).count();
    assert!(count > 1, "{:#?}", report.tests);
    output.prints(&[&format!(
        "{count} stable tests start programs or wait for others, whose timing no seed controls, \
         and may fail in up to "
    )]);
}

#[test]
fn a_binary_whose_allocator_draws_random_bytes_is_listed() {
    let fixture = Fixture::shared("processes");
    let output =
        Nondex::command(&fixture.path(""), "list").args(["--offline", "--test", "stands"]).run();
    let text = &output.expect(ExitCode::Ok).stdout;
    assert_eq!(text.lines().count(), 7, "{text}");
}

#[test]
fn an_allocator_may_hash_and_start_a_thread_to_give_out_its_first_memory() {
    let report = run("allocator").report();
    assert_eq!(expect_all(&report, |_| true, Verdict::Stable), 2);
}

#[test]
fn a_thread_that_waits_for_the_lock_of_a_tests_allocator_is_woken() {
    let report = run("locked").report();
    assert_eq!(expect_all(&report, |_| true, Verdict::Stable), 2);
}

#[test]
fn an_allocator_may_hold_its_lock_over_a_fork() {
    let report = run("forking").report();
    assert_eq!(expect_all(&report, |_| true, Verdict::Stable), 1);
    // If a clean run hangs, the test is judged with real threads.
    assert_eq!(report.tests[0].real_threads, None, "{report:#?}");
}

#[test]
fn a_process_that_is_forked_finds_what_one_that_is_started_finds() {
    let fixture = Fixture::shared("processes");
    let run = |command: &str, flags: &[&str]| {
        let started = Nondex::reported(&fixture.path(""), command).args(["--test", "started"]);
        started.args(flags).run().report()
    };
    let is_same = |name: &str| !name.contains("random");
    for report in [run("run", &[]), run("run", &["--no-prune", "--seeds", "2"])] {
        assert_eq!(expect_all(&report, is_same, Verdict::Stable), 4);
        let random = test(&report, "its_random_bytes_are_its_own");
        assert_eq!(random.verdict, Verdict::NonDeterministic, "{random:#?}");
    }
    // There, each test has a separate folder for temporary files.
    assert_eq!(expect_all(&run("test", &[]), is_same, Verdict::Passed), 4);
}

#[test]
fn a_choice_is_made_for_a_directory_however_it_is_read() {
    let report = run("directories").report();
    let is_right =
        |name: &str| name == "sorted::by_scandir_in_order" || name.starts_with("whole::");
    assert_eq!(expect_all(&report, is_right, Verdict::Stable), 8);
    let is_wrong = |name: &str| name.starts_with("sorted::") && !name.ends_with("in_order");
    let found = Verdict::ImplementationDependent;
    assert_eq!(expect_all(&report, is_wrong, found), 6);
    let removed = test(&report, "whole::nothing_is_chosen_where_a_tree_is_only_removed");
    assert_eq!(removed.choice_points, 0);
}
