//! Any effect of a test on its process is a result of that test alone, with its output. The report
//! is complete.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, Verdict};
use nondex_core::Outcome;

use crate::support::{Fixture, Nondex, test};

/// Expected report of a failing test.
struct Failing {
    test: &'static str,
    outcome: Outcome,
    /// Part of the message.
    message: &'static str,
    /// Parts of the captured output.
    output: &'static [&'static str],
}

const fn failing(
    test: &'static str,
    outcome: Outcome,
    message: &'static str,
    output: &'static [&'static str],
) -> Failing {
    Failing { test, outcome, message, output }
}

const SIGABRT: Outcome = Outcome::Signalled(6);
const SIGKILL: Outcome = Outcome::Signalled(9);

static FAILING: &[Failing] = &[
    // How the process ends.
    failing(
        "aborts",
        SIGABRT,
        "SIGABRT",
        &[
            "last words of an abort\n\n[tests/ends.rs:",
            "] 1 = 1\n[tests/ends.rs:",
            "] 1 + 1 = 2\n1, 2\n",
        ],
    ),
    failing("aborts_in_another_thread", SIGABRT, "SIGABRT", &[]),
    failing(
        "exits_with_zero",
        Outcome::Exited(0),
        "exited with code 0",
        &["last words of an exit"],
    ),
    failing("exits_with_three", Outcome::Exited(3), "exited with code 3", &[]),
    failing("overflows_the_stack", SIGABRT, "SIGABRT", &["has overflowed its stack"]),
    failing("panics_while_panicking", SIGABRT, "second panic", &["first panic", "second panic"]),
    failing("kills_itself", SIGKILL, "SIGKILL", &[]),
    failing("kills_its_process_group", SIGKILL, "SIGKILL", &[]),
    failing(
        "replaces_the_panic_hook",
        Outcome::Failed,
        "told to the hook only",
        &["a hook of its own"],
    ),
    failing("panics_with_a_value_that_is_no_text", Outcome::Failed, "Any", &[]),
    // What the test prints.
    failing(
        "floods_stdout_and_fails",
        Outcome::Failed,
        "after the flood",
        &["first line of a flood", "last line of a flood", "after the flood"],
    ),
    failing(
        "prints_what_libtest_prints_for_a_pass_and_fails",
        Outcome::Failed,
        "this one",
        &["not this one", "test result: ok. 1 passed"],
    ),
    failing(
        "prints_from_threads_and_fails",
        Outcome::Failed,
        "all threads have printed",
        &["line of thread 0", "line of thread 7"],
    ),
    failing(
        "prints_bytes_that_are_no_text_and_fails",
        Outcome::Failed,
        "odd bytes",
        &["before ", " after"],
    ),
    failing("closes_stdio_and_fails", Outcome::Failed, "said behind closed doors", &[]),
    // The surroundings of the test.
    failing("changes_the_directory_and_fails", Outcome::Failed, "elsewhere", &[]),
    failing("leaves_a_child_behind_and_fails", Outcome::Failed, "and it still runs", &[]),
    // The kind of the test.
    failing("returns_an_error", Outcome::Failed, "", &["the reason it returned"]),
    failing("should_panic_and_does_not", Outcome::Failed, "did not panic", &[]),
    failing("should_panic_with_words_and_says_others", Outcome::Failed, "these are others", &[]),
    failing("vec_of_pairs::is_small_of_type", Outcome::Failed, "is large", &[]),
    failing("codec::Option<T>::round trip [case: a/b]", Outcome::Failed, "", &["FAILED"]),
];

static PASSING: &[&str] = &[
    "passes",
    "panics_in_a_thread_nobody_joins",
    "floods_stdout_and_passes",
    "prints_what_libtest_prints_for_a_failure_and_passes",
    "reads_an_empty_stdin",
    "closes_stdio_and_passes",
    "changes_the_directory",
    "clears_the_environment",
    "leaves_a_child_behind",
    "runs_out_of_descriptors",
    "returns_ok",
    "should_panic_and_does",
    "should_panic_with_words_and_does",
    "r#mod::deeply::nested",
    "r#mod::deeply::r#fn",
    "option_of_u8::is_small_of_type",
    "größe_und_länge",
    "codec::Vec<(u8, &'static str)>::round trip",
    "--looks-like-a-flag",
    "program",
];

static IGNORED: &[&str] = &["is_ignored", "is_ignored_for_a_reason"];

#[test]
fn each_hostile_test_is_a_result_of_its_own() {
    let fixture = Fixture::new("hostile");
    let run = |args: &[&str]| {
        Nondex::run_in(&fixture.path("")).args(["--seeds", "1", "--levels", "STD"]).args(args).run()
    };

    let output = run(&["--skip", "hangs", "--skip", "confined", "--skip", "sleeps_for_long"]);
    let report = output.expect(ExitCode::CleanRunFailed).report();
    for expected in FAILING {
        expect_failing(&report, expected);
    }
    for name in PASSING {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
        assert!(found.runs >= 2 && found.failures.is_empty(), "{found:#?}");
    }
    for name in IGNORED {
        let found = test(&report, name);
        assert_eq!((found.verdict, found.runs), (Verdict::NotRun, 0), "{found:#?}");
    }
    assert_eq!(report.tests.len(), FAILING.len() + PASSING.len() + IGNORED.len());
    assert!(!report.partial);
    for name in ["leaves_a_child_behind", "leaves_a_child_behind_and_fails"] {
        let found = test(&report, name);
        assert!(found.notes.iter().any(|note| note.contains("child process")), "{found:#?}");
    }
    let flood = test(&report, "floods_stdout_and_fails").output.as_deref().unwrap_or_default();
    assert!(flood.len() < 1 << 20, "{} bytes of output are kept", flood.len());

    ignored_tests_run_when_they_are_asked_for(&run(&["--test", "kinds", "--ignored"]).report());
    let report = run(&["--test", "hangs", "--timeout", "1"]).report();
    assert_eq!(report.tests.len(), 4);
    a_test_that_sleeps_for_long_is_judged_in_virtual_time(&report);
    a_test_that_does_not_end_is_killed(&report);
}

fn expect_failing(report: &Report, expected: &Failing) {
    let found = test(report, expected.test);
    assert_eq!(found.verdict, Verdict::Broken, "{found:#?}");
    let failure = &found.failures[0];
    assert_eq!(failure.outcome, expected.outcome, "{found:#?}");
    assert!(failure.message.contains(expected.message), "{found:#?}");
    let output = found.output.as_deref().unwrap_or_default();
    for text in expected.output {
        assert!(output.contains(text), "`{}` does not show `{text}`: {output}", expected.test);
    }
}

fn ignored_tests_run_when_they_are_asked_for(report: &Report) {
    assert_eq!(report.tests.len(), IGNORED.len());
    assert_eq!(test(report, "is_ignored").verdict, Verdict::Broken);
    assert_eq!(test(report, "is_ignored_for_a_reason").verdict, Verdict::Stable);
}

fn a_test_that_sleeps_for_long_is_judged_in_virtual_time(report: &Report) {
    let found = test(report, "sleeps_for_long");
    assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
    let note = "it was not run in real time, where it sleeps for longer than five times the time \
                limit: 1h of virtual time passed";
    assert_eq!(found.notes, [note]);
}

fn a_test_that_does_not_end_is_killed(report: &Report) {
    for found in report.tests.iter().filter(|found| found.name != "sleeps_for_long") {
        assert_eq!(found.verdict, Verdict::Broken, "{found:#?}");
        // A test that only sleeps reaches the limit of scheduled time at once. Where scheduled runs
        // end, the driver waits longer for the run with real threads.
        let failure = &found.failures[0];
        let is_killed = failure.outcome == Outcome::TimedOut
            && ["timed out after 1s", "timed out after 5s"].contains(&failure.message.as_str());
        let is_without_end = failure.message.starts_with("timed out: nothing happened");
        assert!(is_killed || is_without_end, "{found:#?}");
    }
    let output = test(report, "hangs").output.as_deref().unwrap_or_default();
    assert!(output.contains("before the hang"), "{output}");
}
