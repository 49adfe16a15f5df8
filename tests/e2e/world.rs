//! `cargo nondex test` runs every test once with fixed choices, and reports what it cannot control.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use crate::support::{Fixture, Nondex, Output, cargo, commit, committed, edit, test};

fn run(arguments: &[&str]) -> Output {
    let fixture = Fixture::shared("world");
    Nondex::reported(&fixture.path(""), "test").args(arguments).run()
}

#[test]
fn tests_pass_in_canonical_order_and_sleep_in_no_time() {
    let output = run(&[]);
    output.expect(ExitCode::Ok).prints(&[
        "Starting 3 tests across 1 binary (5 ignored)",
        "PASS [",
        "(3/3)",
        "3 tests run: 3 passed, 5 skipped",
        " s of waiting in virtual time",
        "not controlled: a child process, in 1 test: world$tests::has_a_child",
    ]);
    let report = output.report();
    assert_eq!(report.summary.passed, 3);
    assert_eq!(report.summary.runs, 3);
    let scheduled = test(&report, "tests::sleeps_for_an_hour").scheduled.as_ref();
    assert!(scheduled.is_some_and(|scheduled| scheduled.time_us >= 3_600_000_000));
    assert!(report.run.world.is_some_and(|world| world.seed.is_none()));
}

#[test]
fn a_failure_is_compared_with_a_plain_build_and_shows_what_the_test_printed() {
    let output = run(&["--ignored", "tests::fails"]);
    output.expect(ExitCode::Found).prints(&[
        "FAIL [",
        "what it printed",
        "it fails in a plain build too",
        "1 test run: 0 passed, 1 failed",
    ]);
    assert_eq!(test(&output.report(), "tests::fails").verdict, Verdict::Broken);
}

#[test]
fn what_a_test_prints_is_shown_at_once_if_that_is_requested() {
    let output = run(&["--no-capture", "--ignored", "tests::fails"]);
    output.expect(ExitCode::Found);
    assert!(output.stdout.contains("what it printed"), "{}", output.stdout);
    output.prints(&["1 test run: 0 passed, 1 failed"]);
}

#[test]
fn after_a_failure_no_other_test_is_begun_if_that_is_requested() {
    let all = ["--include-ignored", "--jobs", "1"];
    let run = |more: &[&str]| run(&[&all[..], more].concat());
    let first = run(&["--fail-fast"]);
    first.expect(ExitCode::Found).prints(&[
        "Cancelling due to test failure: --no-fail-fast runs all tests",
        "1/8 tests run: 0 passed, 1 failed",
    ]);
    let report = first.report();
    let cancelled = report.tests.iter().filter(|test| test.cancelled);
    let verdicts: Vec<Verdict> = cancelled.map(|test| test.verdict).collect();
    assert_eq!(verdicts, [Verdict::NotRun; 7]);
    assert_eq!((report.summary.passed, report.summary.not_run), (0, 7));
    assert!(!report.partial);

    for more in [&[][..], &["--no-fail-fast"], &["--max-fail", "2"]] {
        let output = run(more);
        output.expect(ExitCode::Found).prints(&["8 tests run: 7 passed, 1 failed"]);
    }
    let refused = run(&["--retries", "2"]);
    refused.expect(ExitCode::Usage).prints(&["every run of a test makes the same choices"]);
}

#[test]
fn another_seed_makes_other_choices_and_says_what_names_the_call() {
    let output = run(&["--seed", "1", "needs_the_keys_in_order"]);
    output.expect(ExitCode::Found).prints(&[
        "every choice drawn from seed 1",
        "cargo nondex --seed 1 --exact tests::needs_the_keys_in_order",
    ]);
    let report = output.report();
    let found = test(&report, "tests::needs_the_keys_in_order");
    assert_eq!(found.verdict, Verdict::ImplementationDependent);
    // One run with the seed, and one in canonical order.
    assert_eq!(found.runs, 2);
}

#[test]
fn two_runs_are_compared_and_the_first_event_that_differs_is_named() {
    let output = run(&["--verify", "--include-ignored", "--skip", "fails"]);
    output.expect(ExitCode::Ok).prints(&["twice each", "DIFFERS ["]);
    let report = output.report();
    let parting = |name: &str| test(&report, name).parting.as_ref();
    for same in ["sleeps_for_an_hour", "needs_the_keys_in_order"] {
        assert_eq!(parting(&format!("tests::{same}")), None);
    }
    let printed = parting("tests::prints_the_number_of_its_process").unwrap();
    assert_eq!(printed.event, "output");
    assert!(printed.values.iter().all(|value| value.starts_with("`number ")));
}

#[test]
fn what_a_run_left_under_a_random_name_is_not_found_by_the_next_one() {
    let name = "tests::leaves_a_folder_with_a_random_name";
    for _ in 0..2 {
        let output = run(&["--verify", "--ignored", "--exact", name]);
        output.expect(ExitCode::Ok).prints(&["PASS ["]);
        let report = output.report();
        assert_eq!(test(&report, name).runs, 2);
    }
    let fixture = Fixture::new("world");
    for _ in 0..2 {
        let output = Nondex::command(&fixture.path(""), "with")
            .arg("--")
            .arg(cargo())
            .args(["test", "--offline", "--", "--ignored", "--exact", name])
            .run();
        assert_eq!(output.code, Some(0), "{}", output.stdout);
    }
}

#[test]
fn another_command_has_tests_with_the_same_choices_and_its_own_exit_code() {
    let fixture = Fixture::new("world");
    let with = |seed: &[&str], arguments: &[&str]| {
        Nondex::command(&fixture.path(""), "with")
            .args(seed)
            .arg("--")
            .arg(cargo())
            .args(["test", "--offline"])
            .args(arguments)
            .run()
    };
    let passed = with(&[], &[]);
    assert_eq!(passed.code, Some(0), "{}", passed.stderr);
    let lines = ["running 8 tests", "tests::sleeps_for_an_hour ... ok", "3 passed; 0 failed; 5"];
    for line in lines {
        assert!(passed.stdout.contains(line), "{}", passed.stdout);
    }
    let seeded = with(&["--seed", "1"], &["needs_the_keys_in_order"]);
    assert_eq!(seeded.code, Some(101), "{}", seeded.stdout);
    // This is how nextest starts a test.
    let named = ["--", "--exact", "tests::fails", "--nocapture", "--ignored"];
    let failed = with(&[], &named);
    assert_eq!(failed.code, Some(101), "{}", failed.stdout);
    assert!(failed.stdout.contains("what it printed"), "{}", failed.stdout);
}

#[test]
fn what_two_runs_did_differently_is_a_failure_when_strict() {
    let name = "prints_the_number_of_its_process";
    run(&["--verify", "--strict", "--ignored", name]).expect(ExitCode::Found);
}

#[test]
fn only_tests_that_run_what_is_changed_run_again_and_only_for_the_same_choices() {
    let project = committed(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (".gitignore", "target\n"),
        (
            "src/lib.rs",
            "pub fn one() -> u32 {\n    1\n}\n\npub fn two() -> u32 {\n    2\n}\n\n\
             #[test]\nfn ones() {\n    assert_eq!(one(), 1);\n}\n\n\
             #[test]\nfn twos() {\n    assert_eq!(two(), 2);\n}\n",
        ),
    ]);
    let run = |arguments: &[&str]| {
        let command = Nondex::reported(&project.path(""), "test");
        command.args(["--changed=HEAD"]).args(arguments).run()
    };
    let names = |output: &Output| {
        let report = output.report();
        let run = report.tests.iter().filter(|test| test.runs > 0);
        run.map(|test| test.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&run(&[])), ["ones", "twos"]);
    edit(&project, "src/lib.rs", &[("    2\n", "    1 + 1\n")]);
    commit(&project);
    edit(&project, "src/lib.rs", &[("    1 + 1\n", "    3\n")]);
    let output = run(&[]);
    output.expect(ExitCode::Found);
    assert_eq!(names(&output), ["twos"]);
    // A pass in canonical order is no evidence about other choices.
    assert_eq!(names(&run(&["--seed", "7"])), ["ones", "twos"]);
}
