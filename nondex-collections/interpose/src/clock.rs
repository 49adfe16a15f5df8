//! Clocks and sleeping: virtual time in a scheduled thread, real time in any other. Both are
//! recorded as sources that no choice controls completely.

use ::std::ffi::{c_int, c_uint};
use ::std::ptr;

use nondex_core::context::note_source;
use nondex_core::{Model, Source, model};

use super::{own, schedule};
use crate::table::clocks;
use crate::{failed, libc};

/// Number of nanoseconds in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// Resolves the clock's original before a signal handler or an allocator may read the time.
pub(crate) fn prepare() {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to a local variable.
    let _ = unsafe { clocks::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
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

/// Sleeps until a virtual time if this thread is scheduled; `None` if it is not. Returns the time
/// that was left when a signal ended the sleep; 0 otherwise.
fn sleep_until(time: impl FnOnce() -> u64) -> Option<u64> {
    schedule::is_scheduled().then(|| schedule::sleep(time()))
}

/// Sleeps for a number of nanoseconds as [`sleep_until`] does, if the thread is scheduled.
fn sleep_in_schedule(length: u64) -> Option<u64> {
    note(Source::Sleep);
    sleep_until(|| schedule::now().saturating_add(length))
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

/// Shows the virtual time of a clock. In a thread that is not scheduled, only the monotonic clock
/// differs from the system's, by another start.
///
/// # Safety
/// `time` must be null or valid, and the call must write there if it returns 0.
#[inline]
pub(crate) unsafe fn read(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let by = match clock {
        libc::CLOCK_REALTIME => &model::SYSTEM_TIME_ELAPSED,
        _ => &model::INSTANT_ELAPSED,
    };
    if let Some(now) = virtual_time(clock, by) {
        if !time.is_null() {
            // SAFETY: as the caller promises.
            put(unsafe { &mut *time }, now);
            return 0;
        }
    }
    let result = next();
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

/// Shows the virtual time of the date in microseconds.
///
/// # Safety
/// `time` must be null or valid for writes.
pub(crate) unsafe fn date(time: *mut libc::timeval, next: impl FnOnce() -> c_int) -> c_int {
    match virtual_time(libc::CLOCK_REALTIME, &model::GETTIMEOFDAY) {
        Some(now) if !time.is_null() => {
            // SAFETY: as the caller promises.
            unsafe {
                (*time).tv_sec = (now / SECOND) as _;
                (*time).tv_usec = (now % SECOND / 1_000) as _;
            }
            0
        }
        _ => next(),
    }
}

/// Shows the virtual time of the date in seconds.
///
/// # Safety
/// `place` must be null or valid for writes.
pub(crate) unsafe fn seconds(place: *mut i64, next: impl FnOnce() -> i64) -> i64 {
    let Some(now) = virtual_time(libc::CLOCK_REALTIME, &model::TIME) else { return next() };
    let seconds = (now / SECOND) as i64;
    if !place.is_null() {
        // SAFETY: as the caller promises.
        unsafe { place.write(seconds) };
    }
    seconds
}

/// Sleeps for a number of microseconds, in virtual time if this thread is scheduled.
pub(crate) fn sleep_micros(micros: c_uint, next: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: nobody asks for the rest.
    unsafe { sleep_nanos(u64::from(micros) * 1_000, ptr::null_mut(), next) }
}

/// Sleeps for a number of seconds, in virtual time if this thread is scheduled. Returns the seconds
/// that were left when a signal ended the sleep.
pub(crate) fn sleep_seconds(seconds: c_uint, next: impl FnOnce() -> c_uint) -> c_uint {
    match sleep_in_schedule(u64::from(seconds) * SECOND) {
        None => next(),
        Some(left) => left.div_ceil(SECOND) as c_uint,
    }
}

/// Sleeps for a time, in virtual time if this thread is scheduled, unless the time is invalid. The
/// time that is left after a signal is written to `rest`.
///
/// # Safety
/// `time` must be null or valid, `rest` null or valid for writes.
pub(crate) unsafe fn sleep_for(
    time: *const libc::timespec,
    rest: *mut libc::timespec,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    match unsafe { nanoseconds(time) } {
        // SAFETY: as the caller promises.
        Some(length) => unsafe { sleep_nanos(length, rest, next) },
        None => noted(Source::Sleep, next),
    }
}

/// Sleeps for a number of nanoseconds, in virtual time if this thread is scheduled. The time that
/// is left after a signal is written to `rest`.
///
/// # Safety
/// `rest` must be null or valid for writes.
unsafe fn sleep_nanos(
    length: u64,
    rest: *mut libc::timespec,
    next: impl FnOnce() -> c_int,
) -> c_int {
    match sleep_in_schedule(length) {
        None => next(),
        Some(0) => 0,
        Some(left) => {
            // SAFETY: as the caller promises.
            unsafe { put_rest(rest, left) };
            failed(libc::EINTR)
        }
    }
}

/// Writes the rest of an interrupted sleep.
///
/// # Safety
/// `rest` must be null or valid for writes.
unsafe fn put_rest(rest: *mut libc::timespec, left: u64) {
    // SAFETY: as the caller promises.
    if let Some(rest) = unsafe { rest.as_mut() } {
        put(rest, left);
    }
}

/// Sleeps for a time, or until a time of a clock, as the flags of `clock_nanosleep` state. A
/// deadline on the monotonic clock is translated for the system. The time that is left after a
/// signal is written to `rest`, unless it was a deadline.
///
/// # Safety
/// `time` must be null or valid, `rest` null or valid for writes.
pub(crate) unsafe fn sleep_on(
    clock: libc::clockid_t,
    flags: c_int,
    time: *const libc::timespec,
    rest: *mut libc::timespec,
    next: impl FnOnce(*const libc::timespec) -> c_int,
) -> c_int {
    /// Flag that makes the time a deadline on the clock, not a duration.
    const ABSOLUTE: c_int = 1;
    note(Source::Sleep);
    let is_absolute = flags & ABSOLUTE != 0;
    // SAFETY: as the caller promises.
    if let (Some(length), Some(shown_as)) = (unsafe { nanoseconds(time) }, shown_as(clock)) {
        let until = || {
            if is_absolute {
                schedule::since_start(shown_as, length)
            } else {
                schedule::now().saturating_add(length)
            }
        };
        match sleep_until(until) {
            None => {}
            Some(0) => return 0,
            Some(left) => {
                if !is_absolute {
                    // SAFETY: as the caller promises.
                    unsafe { put_rest(rest, left) };
                }
                return libc::EINTR;
            }
        }
    }
    if is_absolute && is_monotonic(clock) && !time.is_null() {
        // SAFETY: as the caller promises.
        next(&unsafe { schedule::epoch::for_system(time) })
    } else {
        next(time)
    }
}
