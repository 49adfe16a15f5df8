//! Tests of reports on deadlocks.

use nondex_core::choice::hold::longest;
use nondex_core::{
    Family, ScheduleEnd, ScheduleEndKind, ScheduleRecord, Site, Trace, TracedOperation,
    TracedStack, TracedThread, WaitRecord,
};

use super::*;
use crate::judge::simulation::{frame, point};
use crate::report::schema::WaitCauseKind;

const WAITS: &str = "futex wait";

/// Creates the trace of a run in which one thread waits, and another one has notified at a line.
/// The notification comes before the wait if the run deadlocks.
fn trace(deadlocks: bool) -> Trace {
    let stack = |(function, line)| TracedStack {
        addresses: Vec::new(),
        frames: vec![
            frame(function, "library/std/src/sync.rs", 1),
            frame("app::test", "src/lib.rs", line),
        ],
    };
    let operation = |thread, stack, operation: &str| TracedOperation {
        thread,
        operation: operation.to_owned(),
        address: Some(0x10),
        stack,
        ..TracedOperation::default()
    };
    let notifies = TracedOperation { writes: true, ..operation(0, 0, "futex wake") };
    let waits = operation(1, 1, WAITS);
    // A passing run ends with the release of what the threads share, at the join.
    let releases = TracedOperation { writes: true, ..operation(0, 2, "fetch_sub") };
    Trace {
        threads: ["0", "0.0"].map(|path| TracedThread { path: path.to_owned(), name: None }).into(),
        stacks: [("Condvar::notify_one", 14), ("Condvar::wait", 12), ("JoinHandle::join", 15)]
            .map(stack)
            .into(),
        operations: if deadlocks { vec![notifies, waits] } else { vec![waits, notifies, releases] },
        ..Trace::default()
    }
}

/// Runs a test that deadlocks unless a thread is delayed.
fn deadlocks(spec: &RunSpec) -> Run {
    let passes = !(spec.is_clean() || spec.draws_all() && spec.seed() % 3 != 1);
    let site = Site { api: "std::thread::spawn".into(), family: Family::Schedule, ..site(1) };
    let wait = WaitRecord {
        thread: "0.0".to_owned(),
        operation: WAITS.to_owned(),
        stack: trace(true).stacks[1].frames.clone(),
        ..WaitRecord::default()
    };
    let end = ScheduleEnd { kind: ScheduleEndKind::Deadlock, waits: vec![wait] };
    Run {
        points: [PointRecord { count: 1, max_len: longest(spec.level()), ..point(site) }].into(),
        schedule: spec.is_scheduled().then(|| ScheduleRecord {
            threads: 2,
            end: (!passes).then_some(end),
            trace: (spec.operations() > 0).then(|| trace(!passes)),
            ..ScheduleRecord::default()
        }),
        ..run(passes, [])
    }
}

#[test]
fn a_deadlock_in_canonical_order_is_explained_by_the_run_that_deadlocks() {
    let (conclusion, evidence) = simulate(&options(), deadlocks);
    let mut runs = Runs::new(true, false);
    runs.together = evidence;
    let workspace = Workspace::new(env!("CARGO_MANIFEST_DIR").into());
    let judgement = Judgement::together(conclusion);
    let report = report(&suite(), &case("t"), &options(), &workspace, &runs, Some(&judgement));
    assert_eq!(report.verdict, Verdict::NonDeterministic, "{report:#?}");
    let waits = report.scheduled.expect("it was scheduled").waits;
    let cause = waits[0].cause.as_ref().expect("it is known");
    assert_eq!((cause.kind, cause.line), (WaitCauseKind::Notified, Some(14)));
    let steps = report.interleaving.expect("it is known").steps;
    let shown: Vec<_> = steps.iter().map(|step| (step.line, step.waits, step.delay_ns)).collect();
    assert_eq!(shown, [(Some(14), false, None), (Some(12), true, None)], "{steps:#?}");
}
