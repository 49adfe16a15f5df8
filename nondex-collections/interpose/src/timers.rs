//! System timers, which expire in real time. A deadline on the monotonic clock refers to the clock
//! that the test reads, and is translated.

use ::std::ffi::{c_int, c_void};

use super::libc;
use super::schedule::{alarms, epoch};

/// Setting of a timer: the interval, and its first expiration.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Setting {
    interval: libc::timespec,
    first: libc::timespec,
}

impl Setting {
    /// Returns whether the setting arms the timer. Zero stops it.
    const fn is_set(&self) -> bool {
        self.first.tv_sec != 0 || self.first.tv_nsec != 0
    }
}

/// Setting in microseconds, as [`Setting`].
#[repr(C)]
pub(crate) struct Interval {
    _interval: libc::timeval,
    first: libc::timeval,
}

/// Returns the setting for the system, if it must be translated.
///
/// # Safety
/// The setting must be valid, or null.
unsafe fn for_system(flags: c_int, setting: *const Setting) -> Option<Setting> {
    /// Flag that makes the first expiration a time on a clock.
    const ABSOLUTE: c_int = 1;
    // SAFETY: as the caller promises.
    let setting = unsafe { setting.as_ref() }.filter(|_| flags & ABSOLUTE != 0)?;
    if !setting.is_set() {
        return None;
    }
    // SAFETY: the time is valid.
    if unsafe { epoch::clock_of(&raw const setting.first) } != libc::CLOCK_MONOTONIC {
        return None;
    }
    Some(Setting {
        // SAFETY: as above.
        first: unsafe { epoch::for_system(&raw const setting.first) },
        ..*setting
    })
}

/// Translates a setting for the system, where that is necessary.
///
/// # Safety
/// The setting must be valid, or null.
pub(crate) unsafe fn translated(
    flags: c_int,
    setting: *const Setting,
    next: impl FnOnce(*const Setting) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let translated = unsafe { for_system(flags, setting) };
    next(translated.as_ref().map_or(setting, ::std::ptr::from_ref))
}

/// Notes whether the call sets or stops a timer.
///
/// # Safety
/// The setting must be valid, or null.
pub(crate) unsafe fn set(
    timer: *mut c_void,
    setting: *const Setting,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let is_set = unsafe { setting.as_ref() }.is_some_and(Setting::is_set);
    alarms::set(timer.addr(), is_set, |result| result == 0, next)
}

/// Notes whether the call sets or stops a timer of the process. Only one kind counts real time; the
/// others count processor time.
///
/// # Safety
/// The setting must be valid, or null.
pub(crate) unsafe fn set_of_process(
    kind: c_int,
    setting: *const Interval,
    next: impl FnOnce() -> c_int,
) -> c_int {
    /// The kind that counts real time (`ITIMER_REAL`).
    const REAL: c_int = 0;
    if kind != REAL {
        return next();
    }
    // SAFETY: as the caller promises.
    let first = unsafe { setting.as_ref() }.map(|setting| &setting.first);
    let is_set = first.is_some_and(|first| first.tv_sec != 0 || first.tv_usec != 0);
    alarms::set(alarms::OF_PROCESS, is_set, |result| result == 0, next)
}
