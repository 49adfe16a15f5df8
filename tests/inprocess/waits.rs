//! Time, descriptors and children under the scheduler. A wait ends when its event comes, and not
//! before it. It takes no real time unless another process needs it.

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use nondex_core::{Level, Outcome, RunSpec, TestStart};

use crate::compile::{Harness, compile, compile_threads, fixture};
use crate::threads::{run_as, run_in, specs, tests_of};

const FIXTURE: &str = "waits.rs";
const FLOOD: &str = "much_is_written_to_somebody_else";

#[test]
fn what_is_waited_for_comes_under_every_schedule_and_in_virtual_time() {
    let executable = &compile_threads(&fixture(FIXTURE));
    let tests = tests_of(FIXTURE, "");
    let tests: Vec<_> = tests
        .iter()
        .filter(|name| !matches!(&***name, "have_passed" | "now" | "vforked" | FLOOD))
        .collect();
    assert_eq!(tests.len(), 16);
    for test in tests {
        for spec in specs(test, 2) {
            // The injected delay of an hour would be longer than the times between these sleeps.
            let is_delayed = test.starts_with("sleepers_") || test.contains("the_clock_of_a_child");
            if spec.level() == Level::Full && is_delayed {
                continue;
            }
            // If the system clock goes back, it does not show how long a wait took.
            let spec =
                RunSpec { models_off: vec!["time/std::time::SystemTime::now".to_owned()], ..spec };
            let (events, record) = run_in(executable, &spec);
            let about = format!("{test} {} {} {events}", spec.level(), spec.seed());
            assert_eq!(record.outcome, Outcome::Passed, "{about}");
            let schedule = record.schedule.expect(test);
            // Only tests that depend on other processes may differ in the next run.
            assert_eq!(schedule.is_repeatable(), !test.starts_with("outside_"), "{about}");
            if spec.is_clean() && test.starts_with("an_hour") {
                assert!(schedule.time_us >= 59 * 60 * 1_000_000, "{about}");
            }
        }
    }
}

#[test]
fn the_same_spec_is_the_same_schedule_also_with_descriptors() {
    let executable = &compile_threads(&fixture(FIXTURE));
    for test in [
        "sleepers_wake_in_the_order_of_their_times",
        "a_datagram_that_comes_late_and_one_that_does_not_come",
    ] {
        for spec in specs(test, 2) {
            // A socket has another number in each run, so the events are not compared.
            let course = || {
                let record = run_in(executable, &spec).1;
                (record.outcome, record.points, record.schedule)
            };
            let first = course();
            for _ in 0..5 {
                assert_eq!(course(), first, "{test} {} {}", spec.level(), spec.seed());
            }
        }
    }
}

#[test]
fn a_pipe_that_somebody_else_begins_to_read_at_any_time_is_no_deadlock() {
    let executable = &compile_threads(&fixture(FIXTURE));
    let spec = RunSpec::clean(FLOOD);
    for run in 0..100 {
        let (events, record) = run_as(executable, &spec, |command| {
            let (mut reader, writer) = io::pipe().unwrap();
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.stdin(writer).spawn().unwrap();
            // The command also holds the writing end. The reader sees the end of the pipe only when
            // all copies are closed.
            command.stdin(Stdio::null());
            // The test is blocked by then, and polls the pipe.
            thread::sleep(Duration::from_micros(5_000 + run * 3));
            io::copy(&mut reader, &mut io::sink()).unwrap();
            child.wait().unwrap()
        });
        assert_eq!(record.outcome, Outcome::Passed, "{run} {events}");
    }
}

/// Waits for a command. Kills it after 30 seconds, which is longer than any of these runs.
fn wait_for_long(command: &mut Command) -> ExitStatus {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..600 {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap()
}

#[test]
fn memory_that_the_harness_takes_while_a_test_waits_for_it_is_no_deadlock() {
    let executable = &compile("held.rs", "2024", Harness::Swap);
    let name = "memory_is_waited_for_that_the_harness_takes";
    let spec = RunSpec { start: TestStart::Thread, ..RunSpec::clean(name) };
    for _ in 0..5 {
        let (events, record) = run_as(executable, &spec, wait_for_long);
        assert_eq!(record.outcome, Outcome::Exited(0), "{events}");
        assert!(record.schedule.is_some(), "{events}");
    }
}

#[test]
fn a_stack_is_captured_while_a_thread_that_waits_for_its_turn_has_the_lock_of_backtraces() {
    let executable = &compile_threads(&fixture("panics.rs"));
    for spec in specs("threads_panic_beside_others", 8) {
        let found = run_as(executable, &spec, wait_for_long).1;
        let traced =
            RunSpec { trace: found.points.into_iter().map(|point| point.site).collect(), ..spec };
        let (events, record) = run_as(executable, &traced, wait_for_long);
        let about = format!("{} {} {events}", traced.level(), traced.seed());
        assert_eq!(record.outcome, Outcome::Passed, "{about}");
        assert!(record.points.iter().any(|point| !point.stack.is_empty()), "{about}");
    }
}
