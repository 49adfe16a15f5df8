//! Why a thread waits: which thread holds what it waits for, and where it was acquired.

use nondex_core::{Frame, Trace, TracedOperation};

use super::function::short;
use crate::report::schema::{WaitCause, WaitCauseKind};
use crate::report::{Workspace, trace};

/// Returns why the thread with this path waits in `call` at the end of a trace, if the operations
/// show it. `place` returns the line of the user that led to an operation.
pub(super) fn cause(
    trace: &Trace,
    path: &str,
    call: &str,
    workspace: &Workspace,
    place: impl Fn(&[Frame]) -> Option<(String, u32)>,
) -> Option<WaitCause> {
    let thread = trace.threads.iter().rposition(|known| known.path == path)? as u64;
    let last = trace.operations.iter().rposition(|operation| operation.thread == thread)?;
    let wait = &trace.operations[last];
    let cause_of = |kind: WaitCauseKind, of: &TracedOperation| {
        let frames = trace::frames(trace, of);
        let called = workspace.called(frames);
        let callee = called.last().filter(|_| called.len() < frames.len());
        let (file, line) = place(frames).unzip();
        WaitCause {
            kind,
            thread: path_of(trace, of.thread),
            what: callee
                .map(|frame| short(&frame.function))
                .filter(|what| !what.is_empty())
                .unwrap_or_else(|| of.operation.clone()),
            file,
            line,
        }
    };
    if let Some(other) = wait.other {
        return Some(WaitCause {
            kind: WaitCauseKind::Runs,
            thread: path_of(trace, other),
            what: wait.operation.clone(),
            file: None,
            line: None,
        });
    }
    let frames = trace::frames(trace, wait);
    let inner = workspace.called(frames);
    // A woken thread may wait inside `Condvar::wait` for the lock.
    let takes_lock = takes_lock_again(inner);
    if call.contains("Condvar") && !takes_lock {
        return notification(trace, last).map(|(kind, of)| cause_of(kind, of));
    }
    // Descriptors, channels, conditions of other crates and parked threads have no owner. A channel
    // counts its messages from 0, which looks like taking a lock.
    if matches!(&*wait.operation, "poll" | "read" | "write")
        || !takes_lock && inner.iter().any(|frame| frame.function.contains("Condvar"))
        || call.starts_with("mpsc")
        || call == "thread::park"
    {
        return None;
    }
    let here = workspace.nearest(frames);
    // The thread's operations in this call, the last one first.
    let own = trace.operations.iter().rev().filter(|of| of.thread == thread);
    let mut tried = own.take_while(|of| workspace.nearest(trace::frames(trace, of)) == here);
    // If the thread itself holds an object, it waits for that object only if the address is the
    // same. An executor holds other locks in the call in which it waits for work.
    let is_lock = inner.iter().any(is_of_lock);
    let is_waited_for =
        |of: &&TracedOperation| of.address == wait.address || is_lock && of.thread != thread;
    let holder = tried.find_map(|of| holder(trace, of.address?).filter(is_waited_for));
    holder.map(|of| cause_of(WaitCauseKind::Has, of))
}

/// Returns the last notification of the condition variable for which a thread waits since the
/// operation with this index, and what became of it. Returns `None` if it woke the thread, which
/// waits again.
fn notification(trace: &Trace, wait: usize) -> Option<(WaitCauseKind, &TracedOperation)> {
    let (before, since) = trace.operations.split_at(wait);
    let TracedOperation { thread, address, .. } = since[0];
    address?;
    let is_own_wait = |of: &TracedOperation| of.address == address && of.operation == "futex wait";
    let wakes = |of: &&TracedOperation| {
        of.thread != thread && of.address == address && of.operation == "futex wake"
    };
    if !is_own_wait(&since[0]) {
        return None;
    }
    // The thread was waiting then and still is, so another waiting thread was chosen.
    if let Some(other) = since.iter().rev().find(wakes) {
        return Some((WaitCauseKind::Another, other));
    }
    let last = before.iter().rposition(|of| wakes(&of))?;
    let earlier = before[..last].iter().rev().find(|of| of.thread == thread);
    let was_woken = earlier.is_some_and(is_own_wait);
    (!was_woken).then_some((WaitCauseKind::Notified, &before[last]))
}

/// Returns whether a call inside a wait for a condition variable takes the lock. The innermost
/// frame that names a condition or a lock decides.
fn takes_lock_again(inner: &[Frame]) -> bool {
    let is_named = |frame: &&Frame, name| frame.function.contains(name);
    let first = inner.iter().find(|frame| is_named(frame, "Condvar") || is_named(frame, "Mutex"));
    first.is_some_and(|frame| !is_named(&frame, "Condvar"))
        && inner.iter().any(|frame| is_named(&frame, "Condvar"))
}

/// Returns whether a function takes a lock, or waits for an initialisation: `RawMutex::lock_slow`,
/// `RwLock::write`, `Once::call`, but not `block_on` and `FnOnce::call_once`.
fn is_of_lock(frame: &Frame) -> bool {
    let mut parts = frame.function.split("::");
    parts.any(|part| {
        let is_named = |name: &&str| part.contains(name);
        part.starts_with("lock")
            || part == "Once"
            || ["Mutex", "RwLock", "OnceLock", "OnceCell"].iter().any(is_named)
    })
}

/// Returns the operation that acquired the object at an address, unless the object was released
/// since. The operation changed it from 0, which means free, to another value.
fn holder(trace: &Trace, address: u64) -> Option<&TracedOperation> {
    let mut holder = None;
    for operation in &trace.operations {
        if operation.address != Some(address) {
            continue;
        }
        match (operation.found, operation.left) {
            (_, Some(0)) => holder = None,
            (Some(0), Some(_)) => holder = Some(operation),
            _ => {}
        }
    }
    holder
}

fn path_of(trace: &Trace, thread: u64) -> String {
    let thread = trace::thread(trace, thread);
    thread.map_or_else(String::new, |thread| thread.path.clone())
}

#[cfg(test)]
mod tests {
    use nondex_core::{TracedStack, TracedThread};

    use super::*;
    use crate::judge::simulation::frame;

    /// An operation on a lock: thread, line, operation, address, value read and value written.
    type Of<'a> = (u64, u32, &'a str, u64, Option<u64>, Option<u64>);

    /// Creates a trace of operations of three threads.
    fn trace(operations: &[Of<'_>]) -> Trace {
        let lock = "std::sync::poison::mutex::Mutex<T>::lock";
        let stack = |&(_, line, ..): &Of<'_>| TracedStack {
            addresses: Vec::new(),
            frames: vec![
                frame(lock, "library/std/src/sync.rs", line),
                frame("app::take", "app-1.0.0/src/lib.rs", line),
            ],
        };
        let done = operations.iter().enumerate().map(|(stack, &operation)| {
            let (thread, _, operation, address, found, left) = operation;
            TracedOperation {
                thread,
                operation: operation.to_owned(),
                writes: left.is_some(),
                address: Some(address),
                found,
                left,
                stack: stack as u64,
                ..TracedOperation::default()
            }
        });
        Trace {
            threads: ["0", "0.0", "0.1"]
                .map(|path| TracedThread { path: path.to_owned(), name: None })
                .into(),
            stacks: operations.iter().map(stack).collect(),
            operations: done.collect(),
            ..Trace::default()
        }
    }

    fn of(trace: &Trace, path: &str, call: &str) -> Option<(WaitCauseKind, String, Option<u32>)> {
        let workspace = Workspace::new("/nowhere".into());
        let cause = cause(trace, path, call, &workspace, |frames| workspace.nearest(frames))?;
        Some((cause.kind, cause.thread, cause.line))
    }

    const TAKE: &str = "compare_exchange";

    #[test]
    fn who_took_a_lock_and_has_not_given_it_free_is_named() {
        let (a, b) = (0x10, 0x20);
        let trace = trace(&[
            (1, 3, TAKE, a, Some(0), Some(1)),
            (1, 4, "swap", a, Some(1), Some(0)),
            (0, 5, TAKE, a, Some(0), Some(1)),
            (1, 7, TAKE, b, Some(0), Some(1)),
            (0, 6, TAKE, b, Some(1), None),
            (0, 6, "swap", b, Some(1), Some(2)),
            (0, 6, "futex wait", b, None, None),
            (1, 8, TAKE, a, Some(1), None),
            (1, 8, "futex wait", a, None, None),
        ]);
        let has = |thread: &str, line| Some((WaitCauseKind::Has, thread.to_owned(), Some(line)));
        assert_eq!(of(&trace, "0", "Mutex::lock"), has("0.0", 7));
        assert_eq!(of(&trace, "0.0", "Mutex::lock"), has("0", 5));
    }

    #[test]
    fn a_thread_that_waits_for_itself_is_named_and_one_that_waits_for_nobody_is_not() {
        let own = trace(&[
            (0, 5, TAKE, 0x10, Some(0), Some(1)),
            (0, 6, TAKE, 0x10, Some(1), None),
            (0, 6, "futex wait", 0x10, None, None),
        ]);
        let itself = Some((WaitCauseKind::Has, "0".to_owned(), Some(5)));
        assert_eq!(of(&own, "0", "Mutex::lock"), itself);
        let nobody = trace(&[(0, 6, "futex wait", 0x10, None, None)]);
        assert_eq!(of(&nobody, "0", "Mutex::lock"), None);
        assert_eq!(of(&nobody, "0.7", "Mutex::lock"), None);
    }

    #[test]
    fn who_waits_for_a_descriptor_or_for_work_does_not_wait_for_what_it_keeps() {
        for wait in ["poll", "futex wait"] {
            let keeps =
                trace(&[(0, 6, TAKE, 0x10, Some(0), Some(1)), (0, 6, wait, 0x20, None, None)]);
            assert_eq!(of(&keeps, "0", wait), None, "{wait}");
        }
        let other = trace(&[
            (1, 3, TAKE, 0x10, Some(0), Some(1)),
            (0, 6, TAKE, 0x10, Some(1), None),
            (0, 6, "read", 0x20, None, None),
        ]);
        assert_eq!(of(&other, "0", "read"), None);
    }

    #[test]
    fn who_waits_for_a_condition_of_another_crate_does_not_wait_for_a_lock() {
        let mut trace =
            trace(&[(1, 3, TAKE, 0x20, Some(0), Some(1)), (0, 6, "futex wait", 0x20, None, None)]);
        assert!(of(&trace, "0", "futex wait").is_some());
        let wait = &mut trace.stacks[1].frames[0];
        "parking_lot::condvar::Condvar::wait_until_internal".clone_into(&mut wait.function);
        assert_eq!(of(&trace, "0", "futex wait"), None);
        // Only a thread that takes a lock waits for the owner of what it has tried before.
        let mut tried = self::trace(&[
            (1, 3, TAKE, 0x10, Some(0), Some(1)),
            (0, 6, TAKE, 0x10, Some(1), None),
            (0, 6, "futex wait", 0x20, None, None),
        ]);
        assert!(of(&tried, "0", "futex wait").is_some());
        for other in ["tokio::runtime::park::Inner::block_on", "core::ops::FnOnce::call_once"] {
            other.clone_into(&mut tried.stacks[2].frames[0].function);
            assert_eq!(of(&tried, "0", "futex wait"), None, "{other}");
        }
        "std::sync::once::Once::call".clone_into(&mut tried.stacks[2].frames[0].function);
        assert!(of(&tried, "0", "futex wait").is_some());
    }

    #[test]
    fn who_waits_for_a_channel_does_not_wait_for_the_thread_that_used_it_first() {
        let trace = trace(&[
            (0, 3, TAKE, 0x10, Some(0), Some(2)),
            (1, 6, TAKE, 0x10, Some(2), None),
            (1, 6, "futex wait", 0x20, None, None),
        ]);
        for call in ["mpsc::SyncSender::send", "mpsc::Receiver::recv", "thread::park"] {
            assert_eq!(of(&trace, "0.0", call), None, "{call}");
        }
        let lock = Some((WaitCauseKind::Has, "0".to_owned(), Some(3)));
        assert_eq!(of(&trace, "0.0", "Mutex::lock"), lock);
    }

    /// Creates a trace of operations on a condition variable.
    fn on_condition(operations: &[Of<'_>]) -> Trace {
        let mut trace = trace(operations);
        for stack in &mut trace.stacks {
            "std::sync::poison::condvar::Condvar::wait".clone_into(&mut stack.frames[0].function);
        }
        trace
    }

    const WAITS: &str = "futex wait";
    const WAKES: &str = "futex wake";

    #[test]
    fn a_notification_that_came_before_the_wait_is_told() {
        let trace =
            on_condition(&[(1, 3, WAKES, 0x10, None, None), (0, 6, WAITS, 0x10, None, None)]);
        let notified = Some((WaitCauseKind::Notified, "0.0".to_owned(), Some(3)));
        assert_eq!(of(&trace, "0", "Condvar::wait"), notified);
    }

    #[test]
    fn what_is_no_notification_of_the_condition_is_not_told_as_one() {
        for before in [
            // The release of a reference that had the address before, and another condition.
            (1, 3, "fetch_sub", 0x10, Some(2), Some(1)),
            (1, 3, WAKES, 0x20, None, None),
            // The thread's own one.
            (0, 3, WAKES, 0x10, None, None),
        ] {
            let trace = on_condition(&[before, (0, 6, WAITS, 0x10, None, None)]);
            assert_eq!(of(&trace, "0", "Condvar::wait"), None, "{before:?}");
        }
    }

    #[test]
    fn a_notification_during_two_waits_is_told_of_the_thread_that_it_did_not_wake() {
        let trace = on_condition(&[
            (0, 5, WAITS, 0x10, None, None),
            (1, 6, WAITS, 0x10, None, None),
            (2, 7, WAKES, 0x10, None, None),
            (0, 5, "load", 0x30, Some(0), None),
            (0, 5, WAITS, 0x10, None, None),
        ]);
        let other = Some((WaitCauseKind::Another, "0.1".to_owned(), Some(7)));
        assert_eq!(of(&trace, "0.0", "Condvar::wait"), other);
        // The notification was not lost for the other thread, which found its condition false.
        assert_eq!(of(&trace, "0", "Condvar::wait"), None);
    }

    #[test]
    fn a_woken_thread_that_takes_the_lock_again_waits_for_its_owner() {
        let mut trace = on_condition(&[
            (0, 5, WAITS, 0x10, None, None),
            (1, 6, TAKE, 0x20, Some(0), Some(1)),
            (1, 7, WAKES, 0x10, None, None),
            (0, 5, TAKE, 0x20, Some(1), None),
            (0, 5, WAITS, 0x20, None, None),
        ]);
        let lock = frame("std::sys::sync::mutex::futex::Mutex::lock_contended", "library/x.rs", 1);
        trace.stacks[4].frames.insert(0, lock);
        let owner = Some((WaitCauseKind::Has, "0.0".to_owned(), Some(6)));
        assert_eq!(of(&trace, "0", "Condvar::wait"), owner);
    }
}
