//! The numbers of the process, of its parent and of its threads: other ones in every run, which no
//! choice controls.
//!
//! `gettid` is not here: std calls it in every thread that starts.

use ::std::ffi::c_long;

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

/// Notes system calls for such a number.
pub(crate) fn note_call(number: c_long) {
    let numbers = [libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid];
    if numbers.contains(&(number as _)) {
        clock::note(Source::ProcessNumber);
    }
}
