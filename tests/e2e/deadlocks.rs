//! Deadlocks are reported soon. They are reported only if no other thread or process could have
//! woken a thread.

use cargo_nondex::report::schema::{Timing, WaitCauseKind};
use cargo_nondex::report::{Report, TestReport, Verdict};
use nondex_core::Outcome;

use crate::support::{Fixture, Nondex, test};

fn run(fixture: &Fixture, arguments: &[&str]) -> Report {
    let output = Nondex::run_in(&fixture.path(".")).args(arguments).run();
    output.report()
}

/// Returns the parts of a report on a deadlock that two runs are compared by.
fn summary(found: &TestReport) -> String {
    let scheduled = found.scheduled.as_ref().expect("it was scheduled");
    format!(
        "{:?} {:?} {:?} {:?} {:#?}",
        found.verdict, found.reason, found.weakest_level, scheduled.end, scheduled.waits
    )
}

/// Tests that deadlock under every schedule, at once.
const AT_ONCE: [&str; 3] =
    ["always_join_under_the_lock", "always_a_lock_taken_twice", "always_left_alone"];

/// Each of these tests waits until its time limit, so several run at a time.
const ALWAYS: [&str; 7] = ["--seeds", "2", "--levels", "STD", "--jobs", "4", "always"];

#[test]
#[ignore = "second tier: waits for every run"]
fn the_report_on_a_deadlock_under_every_schedule_is_the_same_with_short_limits() {
    let fixture = Fixture::shared("deadlocks");
    let short = run(fixture, &ALWAYS);
    // This limit is so short that the driver does not shorten it.
    let long = run(fixture, &[&["--timeout", "2"], &ALWAYS[..]].concat());
    for name in AT_ONCE {
        assert_eq!(summary(test(&short, name)), summary(test(&long, name)));
    }
}

#[test]
fn a_deadlock_under_every_schedule_is_waited_for_once() {
    let fixture = Fixture::shared("deadlocks");
    let short = run(fixture, &ALWAYS);
    for name in AT_ONCE {
        let found = test(&short, name);
        assert_eq!(found.verdict, Verdict::Broken, "{found:#?}");
        let ended = |outcome: &Outcome| {
            let mut failures = found.failures.iter();
            failures.find(|failure| failure.outcome == *outcome)
        };
        assert!(ended(&Outcome::Failed).is_some(), "{found:#?}");
        let waited = ended(&Outcome::TimedOut).expect("one run with real threads");
        assert_ne!(waited.message, "timed out after 60s");
    }
    let waits = |name| test(&short, name).scheduled.as_ref().unwrap().waits.clone();
    let lines: Vec<_> = waits("always_join_under_the_lock").iter().map(|wait| wait.line).collect();
    let marked = |mark| Some(fixture.marked("tests/always.rs", mark));
    assert_eq!(lines, [marked("joins"), marked("locks")]);
    // Before its deadlock, this test sleeps for longer than the short limit.
    let found = test(&short, "always_after_a_sleep");
    assert_eq!(found.verdict, Verdict::Broken, "{found:#?}");
}

#[test]
fn a_deadlock_under_some_schedules_is_a_race_whatever_happens_in_canonical_order() {
    let fixture = Fixture::shared("deadlocks");
    let report = run(fixture, &["seldom", "mostly"]);
    for name in ["seldom_two_locks", "mostly_a_notification_too_early"] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        assert_eq!(found.reason, Some(Timing::Race), "{found:#?}");
        assert!(found.failures.iter().all(|failure| failure.outcome != Outcome::TimedOut));
        let end = found.scheduled.as_ref().and_then(|scheduled| scheduled.end.as_deref());
        assert_eq!(end, Some("deadlock"), "{found:#?}");
    }
    let found = test(&report, "mostly_a_notification_too_early");
    let waits = found.scheduled.iter().flat_map(|scheduled| &scheduled.waits);
    let causes: Vec<_> = waits.filter_map(|wait| wait.cause.as_ref()).collect();
    let notified = causes.iter().find(|cause| cause.kind == WaitCauseKind::Notified);
    let line = notified.and_then(|cause| cause.line);
    assert_eq!(line, Some(fixture.marked("src/lib.rs", "notifies")), "{causes:#?}");
    // The delay that makes this test pass is not shown as a step towards its deadlock.
    let steps = &found.interleaving.as_ref().expect("it is known").steps;
    assert!(steps.iter().all(|step| step.delay_ns.is_none()), "{steps:#?}");
    assert!(steps.last().is_some_and(|step| step.waits), "{steps:#?}");
}

#[test]
fn a_thread_that_something_outside_of_the_scheduler_wakes_is_in_no_deadlock() {
    let fixture = Fixture::shared("deadlocks");
    let report = run(fixture, &["--seeds", "2", "--levels", "STD", "--jobs", "4", "right"]);
    assert!(report.tests.len() >= 7);
    for found in &report.tests {
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
    }
}
