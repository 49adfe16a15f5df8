//! Clocks and sleeping: they pass through, and are noted as what no choice controls.

use ::std::ffi::c_int;

use nondex_core::Source;
use nondex_core::context::note_source;

use super::{original, own};
use crate::libc;

/// Looks up the clock's original before a signal handler or an allocator may ask for the time.
pub(crate) fn prepare() {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time is written to a place of this function.
    let _ = unsafe { clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
}

fn note(source: Source) {
    if own::is_standing() {
        note_source(source);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    note(Source::Clock);
    match original!(c"clock_gettime": unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int)
    {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(clock, time) },
        None => -1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
    note(Source::Sleep);
    match original!(c"nanosleep": unsafe extern "C" fn(*const libc::timespec, *mut libc::timespec) -> c_int)
    {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(time, rest) },
        None => -1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: c_int,
    time: *const libc::timespec,
    rest: *mut libc::timespec,
) -> c_int {
    note(Source::Sleep);
    match original!(c"clock_nanosleep": unsafe extern "C" fn(libc::clockid_t, c_int, *const libc::timespec, *mut libc::timespec) -> c_int)
    {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(clock, flags, time, rest) },
        None => libc::ENOSYS,
    }
}
