//! Whether an interposed function is to do more than call the original.
//!
//! Not before the runtime stands: memory until then may come from an allocator that is about to
//! give out its first memory. And not while our own work goes on in this thread, which calls libc,
//! too.

use ::std::cell::Cell;
use ::std::sync::atomic::{AtomicBool, Ordering};

static STANDS: AtomicBool = AtomicBool::new(false);

thread_local! {
    static WORKS: Cell<bool> = const { Cell::new(false) };
}

/// Says that the runtime stands.
pub(crate) fn stands() {
    STANDS.store(true, Ordering::Release);
}

/// Whether the runtime stands, which it never does in a program that is only observed.
pub(crate) fn is_standing() -> bool {
    STANDS.load(Ordering::Acquire)
}

/// Whether our own work goes on in this thread, here or in the engine.
#[inline]
pub(crate) fn is_working() -> bool {
    WORKS.get() || nondex_core::context::is_own_work()
}

/// A number of this thread that no other one has while it lives; not 0.
pub(crate) fn number() -> usize {
    WORKS.with(|works| ::std::ptr::from_ref(works).addr())
}

/// Our own work in this thread, until it is dropped.
pub(crate) struct Work(());

impl Drop for Work {
    fn drop(&mut self) {
        WORKS.set(false);
    }
}

/// Begins our own work in this thread, if there is a test that it works for; `None` otherwise.
pub(crate) fn work() -> Option<Work> {
    if !is_standing() || WORKS.get() || nondex_core::context::level().is_none() {
        return None;
    }
    WORKS.set(true);
    Some(Work(()))
}
