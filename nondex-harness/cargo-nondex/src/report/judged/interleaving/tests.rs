//! Tests with handwritten traces.

use std::fs;

use camino::Utf8PathBuf;
use nondex_core::{Family, Site, TracedOperation, TracedStack, TracedThread};

use super::*;
use crate::judge::simulation::frame;
use crate::report::schema::CallReport;

/// Creates a workspace with one file.
fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/lib.rs"), "").unwrap();
    (folder, Workspace::new(root))
}

/// Creates a trace of two threads. Each operation has its thread, the user's line, the function
/// called there, and the operation itself.
fn trace(operations: &[(u64, u32, &str, TracedOperation)]) -> Trace {
    let stacks = operations.iter().map(|(_, line, function, _)| TracedStack {
        addresses: Vec::new(),
        frames: vec![
            frame(function, "library/std/src/sync.rs", 1),
            frame("app::test", "src/lib.rs", *line),
        ],
    });
    let traced =
        operations.iter().enumerate().map(|(stack, (thread, _, _, operation))| TracedOperation {
            thread: *thread,
            stack: stack as u64,
            time: stack as u64 * 100,
            ..operation.clone()
        });
    let thread = |path: &str, name: Option<&str>| TracedThread {
        path: path.to_owned(),
        name: name.map(str::to_owned),
    };
    Trace {
        threads: vec![thread("0", None), thread("0.0", Some("worker"))],
        stacks: stacks.collect(),
        names: vec!["file:config".to_owned()],
        operations: traced.collect(),
        skipped: 0,
    }
}

fn load(address: u64, found: u64) -> TracedOperation {
    TracedOperation {
        operation: "load".to_owned(),
        address: Some(address),
        found: Some(found),
        ..TracedOperation::default()
    }
}

fn store(address: u64, left: u64) -> TracedOperation {
    TracedOperation {
        operation: "store".to_owned(),
        writes: true,
        address: Some(address),
        left: Some(left),
        ..TracedOperation::default()
    }
}

fn held(length: u64) -> TracedOperation {
    TracedOperation {
        operation: "held back".to_owned(),
        length: Some(length),
        ..TracedOperation::default()
    }
}

const LOAD: &str = "core::sync::atomic::AtomicUsize::load";
const STORE: &str = "core::sync::atomic::AtomicUsize::store";

#[test]
fn the_access_of_the_other_thread_that_comes_between_two_of_the_delayed_one_is_found() {
    let (_folder, workspace) = workspace();
    let own = 0x30;
    let trace = trace(&[
        (0, 5, LOAD, load(own, 0)),
        (0, 7, LOAD, load(0x10, 0)),
        (0, 8, STORE, held(300)),
        (1, 7, LOAD, load(0x10, 0)),
        (1, 9, STORE, store(0x20, 1)),
        (1, 8, STORE, store(0x10, 1)),
        (0, 8, STORE, store(0x10, 1)),
        (0, 9, LOAD, load(0x20, 1)),
    ]);
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    let [conflict] = &found.conflicts[..] else {
        panic!("{found:#?}");
    };
    let line = |step: usize| (found.steps[step].lane, found.steps[step].line.unwrap());
    assert_eq!(conflict.object, "memory");
    assert_eq!(conflict.before.map(line), Some((0, 7)));
    assert_eq!(found.steps[conflict.delay].delay_ns, Some(300));
    assert_eq!(line(conflict.meanwhile), (1, 8));
    assert_eq!(conflict.after.map(line), Some((0, 8)));
    let lines: Vec<_> = (0..found.steps.len()).map(line).collect();
    assert!(!lines.contains(&(0, 5)), "what one thread uses alone is not shown: {lines:?}");
    assert_eq!(found.threads[1].name.as_deref(), Some("worker"));
}

#[test]
fn what_is_done_before_the_delayed_thread_comes_to_it_is_a_conflict_of_order() {
    let (_folder, workspace) = workspace();
    let trace = trace(&[
        (1, 3, STORE, held(10_000_000)),
        (0, 7, LOAD, load(0x10, 0)),
        (1, 4, STORE, store(0x10, 1)),
    ]);
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    let conflict = &found.conflicts[0];
    assert_eq!(conflict.before, None);
    assert_eq!(found.steps[conflict.meanwhile].line, Some(7));
    assert_eq!(found.steps[conflict.meanwhile].found, Some(0));
    assert_eq!(found.steps[conflict.after.unwrap()].line, Some(4));
}

#[test]
fn a_thread_that_is_started_late_races_and_not_what_its_starter_does_after_both() {
    const SPAWN: &str = "std::thread::functions::spawn";
    let (_folder, workspace) = workspace();
    let spawn = |other| TracedOperation {
        operation: "spawn".to_owned(),
        other: Some(other),
        ..TracedOperation::default()
    };
    let mut trace = trace(&[
        (0, 3, SPAWN, spawn(1)),
        (0, 4, SPAWN, held(300)),
        (1, 7, STORE, store(0x10, 1)),
        (0, 4, SPAWN, spawn(2)),
        (2, 8, STORE, store(0x10, 2)),
        (0, 9, LOAD, load(0x10, 2)),
    ]);
    trace.threads.push(TracedThread { path: "0.1".to_owned(), name: None });
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    let line = |step: usize| (found.steps[step].lane, found.steps[step].line.unwrap());
    let [conflict] = &found.conflicts[..] else { panic!("{found:#?}") };
    assert_eq!((conflict.before, line(conflict.meanwhile)), (None, (1, 7)));
    assert_eq!(conflict.after.map(line), Some((2, 8)));
}

#[test]
fn of_several_conflicts_the_one_at_the_line_that_fails_comes_first() {
    let (_folder, workspace) = workspace();
    let trace = trace(&[
        (1, 3, STORE, held(100)),
        (0, 5, STORE, store(0x20, 1)),
        (1, 4, LOAD, load(0x20, 1)),
        (1, 6, STORE, held(200)),
        (0, 7, LOAD, load(0x10, 0)),
        (1, 6, STORE, store(0x10, 1)),
    ]);
    for (failing, expected) in [(7, [7, 5]), (9, [5, 7])] {
        let failed = TraceEnd::Failed(Some(("src/lib.rs", failing)));
        let found = report(&trace, failed, &workspace).unwrap();
        let conflicts = found.conflicts.iter();
        let others = conflicts.map(|conflict| found.steps[conflict.meanwhile].line.unwrap());
        assert_eq!(others.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_the_other_thread_uses_explains_more_than_what_it_drops() {
    let (_folder, workspace) = workspace();
    let trace = trace(&[
        (1, 3, STORE, held(100)),
        (0, 5, LOAD, load(0x10, 0)),
        (0, 6, "core::mem::drop", store(0x20, 1)),
        (1, 4, LOAD, load(0x20, 1)),
        (1, 7, STORE, store(0x10, 1)),
    ]);
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    let conflict = &found.conflicts[0];
    assert_eq!(found.steps[conflict.meanwhile].line, Some(5));
    assert_eq!(found.steps[conflict.after.unwrap()].line, Some(7));
}

#[test]
fn what_the_test_fails_at_is_shown_though_nobody_changes_it() {
    let (_folder, workspace) = workspace();
    let sleep = TracedOperation { operation: "sleep".to_owned(), ..TracedOperation::default() };
    let trace = trace(&[
        (1, 3, STORE, held(10_000_000)),
        (0, 7, LOAD, load(0x10, 0)),
        (1, 4, "std::thread::functions::sleep", sleep),
        (0, 8, LOAD, load(0x10, 0)),
        (0, 9, LOAD, load(0x10, 0)),
    ]);
    let failed = TraceEnd::Failed(Some(("src/lib.rs", 8)));
    let found = report(&trace, failed, &workspace).unwrap();
    let lines: Vec<_> = found.steps.iter().map(|step| step.line.unwrap()).collect();
    assert_eq!(lines, [3, 7, 4, 8]);
}

#[test]
fn who_waits_for_a_condition_does_something_to_its_lock_too() {
    const LOCK: &str = "std::sync::poison::mutex::Mutex<T>::lock";
    const WAIT: &str = "std::sync::poison::condvar::Condvar::wait";
    let (_folder, workspace) = workspace();
    let object_of = |next: &str| {
        let trace = trace(&[
            (0, 5, next, held(300)),
            (1, 9, WAIT, store(0x10, 0)),
            (0, 5, next, store(0x10, 1)),
        ]);
        let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
        found.conflicts[0].object.clone()
    };
    assert_eq!(object_of(LOCK), "lock");
    assert_eq!(object_of(WAIT), "condition");
}

#[test]
fn a_lock_of_c_is_waited_for_only_by_the_thread_that_did_not_find_it_free() {
    let (_folder, workspace) = workspace();
    let of_c = |operation: &str| TracedOperation {
        operation: operation.to_owned(),
        address: Some(0x10),
        ..TracedOperation::default()
    };
    let trace = trace(&[
        (0, 5, "", held(300)),
        (1, 3, "", of_c("pthread lock")),
        (0, 5, "", of_c("pthread lock")),
        (0, 5, "", of_c("pthread wait")),
        (1, 4, "", of_c("pthread wake")),
    ]);
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    let lanes = found.steps.iter().skip(1).map(|step| (step.line.unwrap(), step.waits));
    assert_eq!(lanes.collect::<Vec<_>>(), [(3, false), (5, false), (5, true), (4, false)]);
    assert_eq!(found.conflicts[0].object, "lock");
}

#[test]
fn what_a_global_allocator_does_explains_less_than_what_the_test_does() {
    const LOCK: &str = "std::sync::poison::mutex::Mutex<T>::lock";
    let (_folder, workspace) = workspace();
    let mut trace = trace(&[
        (0, 2, LOCK, store(0x20, 1)),
        (0, 5, LOCK, held(300)),
        (1, 2, LOCK, store(0x20, 1)),
        (1, 7, LOCK, store(0x10, 1)),
        (0, 2, LOCK, store(0x20, 1)),
        (0, 5, LOCK, store(0x10, 1)),
    ]);
    for stack in [0, 2, 4] {
        let allocator = "<app::Counting as core::alloc::global::GlobalAlloc>::alloc";
        trace.stacks[stack].frames[1].function = allocator.to_owned();
    }
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    let meanwhile = found.conflicts[0].meanwhile;
    assert_eq!(found.steps[meanwhile].line, Some(7));
}

#[test]
fn two_readers_and_what_nobody_delays_are_no_conflict() {
    let (_folder, workspace) = workspace();
    let reading =
        [(1, 3, LOAD, held(100)), (0, 7, LOAD, load(0x10, 0)), (1, 4, LOAD, load(0x10, 0))];
    let found = report(&trace(&reading), TraceEnd::Failed(None), &workspace).unwrap();
    assert_eq!(found.conflicts, []);
    assert_eq!(report(&trace(&reading[1..]), TraceEnd::Failed(None), &workspace), None);
}

#[test]
fn the_file_that_two_threads_use_is_named() {
    let (_folder, workspace) = workspace();
    let on = |operation: &str, writes| TracedOperation {
        operation: operation.to_owned(),
        writes,
        name: Some(0),
        ..TracedOperation::default()
    };
    let trace = trace(&[
        (1, 3, "std::fs::write", on("change", true)),
        (1, 3, "std::fs::write", held(300)),
        (0, 7, "std::fs::read_to_string", on("read", false)),
        (1, 3, "std::fs::write", on("write", true)),
    ]);
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    assert_eq!(found.conflicts[0].object, "file:config");
    let meanwhile = &found.steps[found.conflicts[0].meanwhile];
    assert_eq!(meanwhile.what, "fs::read_to_string");
}

#[test]
fn what_the_test_does_while_it_unwinds_is_no_part_of_why_it_failed() {
    const DROP: &str = "drop Guard";
    let (_folder, workspace) = workspace();
    let unwinding = |operation: TracedOperation| TracedOperation { unwinds: true, ..operation };
    let trace = trace(&[
        (1, 20, LOAD, load(0x10, 0)),
        (1, 20, LOAD, held(300)),
        (0, 7, LOAD, load(0x20, 0)),
        (0, 7, DROP, unwinding(store(0x10, 1))),
        (1, 21, LOAD, load(0x10, 1)),
        (1, 21, STORE, store(0x20, 1)),
    ]);
    let found = report(&trace, TraceEnd::Failed(Some(("src/lib.rs", 7))), &workspace).unwrap();
    assert!(found.conflicts.is_empty(), "{found:#?}");
    let shown: Vec<_> = found.steps.iter().map(|step| step.line.unwrap()).collect();
    assert_eq!(shown, [20, 20, 7], "{found:#?}");
}

#[test]
fn a_function_within_std_that_reads_the_clock_is_not_named() {
    let (_folder, workspace) = workspace();
    let clock = || TracedOperation { operation: "clock".to_owned(), ..TracedOperation::default() };
    let mut trace = trace(&[
        (0, 3, "std::sys::pal::unix::time::Timespec::now", clock()),
        (0, 4, "std::time::Instant::elapsed", held(300)),
        (0, 4, "std::time::Instant::elapsed", clock()),
    ]);
    trace.threads.pop();
    let found = report(&trace, TraceEnd::Failed(None), &workspace).unwrap();
    let calls: Vec<_> = found.steps.iter().map(|step| step.what.as_str()).collect();
    assert_eq!(calls, ["clock", "Instant::elapsed", "Instant::elapsed"]);
}

#[test]
fn a_culprit_in_a_dependency_has_the_users_line_that_its_thread_comes_to() {
    let (_folder, workspace) = workspace();
    let step = |lane: usize, line: Option<u32>| LaneStepReport {
        lane,
        what: "load".to_owned(),
        file: line.map(|_| "src/lib.rs".to_owned()),
        line,
        found: None,
        left: None,
        waits: false,
        delay_ns: None,
        skipped: 0,
    };
    let lane = |thread: &str| LaneReport { thread: thread.to_owned(), name: None };
    let found = |after: Option<usize>| InterleavingReport {
        failed: None,
        threads: vec![lane("0"), lane("0.0")],
        steps: vec![step(1, None), step(0, Some(7)), step(1, Some(9))],
        conflicts: vec![ConflictReport {
            object: "memory".to_owned(),
            before: None,
            delay: 0,
            meanwhile: 1,
            after,
            sleep: None,
        }],
    };
    let site = |file: &str| Site {
        api: "thread".to_owned(),
        family: Family::Schedule,
        file: file.to_owned(),
        line: 100,
        column: 0,
    };
    let culprit = |file: &str| Culprit {
        call: Some(CallReport { thread: "0.0".to_owned(), ordinal: 0, of: 1 }),
        ..Culprit::new(&site(file))
    };
    for (file, after, expected) in [
        ("tokio-1.2.3/src/runtime/park.rs", Some(2), Some(9)),
        ("tokio-1.2.3/src/runtime/park.rs", None, Some(7)),
        ("src/lib.rs", Some(2), None),
    ] {
        let mut culprits = [culprit(file)];
        name_lines(&mut culprits, &found(after), &workspace);
        assert_eq!(culprits[0].user_line, expected, "{file}");
    }
}

#[test]
fn the_sleep_from_which_the_other_thread_comes_is_known_unless_it_waits_in_between() {
    let (_folder, workspace) = workspace();
    let plain = |operation: &str| TracedOperation {
        operation: operation.to_owned(),
        ..TracedOperation::default()
    };
    let sleep_of = |between: &[(u64, u32, &str, TracedOperation)], delay_first: bool| {
        let delay = (1, 9, STORE, held(5_000_000));
        let sleep = (0, 3, "std::thread::sleep", plain("sleep"));
        let mut all = if delay_first { vec![delay, sleep] } else { vec![sleep, delay] };
        all.extend_from_slice(between);
        all.extend([(0, 4, LOAD, load(0x10, 0)), (1, 9, STORE, store(0x10, 1))]);
        let found = report(&trace(&all), TraceEnd::Failed(None), &workspace).unwrap();
        found.conflicts[0].sleep.and_then(|at| found.steps[at].line)
    };
    assert_eq!(sleep_of(&[], true), Some(3));
    assert_eq!(sleep_of(&[], false), Some(3));
    assert_eq!(sleep_of(&[(0, 5, LOAD, load(0x10, 0))], true), Some(3));
    assert_eq!(sleep_of(&[(0, 5, "std::sync::Barrier::wait", plain("futex wait"))], true), None);
}
