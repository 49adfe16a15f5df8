//! Forked processes: a child gets its own identity, and finds the tool's locks unlocked.

use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::{arena, context, process_number};

use crate::libc;
use crate::{covered, directory, origin, schedule};

/// Registers the handlers before and after every `fork`, once. They must be registered before all
/// others: handlers before a fork run in reverse order, so the others run while the tool's locks
/// are free. If another handler waits for a thread, that thread may need these locks.
pub(crate) fn prepare() {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !IS_REGISTERED.swap(true, Ordering::Relaxed) {
        // SAFETY: the functions take no memory, do not block forever, and stay.
        unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
    }
}

unsafe extern "C" fn before() {
    schedule::child::before_fork();
    context::before_fork();
    // Locks that the child must find free, with consistent data under them.
    directory::before_fork();
    origin::before_fork();
    #[cfg(feature = "network")]
    crate::network::before_fork();
    // The arena comes last, because a thread may allocate while it holds one of the other locks.
    arena::before_fork();
}

unsafe extern "C" fn after() {
    arena::after_fork();
    #[cfg(feature = "network")]
    crate::network::after_fork();
    origin::after_fork();
    directory::after_fork();
}

unsafe extern "C" fn after_in_parent() {
    // SAFETY: the handlers run after the same `fork`.
    unsafe { after() };
    schedule::child::after_fork();
}

unsafe extern "C" fn after_in_child() {
    // SAFETY: the handlers run after the same `fork`.
    unsafe { after() };
    {
        // The test has not asked for its number.
        let _pause = context::pause();
        // Now, because the child may forbid this call later by a filter.
        process_number::of_system();
    }
    context::after_fork_in_child();
    schedule::life::after_fork_in_child();
    covered::after_fork_in_child();
}
