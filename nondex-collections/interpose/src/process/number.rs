//! The numbers of the process, of its parent and of its threads: other ones in every run, which no
//! choice controls.

use ::std::cell::Cell;
use ::std::ffi::c_long;
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::Source;

use crate::{clock, libc, system};

macro_rules! numbers {
    ($($name:ident $number:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() -> libc::pid_t {
            clock::note(Source::ProcessNumber);
            // SAFETY: the system call has no arguments.
            unsafe { system::call(libc::$number as c_long, [0; 6]) as libc::pid_t }
        }
    )*};
}

numbers! { getpid SYS_getpid getppid SYS_getppid }

/// Whether any thread asked for its number. Today's std does in the main thread, before any test.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether std is about to ask for the number of this thread.
    static BEGINS: Cell<bool> = const { Cell::new(false) };
}

/// Expects that std, where it asks for the number of the main thread, does for that of this one,
/// which begins.
pub(crate) fn thread_begins() {
    BEGINS.set(IS_ASKED.load(Ordering::Relaxed));
}

/// Std calls this in every thread that it starts, and to report a panic.
#[unsafe(no_mangle)]
unsafe extern "C" fn gettid() -> libc::pid_t {
    let is_first = !IS_ASKED.swap(true, Ordering::Relaxed);
    if !(BEGINS.take() || is_first || ::std::thread::panicking()) {
        clock::note(Source::ProcessNumber);
    }
    // SAFETY: the system call has no arguments.
    unsafe { system::call(libc::SYS_gettid as c_long, [0; 6]) as libc::pid_t }
}

/// Notes system calls for such a number.
pub(crate) fn note_call(number: c_long) {
    let numbers = [libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid];
    if numbers.contains(&(number as _)) {
        clock::note(Source::ProcessNumber);
    }
}
