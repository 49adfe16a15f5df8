//! A test may confine its process, so that the system refuses calls or kills the caller. It gets
//! the verdict that a plain `cargo test` implies.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::{Level, Outcome};

use crate::support::{Fixture, Nondex, test};

/// Tests that pass in a plain build, for every choice of std and the platform.
static STABLE: &[&str] = &[
    "confined_after_all_descriptors_were_closed",
    "confined_by_a_filter_that_kills",
    "confined_by_a_filter_that_no_library_installed",
    "confined_by_a_filter_that_refuses",
    "confined_by_all_of_it",
    "confined_by_landlock",
    "confined_strictly_in_a_forked_child",
    "confined_threads_that_are_killed_for_other_calls",
    "confined_threads_that_read_what_others_write",
    "confined_threads_that_sleep_and_are_killed_for_other_calls",
    "confined_threads_whose_calls_are_refused",
    "confined_to_an_empty_root",
    "confined_to_another_user",
    "confined_to_empty_files",
    "confined_to_no_descriptors",
    "confined_with_all_threads_by_a_filter_that_kills",
    "confined_with_all_threads_by_a_filter_that_refuses",
];

/// Tests that read a set, with the weakest level at which its order makes them fail.
static FLAKY: &[(&str, Level)] = &[
    ("confined_by_a_filter_reader_of_a_set_of_std", Level::Std),
    ("confined_reader_of_a_set_of_std", Level::Std),
    ("confined_reader_of_a_set_with_a_fixed_hasher", Level::One),
    ("confined_to_die_while_threads_read_sets", Level::One),
];

/// Runs all of these tests with these arguments.
fn expect_plain_verdicts(arguments: &[&str]) {
    let fixture = Fixture::new("hostile");
    let output =
        Nondex::run_in(&fixture.path("")).args(["--test", "confined"]).args(arguments).run();
    let report = output.expect(ExitCode::Found).report();
    for name in STABLE {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
        assert!(found.failures.is_empty(), "{found:#?}");
    }
    for (name, level) in FLAKY {
        let found = test(&report, name);
        let verdict = (found.verdict, found.weakest_level);
        assert_eq!(verdict, (Verdict::ImplementationDependent, Some(*level)), "{found:#?}");
    }
    let killed = test(&report, "confined_to_die_while_threads_read_sets");
    assert_eq!(killed.failures[0].outcome, Outcome::Signalled(9), "{killed:#?}");
    assert_eq!(report.tests.len(), STABLE.len() + FLAKY.len());
    assert!(!report.partial);
}

#[test]
fn a_test_that_confines_its_process_is_judged_as_a_plain_build_runs_it() {
    expect_plain_verdicts(&[]);
}

#[test]
fn a_test_that_confines_its_process_is_judged_so_with_real_threads() {
    expect_plain_verdicts(&["--real-threads"]);
}

#[test]
#[ignore = "second tier: leaves no run out"]
fn a_test_that_confines_its_process_is_judged_so_by_runs_that_are_all_made() {
    expect_plain_verdicts(&["--no-prune"]);
}
