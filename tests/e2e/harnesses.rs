//! Targets with `harness = false` whose harness is neither libtest nor the one of this project.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{TestReport, Verdict};
use nondex_core::{Level, Source};

use crate::support::{Fixture, Nondex, cargo, test};

#[test]
fn a_harness_with_a_pool_of_threads_runs_its_test_on_the_main_thread() {
    let fixture = Fixture::new("pooled");
    let output =
        Nondex::run_in(&fixture.path(".")).args(["--test", "pool", "-E", "test(depends_on)"]).run();
    let report = output.expect(ExitCode::Found).report();
    assert_eq!(report.tests.len(), 3);
    for found in &report.tests {
        if found.name == "depends_on_nothing" {
            assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
            // The harness reads the clock twice, which is nothing that a seed need delay.
            assert!(found.steps.iter().all(|step| step.name != "interleavings"), "{found:#?}");
            continue;
        }
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
        assert_eq!(found.weakest_level, Some(Level::Std));
        // No other test disturbs this one. Chance decides which of two threads takes it.
        assert!(!found.run_alone && found.culprits[0].confirmed, "{found:#?}");
        let mark = found.name.rsplit_once("_an_").or(found.name.rsplit_once("_on_"));
        let line = fixture.marked("tests/pool.rs", mark.unwrap().1);
        assert_eq!(found.culprits[0].line, line, "{found:#?}");
    }
}

#[test]
fn what_a_test_uses_of_a_harness_with_a_pool_makes_it_run_often_before_it_is_stable() {
    let fixture = Fixture::new("pooled");
    for (name, sources, bound) in [
        ("starts_a_thread", &[Source::Thread][..], 0.14),
        ("opens_a_random_file", &[Source::RandomFile], 0.05),
        ("replaces_its_process", &[Source::Child, Source::RandomFile], 0.05),
    ] {
        let output = Nondex::run_in(&fixture.path("."))
            .args(["--test", "pool", "-E", &format!("test({name})")])
            .run();
        let report = output.expect(ExitCode::Ok).report();
        let found = &report.tests[0];
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
        // The harness itself reads the clock.
        assert_eq!(found.sources, [&[Source::Clock], sources].concat(), "{found:#?}");
        assert!(found.failure_bound.is_some_and(|found| found < bound));
    }
}

#[test]
fn with_another_command_tests_of_other_harnesses_are_those_of_canonical_order() {
    let fixture = Fixture::new("pooled");
    let manifest = fs::read_to_string(fixture.path("Cargo.toml")).unwrap();
    // The tests of a macro are built for the compiler, and have libtest itself.
    fs::write(fixture.path("Cargo.toml"), format!("{manifest}\n[lib]\nproc-macro = true\n"))
        .unwrap();
    fs::write(fixture.path("src/lib.rs"), "#[test]\nfn is_of_a_macro() {}\n").unwrap();
    let with = |target: &[&str]| {
        let call = Nondex::command(&fixture.path(""), "with").arg("--").arg(cargo());
        call.args(["test", "--offline"]).args(target).run()
    };
    for (target, code, lines) in [
        (&["--lib"][..], 0, &["test is_of_a_macro ... ok"][..]),
        // Its time and its keys are those of canonical order.
        (
            &["--test", "pool"],
            101,
            &["sleeps_for_half_a_minute ... ok", "depends_on_keys ... FAILED", "10 passed"],
        ),
    ] {
        let output = with(target);
        assert_eq!(output.code, Some(code), "{}{}", output.stdout, output.stderr);
        assert!(lines.iter().all(|line| output.stdout.contains(line)), "{}", output.stdout);
    }
}

#[test]
fn a_harness_that_does_not_know_how_many_threads_it_may_have_is_not_told() {
    let fixture = Fixture::new("pooled");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["--test", "pool-only", "-E", "test(nothing) + test(update)"])
        .run();
    let report = output.expect(ExitCode::Found).report();
    for name in ["depends_on_nothing", "keeps_an_update"] {
        assert_eq!(test(&report, name).verdict, Verdict::Stable);
    }
    expect_lost_update(&fixture, test(&report, "loses_an_update"), "tests/pool.rs");
}

/// Expects a race between the two marked lines of the file.
fn expect_lost_update(fixture: &Fixture, found: &TestReport, file: &str) {
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    let lines = ["seen", "lost"].map(|mark| fixture.marked(file, mark));
    let shown = found.interleaving.iter().flat_map(|found| &found.steps);
    let shown: Vec<u32> = shown.filter_map(|step| step.line).collect();
    assert!(lines.iter().all(|line| shown.contains(line)), "{lines:?} {found:#?}");
}

#[test]
fn the_threads_of_a_process_that_is_one_test_are_scheduled() {
    let fixture = Fixture::new("pooled");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["--test", "pool", "--test", "main-*"])
        .args(["-E", "test(update) + test(orders) + test(main)"])
        .run();
    let report = output.expect(ExitCode::Found).report();
    for name in ["keeps_an_update", "main-keeps"] {
        assert_eq!(test(&report, name).verdict, Verdict::Stable);
    }
    expect_lost_update(&fixture, test(&report, "loses_an_update"), "tests/pool.rs");
    expect_lost_update(&fixture, test(&report, "main-loses"), "tests/main.rs");
    let found = test(&report, "locks_in_two_orders");
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    let scheduled = found.scheduled.as_ref().unwrap();
    assert_eq!(scheduled.end.as_deref(), Some("deadlock"));
    let mut lines: Vec<Option<u32>> = scheduled.waits.iter().map(|wait| wait.line).collect();
    lines.sort_unstable();
    let marked = |mark| Some(fixture.marked("tests/pool.rs", mark));
    assert_eq!(lines, [marked("backwards"), marked("forwards")]);

    let replay = Nondex::command(&fixture.path("."), "replay").arg("main-loses");
    replay.run().expect(ExitCode::Found).prints(&["again as recorded"]);
}

#[test]
fn a_process_that_is_one_test_has_virtual_time() {
    let fixture = Fixture::new("pooled");
    let run = || Nondex::command(&fixture.path("."), "test");
    let tests = ["--offline", "--test", "pool", "-E", "test(sleeps) + test(program)"];
    let output = run().args(tests).args(["--verify", "--message-format", "json"]).run();
    let report = output.expect(ExitCode::Ok).report();
    for found in &report.tests {
        assert!(found.elapsed_ms < 20_000, "{found:#?}");
    }
}
