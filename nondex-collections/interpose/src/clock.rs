//! Clocks and sleeping: virtual time in a scheduled thread, real time in any other. Both are
//! recorded as sources that no choice controls completely.

use ::std::ffi::{c_int, c_uint, c_void};

use nondex_core::context::note_source;
use nondex_core::{Model, Source, model};

use super::{original, own, schedule};
use crate::libc;

const SECOND: u64 = 1_000_000_000;

/// Resolves the clock's original before a signal handler or an allocator may read the time.
pub(crate) fn prepare() {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to a local variable.
    let _ = unsafe { clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
}

/// Records that the program uses a source that no choice controls.
pub(crate) fn note(source: Source) {
    if own::is_initialized() {
        note_source(source);
    }
}

/// Records that the call uses a source that no choice controls.
pub(crate) fn noted<R>(source: Source, next: impl FnOnce() -> R) -> R {
    note(source);
    next()
}

/// Returns the clock whose virtual time this one shows in a scheduled thread: that of the date, or
/// the monotonic one. Returns `None` for clocks of processor time.
const fn shown_as(clock: libc::clockid_t) -> Option<libc::clockid_t> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            Some(libc::CLOCK_REALTIME)
        }
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => Some(libc::CLOCK_MONOTONIC),
        _ => None,
    }
}

/// Returns whether a clock shows the time since an arbitrary start.
const fn is_monotonic(clock: libc::clockid_t) -> bool {
    matches!(shown_as(clock), Some(libc::CLOCK_MONOTONIC))
}

/// Returns the virtual time that a clock shows to a scheduled thread, in nanoseconds; else `None`.
/// A delay before the reading belongs to the model `by`.
#[inline]
fn virtual_time(clock: libc::clockid_t, by: &'static Model) -> Option<u64> {
    let shown_as = shown_as(clock);
    // Recorded also in a scheduled thread, because the schedule controls only part of what it
    // shows.
    note(match shown_as {
        Some(libc::CLOCK_REALTIME) => Source::Date,
        _ => Source::Clock,
    });
    if !schedule::is_scheduled() {
        return None;
    }
    shown_as.map(|clock| schedule::read_clock(clock, by))
}

/// Sleeps until a virtual time if this thread is scheduled, and returns whether it is.
fn sleeps_until(time: impl FnOnce() -> u64) -> bool {
    let is_scheduled = schedule::is_scheduled();
    if is_scheduled {
        schedule::sleep(time());
    }
    is_scheduled
}

/// Converts a time into nanoseconds; `None` for an invalid time.
///
/// # Safety
/// `time` must be null or valid.
unsafe fn nanoseconds(time: *const libc::timespec) -> Option<u64> {
    // SAFETY: as the caller promises.
    let time = unsafe { time.as_ref() }?;
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let rest = u64::try_from(time.tv_nsec).ok().filter(|rest| *rest < SECOND)?;
    Some(seconds.saturating_mul(SECOND).saturating_add(rest))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    let by = match clock {
        libc::CLOCK_REALTIME => &model::SYSTEM_TIME_ELAPSED,
        _ => &model::INSTANT_ELAPSED,
    };
    if let Some(now) = virtual_time(clock, by) {
        if !time.is_null() {
            // SAFETY: the caller gives a place for the time.
            put(unsafe { &mut *time }, now);
            return 0;
        }
    }
    let original = original!(clock_gettime(_, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(clock, time) };
    // The monotonic clock of this process may have another start than the system's.
    if result == 0 && is_monotonic(clock) {
        // SAFETY: the system has written a time there.
        if let Some(real) = unsafe { nanoseconds(time) } {
            // SAFETY: as above.
            put(unsafe { &mut *time }, schedule::epoch::shown(real));
        }
    }
    result
}

/// Writes a time in nanoseconds to `place`.
fn put(place: &mut libc::timespec, time: u64) {
    place.tv_sec = (time / SECOND) as _;
    place.tv_nsec = (time % SECOND) as _;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut libc::timeval, zone: *mut c_void) -> c_int {
    if let Some(now) = virtual_time(libc::CLOCK_REALTIME, &model::GETTIMEOFDAY) {
        if !time.is_null() {
            // SAFETY: the caller gives a place for the time.
            unsafe {
                (*time).tv_sec = (now / SECOND) as _;
                (*time).tv_usec = (now % SECOND / 1_000) as _;
            }
            return 0;
        }
    }
    let original = original!(gettimeofday(_, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { original(time, zone) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(place: *mut i64) -> i64 {
    if let Some(now) = virtual_time(libc::CLOCK_REALTIME, &model::TIME) {
        let seconds = (now / SECOND) as i64;
        if !place.is_null() {
            // SAFETY: the caller gives a place for the time.
            unsafe { place.write(seconds) };
        }
        return seconds;
    }
    let original = original!(time(_) else return -1);
    // SAFETY: the caller's argument, unchanged.
    unsafe { original(place) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int {
    note(Source::Sleep);
    // SAFETY: the caller gives a time.
    if let Some(length) = unsafe { nanoseconds(time) } {
        if sleeps_until(|| schedule::now().saturating_add(length)) {
            return 0;
        }
    }
    let original = original!(nanosleep(_, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { original(time, rest) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: c_int,
    time: *const libc::timespec,
    rest: *mut libc::timespec,
) -> c_int {
    /// Flag that makes the time a deadline on the clock, not a duration.
    const ABSOLUTE: c_int = 1;
    note(Source::Sleep);
    let is_absolute = flags & ABSOLUTE != 0;
    // SAFETY: the caller gives a time.
    if let (Some(length), Some(shown_as)) = (unsafe { nanoseconds(time) }, shown_as(clock)) {
        let until = || {
            if is_absolute {
                schedule::since_start(shown_as, length)
            } else {
                schedule::now().saturating_add(length)
            }
        };
        if sleeps_until(until) {
            return 0;
        }
    }
    let real;
    let time = if is_absolute && is_monotonic(clock) && !time.is_null() {
        // SAFETY: the caller gives a time.
        real = unsafe { schedule::epoch::for_system(time) };
        &raw const real
    } else {
        time
    };
    let original = original!(clock_nanosleep(_, _, _, _) else return libc::ENOSYS);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { original(clock, flags, time, rest) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn usleep(micros: c_uint) -> c_int {
    note(Source::Sleep);
    if sleeps_until(|| schedule::now().saturating_add(u64::from(micros) * 1_000)) {
        return 0;
    }
    let original = original!(usleep(_) else return -1);
    // SAFETY: the function accepts any number.
    unsafe { original(micros) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sleep(seconds: c_uint) -> c_uint {
    note(Source::Sleep);
    if sleeps_until(|| schedule::now().saturating_add(u64::from(seconds) * SECOND)) {
        return 0;
    }
    let original = original!(sleep(_) else return seconds);
    // SAFETY: the function accepts any number.
    unsafe { original(seconds) }
}
