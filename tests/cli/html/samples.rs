//! Hand-written findings about threads and test orders.

use cargo_nondex::report::schema::{
    ConflictReport, InterleavingReport, LaneReport, LaneStepReport, Line, Order, Scheduled,
    SharedState, Timing, WaitCause, WaitCauseKind, WaitReport, WrittenLine,
};
use cargo_nondex::report::{FailureReport, TestReport, Verdict};
use nondex_core::{Family, Kind, Level};

use crate::sample::{culprit, failure, test};

/// Returns a race of two threads for one lock.
pub(super) fn race() -> TestReport {
    let step = |lane, what: &str, line, delay_ns| LaneStepReport {
        lane,
        what: what.to_owned(),
        file: Some("src/lib.rs".to_owned()),
        line: Some(line),
        found: None,
        left: None,
        waits: false,
        delay_ns,
        skipped: 0,
    };
    let lane = |thread: &str, name: &str| LaneReport {
        thread: thread.to_owned(),
        name: Some(name.to_owned()),
    };
    let mut delay = culprit("std::thread::spawn", Family::Schedule, ("src/lib.rs", 7, 0));
    delay.kind = Kind::Extend;
    TestReport {
        reason: Some(Timing::Race),
        weakest_level: Some(Level::Std),
        culprits: vec![delay],
        failures: vec![failure(Some(Level::Std), Some(3), "left != right")],
        failure_rate: [(Level::Std, [1, 10])].into(),
        interleaving: Some(InterleavingReport {
            threads: vec![lane("0.0", "fills"), lane("0.1", "empties")],
            steps: vec![
                step(0, "Mutex::lock", 7, None),
                step(0, "held back", 7, Some(500)),
                step(1, "Mutex::lock", 8, None),
                step(0, "Mutex::lock", 9, None),
            ],
            conflicts: vec![ConflictReport {
                object: "lock".to_owned(),
                before: Some(0),
                delay: 1,
                meanwhile: 2,
                after: Some(3),
                sleep: None,
            }],
            failed: None,
        }),
        ..test("tills", Verdict::NonDeterministic)
    }
}

/// Returns a deadlock of two threads.
pub(super) fn deadlock() -> TestReport {
    let wait = |thread: &str, other: &str, line| WaitReport {
        thread: thread.to_owned(),
        name: None,
        operation: "Mutex::lock".to_owned(),
        on: Some(1),
        file: Some("src/lib.rs".to_owned()),
        line: Some(line),
        cause: Some(WaitCause {
            kind: WaitCauseKind::Has,
            thread: other.to_owned(),
            what: "Mutex::lock".to_owned(),
            file: Some("src/lib.rs".to_owned()),
            line: Some(6),
        }),
        ..WaitReport::default()
    };
    TestReport {
        reason: Some(Timing::Race),
        failures: vec![failure(Some(Level::Std), Some(3), "deadlock")],
        scheduled: Some(Scheduled {
            end: Some("deadlock".to_owned()),
            waits: vec![wait("0.0", "0.1", 7), wait("0.1", "0.0", 8)],
            ..Scheduled::default()
        }),
        ..test("waits", Verdict::NonDeterministic)
    }
}

/// Returns a test that fails after another one.
pub(super) fn victim() -> TestReport {
    let state = SharedState {
        kind: "static".to_owned(),
        name: "shop::OPEN".to_owned(),
        written: Some(WrittenLine {
            file: "src/lib.rs".to_owned(),
            line: 6,
            test: "opens".to_owned(),
        }),
        read: Some(Line { file: "src/lib.rs".to_owned(), line: 20 }),
        confirmed: true,
        ..SharedState::default()
    };
    let failed =
        FailureReport { before: vec!["opens".to_owned()], ..failure(None, None, "it is open") };
    TestReport {
        order: Some(Order {
            polluters: vec!["opens".to_owned()],
            sets: vec![vec!["opens".to_owned()]],
            state: vec![state],
            ..Order::default()
        }),
        failures: vec![failed],
        ..test("is_closed", Verdict::OrderDependentVictim)
    }
}
