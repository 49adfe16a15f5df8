//! Processes that are forked: a child has its own identity, and finds what we share with it
//! unlocked.

use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::{arena, context, process_number};

use crate::libc;
use crate::{covered, directory, origin, schedule};

/// Registers what is done before and after every `fork`, once. It must come before all others do:
/// then they are called while our locks are free. Another thread that goes on while one of them
/// waits may need these.
pub(crate) fn prepare() {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !IS_REGISTERED.swap(true, Ordering::Relaxed) {
        // SAFETY: the functions take no memory, wait for nobody for ever, and stay.
        unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
    }
}

unsafe extern "C" fn before() {
    schedule::child::before_fork();
    context::before_fork();
    // The locks that the child is to find free, and what they protect whole.
    directory::before_fork();
    origin::before_fork();
    #[cfg(feature = "network")]
    crate::network::before_fork();
    // Last: the other locks may be held over a taking of memory.
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
    // SAFETY: it is called after the same `fork`.
    unsafe { after() };
    schedule::child::after_fork();
}

unsafe extern "C" fn after_in_child() {
    // SAFETY: it is called after the same `fork`.
    unsafe { after() };
    // Now, because the child may forbid the call.
    process_number::of_system();
    context::after_fork_in_child();
    schedule::life::after_fork_in_child();
    covered::after_fork_in_child();
}
