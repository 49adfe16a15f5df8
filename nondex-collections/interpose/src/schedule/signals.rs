//! Signals that a thread of the test sends to another one. They end the other's wait, as calls of
//! the kernel end with `EINTR`.
//!
//! A signal to the whole process does not: the system lets the harness's first thread handle it,
//! which is no thread of the test.

use ::std::ffi::c_int;
use ::std::sync::atomic::Ordering;

use super::descriptor::{call_takes_time, is_scheduled};
use super::shared::{IS_ON, SHARED};
use super::{Busy, kernel, me};
use crate::libc;

/// Makes a call that sends a signal to a thread, and ends the wait of that thread if it handles the
/// signal.
pub(crate) fn send(thread: libc::pthread_t, signal: c_int, next: impl FnOnce() -> c_int) -> c_int {
    if !is_scheduled() || signal == 0 {
        return next();
    }
    call_takes_time();
    let result = next();
    if result == 0 {
        interrupt(thread, signal);
    }
    result
}

fn interrupt(handle: libc::pthread_t, signal: c_int) {
    let Some(me) = me() else { return };
    let _busy = Busy::begin(me);
    let shared = SHARED.lock();
    let Some(thread) = shared.of_handle(handle).filter(|thread| !thread.is(me)) else { return };
    drop(shared);
    let Some(restarts) = kernel::restarts(signal) else { return };
    if kernel::blocks(thread.number.get(), signal) != Some(false) {
        return;
    }
    // The thread runs the handler at once, before it can return from its wait.
    let mut shared = SHARED.lock();
    if IS_ON.load(Ordering::Relaxed) {
        shared.machine.interrupt(thread.id, restarts);
    }
}
