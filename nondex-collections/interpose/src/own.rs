//! Decides whether an interposed function does more than call the original.
//!
//! It does not before the runtime is initialized, because until then memory may come from an
//! allocator that is about to serve its first request. Nor does it while the tool's own code runs
//! in this thread, which calls libc, too.

use ::std::cell::Cell;
use ::std::sync::atomic::{AtomicBool, Ordering};

static IS_INITIALIZED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_WORKING: Cell<bool> = const { Cell::new(false) };
}

/// Records that the runtime is initialized.
pub(crate) fn set_initialized() {
    IS_INITIALIZED.store(true, Ordering::Release);
}

/// Returns whether the runtime is initialized. It never is in a program that is only observed.
pub(crate) fn is_initialized() -> bool {
    IS_INITIALIZED.load(Ordering::Acquire)
}

/// Returns whether the tool's own code runs in this thread, in this library or in the engine.
#[inline]
pub(crate) fn is_working() -> bool {
    IS_WORKING.get() || nondex_core::context::is_own_work()
}

/// Returns a number of this thread that no other living thread has; not 0.
pub(crate) fn number() -> usize {
    IS_WORKING.with(|works| ::std::ptr::from_ref(works).addr())
}

/// Guard during which this thread runs the tool's own code.
pub(crate) struct Work(());

impl Drop for Work {
    fn drop(&mut self) {
        IS_WORKING.set(false);
    }
}

/// Starts the tool's own work in this thread. Returns `None` if the thread does not work for a
/// test, or is at such work already.
pub(crate) fn work() -> Option<Work> {
    if !is_initialized() || IS_WORKING.get() || nondex_core::context::level().is_none() {
        return None;
    }
    IS_WORKING.set(true);
    Some(Work(()))
}
