//! System numbers of the process, its parent and its threads. They differ in every run, and no
//! choice controls them.

use ::std::cell::Cell;
use ::std::ffi::c_long;
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::Source;

use crate::{clock, libc, system};

/// Returns a number by its system call.
pub(crate) fn by_call(call: c_long, _next: impl FnOnce() -> libc::pid_t) -> libc::pid_t {
    clock::note(Source::ProcessNumber);
    // SAFETY: the system call has no arguments.
    unsafe { system::call(call, [0; 6]) as libc::pid_t }
}

/// Whether any thread has requested its number. Today's std does so in the main thread, before any
/// test.
static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether std is about to request the number of this thread.
    static BEGINS: Cell<bool> = const { Cell::new(false) };
}

/// Expects std to request the number of this new thread, if it did so for the main thread.
pub(crate) fn thread_begins() {
    BEGINS.set(IS_REQUESTED.load(Ordering::Relaxed));
}

/// Returns the number of this thread. std calls this in every thread that it starts, and to report
/// a panic, which do not count as requests by the program.
pub(crate) fn of_thread(_next: impl FnOnce() -> libc::pid_t) -> libc::pid_t {
    let is_first = !IS_REQUESTED.swap(true, Ordering::Relaxed);
    if !(BEGINS.take() || is_first || ::std::thread::panicking()) {
        clock::note(Source::ProcessNumber);
    }
    // SAFETY: the system call has no arguments.
    unsafe { system::call(libc::SYS_gettid as c_long, [0; 6]) as libc::pid_t }
}

/// Records system calls for such a number.
pub(crate) fn note_call(number: c_long) {
    let numbers = [libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid];
    if numbers.contains(&(number as _)) {
        clock::note(Source::ProcessNumber);
    }
}
