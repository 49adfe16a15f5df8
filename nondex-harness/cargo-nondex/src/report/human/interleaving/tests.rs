//! Tests of the text about an interleaving.

use nondex_core::{Caller, Model, Outcome, Site, model};

use super::*;
use crate::report::human::{Severity, Sources, View, Walkthrough, fixes};
use crate::report::schema::{CallReport, FailureReport, LaneReport, Line, NumberReport, Timing};

fn step(what: &str, line: Option<u32>, delay_ns: Option<u64>) -> LaneStepReport {
    LaneStepReport {
        lane: 0,
        what: what.to_owned(),
        file: line.map(|_| "src/lib.rs".to_owned()),
        line,
        found: None,
        left: None,
        waits: false,
        delay_ns,
        skipped: 0,
    }
}

/// Returns a suspected call of this family at a line of `src/lib.rs`.
pub(in crate::report::human) fn suspect(model: &Model, family: Family, line: u32) -> Culprit {
    Culprit::new(&Site::new(model, family, Caller { file: "src/lib.rs", line, column: 0 }))
}

/// Returns a culprit that delays the second thread at a line of `src/lib.rs`, by `by` nanoseconds.
pub(in crate::report::human) fn delayed(line: u32, by: u64) -> Culprit {
    Culprit {
        call: Some(CallReport { thread: "0.1".to_owned(), ordinal: 0, of: 1 }),
        number: Some(NumberReport { base: 0, value: by }),
        ..suspect(&model::THREAD_SPAWN, Family::Schedule, line)
    }
}

#[test]
fn threads_of_one_name_are_told_apart_by_when_they_are_started() {
    let mut test = TestReport::new("shop", "shop", "waits");
    let lane = |thread: &str, name: &str| LaneReport {
        thread: thread.to_owned(),
        name: Some(name.to_owned()),
    };
    test.interleaving = Some(InterleavingReport {
        threads: vec![lane("0.1", "pool"), lane("0.2", "pool"), lane("0.3", "log")],
        steps: Vec::new(),
        conflicts: Vec::new(),
        failed: None,
    });
    assert_eq!(named(&test, "0.1"), describe("0.1"));
    assert_eq!(named(&test, "0.3"), "thread `log`");
    let heads = Walkthrough::of(&test).unwrap().threads;
    assert_ne!(heads[0], heads[1]);
    assert_eq!(heads[2], "log");
}

#[test]
fn a_thread_that_begins_late_and_is_stopped_once_more_is_told_of_each_place_what_happens_there() {
    let mut test = TestReport::new("shop", "shop", "waits");
    test.interleaving = Some(InterleavingReport {
        threads: vec![LaneReport { thread: "0.1".to_owned(), name: None }],
        steps: vec![
            step("held back", None, Some(300)),
            step("Mutex::lock", Some(8), None),
            step("drop MutexGuard", Some(9), Some(500)),
            step("drop MutexGuard", Some(9), None),
        ],
        conflicts: Vec::new(),
        failed: Some(Line { file: "src/lib.rs".to_owned(), line: 12 }),
    });
    assert_eq!(stopped(&test, &delayed(3, 300)), Some(BEGINS));
    assert_eq!(stopped(&test, &delayed(9, 500)), Some("before it does this"));
    assert_eq!(called(&test, &delayed(9, 500)), Some("drop MutexGuard"));
    assert_eq!(stopped(&test, &delayed(7, 700)), None);
    // The run of the seed has more delays, and failed at another place.
    test.failures.push(FailureReport {
        file: Some("src/lib.rs".to_owned()),
        line: Some(20),
        ..FailureReport::clean(Outcome::Failed)
    });
    let end = Walkthrough::of(&test).unwrap().end;
    assert_eq!(end, "the test fails at src/lib.rs:12");
    // The delay is in a dependency, such as an executor. The thread has begun long before.
    let mut late = delayed(7, 300);
    late.family = Family::Time;
    assert_eq!(stopped(&test, &late), None);
    // Without debug information, no frame is known, and the culprit has the place of the test.
    (test.file, test.line) = (Some("src/lib.rs".to_owned()), Some(3));
    assert_eq!(stopped(&test, &delayed(3, 300)), None);
}

#[test]
fn a_walk_with_the_delay_that_a_test_needs_to_pass_ends_with_the_pass() {
    let mut test = TestReport::new("shop", "shop", "waits");
    let mut found = InterleavingReport {
        threads: vec![LaneReport { thread: "0.1".to_owned(), name: None }],
        steps: vec![step("wait", Some(9), Some(500)), step("wait", Some(9), None)],
        conflicts: Vec::new(),
        failed: None,
    };
    test.interleaving = Some(found.clone());
    let end = |test: &TestReport| Walkthrough::of(test).unwrap().end;
    let label = |test: &TestReport| super::super::timing::what_in(test, &delayed(9, 500)).unwrap();
    assert_eq!(end(&test), "the test fails");
    assert!(!label(&test).contains("passes"), "{}", label(&test));
    test.failures.push(FailureReport::clean(Outcome::Failed));
    assert_eq!(end(&test), "the test passes");
    assert!(label(&test).starts_with("the test passes if "), "{}", label(&test));
    // The clean run has no delay.
    found.steps.remove(0);
    test.interleaving = Some(found);
    assert_eq!(end(&test), "the test fails");
    assert!(Walkthrough::of(&test).unwrap().title().ends_with("in canonical order"));
}

#[test]
fn a_thread_that_is_held_back_in_a_dependency_is_not_said_to_begin_there() {
    let mut test = TestReport::new("shop", "shop", "waits");
    test.interleaving = Some(InterleavingReport {
        threads: vec![LaneReport { thread: "0.1".to_owned(), name: None }],
        // The outermost call is known, and it is not in the user's code.
        steps: vec![step("sys::thread_start", None, Some(300_000))],
        conflicts: Vec::new(),
        failed: None,
    });
    assert_eq!(stopped(&test, &delayed(62, 300_000)), None);
}

#[test]
fn who_has_nothing_to_do_with_it_after_the_delay_is_stopped_after_what_it_did_before() {
    let mut test = TestReport::new("shop", "shop", "waits");
    let lane = |thread: &str| LaneReport { thread: thread.to_owned(), name: None };
    let mut found = InterleavingReport {
        threads: vec![lane("0.1"), lane("0")],
        steps: vec![
            step("Sender::is_closed", Some(8), None),
            step("held back", Some(9), Some(500)),
            LaneStepReport { lane: 1, ..step("Receiver::poll", Some(20), None) },
            step("Sender::send", Some(8), None),
        ],
        conflicts: Vec::new(),
        failed: None,
    };
    let mut conflict = ConflictReport {
        object: "channel".to_owned(),
        before: Some(0),
        delay: 1,
        meanwhile: 2,
        after: None,
        sleep: None,
    };
    let said = sentence(&test, &found, &conflict);
    assert!(said.contains("is stopped after src/lib.rs:8: "), "{said}");
    conflict.after = Some(3);
    let said = sentence(&test, &found, &conflict);
    assert!(said.contains("is stopped at src/lib.rs:8: "), "{said}");
    found.steps[3].line = Some(10);
    let said = sentence(&test, &found, &conflict);
    let between = "is stopped between src/lib.rs:8 and src/lib.rs:10: ";
    assert!(said.contains(between), "{said}");
    found.conflicts.push(conflict);
    test.interleaving = Some(found);
    let sources = Sources::new("/nowhere".into(), None);
    let shown = [None, Some("0.1"), Some("0")].map(|stopped| {
        let view = View::brief(&sources);
        let mut diagnostic = Diagnostic::new(&view, Severity::Error, "ND", String::new());
        mark(&mut diagnostic, &test, stopped);
        diagnostic.marks().len()
    });
    assert_eq!(shown, [1, 1, 0], "a stopped thread does nothing meanwhile");
}

#[test]
fn a_thread_that_wakes_too_late_races_only_for_what_both_sides_name_and_nothing_else_decides() {
    let mut test = TestReport::new("shop", "shop", "waits");
    let lanes = ["0.1", "0.2"].map(|thread| LaneReport { thread: thread.to_owned(), name: None });
    let mut other = step("AtomicBool::load", Some(7), None);
    other.lane = 1;
    let conflict = |object: &str| ConflictReport {
        object: object.to_owned(),
        after: None,
        delay: 1,
        before: Some(2),
        meanwhile: 0,
        sleep: None,
    };
    let report = |object| InterleavingReport {
        threads: lanes.to_vec(),
        steps: vec![
            other.clone(),
            step("thread::sleep", Some(3), Some(5_000_000)),
            step("AtomicBool::store", Some(4), None),
        ],
        conflicts: vec![conflict(object)],
        failed: None,
    };
    let late = Culprit { family: Family::Time, ..delayed(3, 5_000_000) };
    let stopped = delayed(9, 2_000);
    let mut said = |object, culprits: &[&Culprit]| {
        test.interleaving = Some(report(object));
        test.culprits = culprits.iter().map(|culprit| (*culprit).clone()).collect();
        races(&test).is_some()
    };
    assert!(said("memory", &[&late]));
    assert!(said("lock", &[&stopped]));
    assert!(said("lock", &[&stopped, &stopped]));
    assert!(!said("lock", &[&late]));
    assert!(!said("memory", &[&late, &stopped]));
}

#[test]
fn a_delay_that_outlasts_a_sleep_of_another_thread_is_told_by_the_sleep() {
    let lane = |thread: &str| LaneReport { thread: thread.to_owned(), name: None };
    let of_test = |what, line| LaneStepReport { lane: 1, ..step(what, Some(line), None) };
    let conflict = |delay, meanwhile, sleep| ConflictReport {
        object: "memory".to_owned(),
        before: None,
        delay,
        meanwhile,
        after: Some(5),
        sleep,
    };
    let report = |first: u64, second: u64, sleep| InterleavingReport {
        threads: vec![lane("0.1"), lane("0")],
        steps: vec![
            step("held back", None, Some(first)),
            of_test("Sender::send", 2),
            step("held back", Some(9), Some(second)),
            of_test("thread::sleep", 3),
            of_test("AtomicBool::load", 4),
            step("AtomicBool::store", Some(9), None),
        ],
        conflicts: vec![conflict(0, 1, None), conflict(2, 4, sleep)],
        failed: None,
    };
    let mut test = TestReport::new("shop", "shop", "waits");
    test.reason = Some(Timing::Race);
    let mut shown = |first, second, sleep| {
        test.interleaving = Some(report(first, second, sleep));
        (slept(&test).and_then(|sleep| sleep.line), races(&test).unwrap())
    };
    // The longest delay decides, because its lines are shown.
    let (sleep, race) = shown(700, 5_000_000, Some(3));
    assert_eq!(sleep, Some(3));
    assert!(race.contains("src/lib.rs:4 and src/lib.rs:9"), "{race}");
    let (sleep, race) = shown(5_000_000, 700, Some(3));
    assert_eq!(sleep, None);
    assert!(race.contains("src/lib.rs:2 and src/lib.rs:9"), "{race}");
    assert_eq!(shown(5_000_000, 300_000, Some(3)).0, Some(3));
    // The delay does not outlast a sleep, or there is no sleep.
    assert_eq!(shown(700, 900, Some(3)).0, None);
    assert_eq!(shown(700, 5_000_000, None).0, None);
    test.culprits = vec![delayed(9, 5_000_000)];
    for (sleep, is_shown) in [(Some(3), true), (None, false)] {
        test.interleaving = Some(report(700, 5_000_000, sleep));
        let fix = fixes::of_threads(&test, Timing::Time).join("; ");
        assert_eq!(fix.contains("no sleep is long enough"), is_shown, "{fix}");
    }
}

#[test]
fn a_wait_whose_time_limit_ends_during_a_delay_is_the_cause() {
    let mut test = TestReport::new("shop", "shop", "waits");
    let lane = |thread: &str| LaneReport { thread: thread.to_owned(), name: None };
    let of_test = |what, line| LaneStepReport { lane: 1, ..step(what, Some(line), None) };
    let found = |object: &str, delay, wait| InterleavingReport {
        threads: vec![lane("0.1"), lane("0")],
        steps: vec![
            of_test("Receiver::recv_timeout", 3),
            step("held back", Some(9), Some(delay)),
            of_test(wait, 4),
            of_test("drop Receiver", 5),
            step("Sender::send", Some(9), None),
        ],
        conflicts: vec![ConflictReport {
            object: object.to_owned(),
            before: None,
            delay: 1,
            meanwhile: 3,
            after: Some(4),
            sleep: None,
        }],
        failed: None,
    };
    for (object, delay, wait, line) in [
        ("channel", 5_000_000, "Receiver::recv_timeout", Some(4)),
        ("lock", 5_000_000, "Timeout::poll", Some(4)),
        // A wait before the delay, a delay that no time limit would end in, and a conflict after a
        // wait for something else.
        ("channel", 5_000_000, "Receiver::recv", None),
        ("channel", 700, "Receiver::recv_timeout", None),
        ("memory", 5_000_000, "Receiver::recv_timeout", None),
    ] {
        test.interleaving = Some(found(object, delay, wait));
        assert_eq!(timed_out(&test).and_then(|wait| wait.line), line, "{object} {delay} {wait}");
        test.culprits = vec![delayed(9, delay)];
        let fix = fixes::of_threads(&test, Timing::Race).join("; ");
        assert_eq!(fix.contains("without a time limit"), line.is_some(), "{fix}");
    }
}
