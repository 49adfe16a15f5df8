//! System timers, which expire in real time. A deadline on the monotonic clock refers to the clock
//! that the test reads, and is translated.

use ::std::ffi::{c_int, c_uint, c_void};

use super::schedule::{alarms, epoch};
use super::{libc, original};

/// Setting of a timer: the interval, and its first expiration.
#[derive(Clone, Copy)]
#[repr(C)]
struct Setting {
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
struct Interval {
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

type Set<T> = unsafe extern "C" fn(T, c_int, *const Setting, *mut Setting) -> c_int;

/// Sets a timer by a function of the system.
///
/// # Safety
/// The arguments must be those of the function.
unsafe fn set<T>(
    original: Set<T>,
    timer: T,
    flags: c_int,
    setting: *const Setting,
    previous: *mut Setting,
) -> c_int {
    // SAFETY: the caller gives a setting, or null.
    let translated = unsafe { for_system(flags, setting) };
    let setting = translated.as_ref().map_or(setting, ::std::ptr::from_ref);
    // SAFETY: the caller's arguments, with a setting that lives until the call returns.
    unsafe { original(timer, flags, setting, previous) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_settime(
    timer: *mut c_void,
    flags: c_int,
    setting: *const Setting,
    previous: *mut Setting,
) -> c_int {
    let original = original!(timer_settime(_, _, _, _) else return -1);
    // SAFETY: the caller gives a setting, or null.
    let is_set = unsafe { setting.as_ref() }.is_some_and(Setting::is_set);
    // SAFETY: the caller's arguments.
    let set = || unsafe { set(original, timer, flags, setting, previous) };
    alarms::set(timer.addr(), is_set, set, |result| result == 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_delete(timer: *mut c_void) -> c_int {
    let original = original!(timer_delete(_) else return -1);
    // SAFETY: the caller's timer.
    let delete = || unsafe { original(timer) };
    alarms::set(timer.addr(), false, delete, |result| result == 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_settime(
    timer: c_int,
    flags: c_int,
    setting: *const Setting,
    previous: *mut Setting,
) -> c_int {
    let original = original!(timerfd_settime(_, _, _, _) else return -1);
    // SAFETY: the caller's arguments.
    unsafe { set(original, timer, flags, setting, previous) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setitimer(
    clock: c_int,
    setting: *const Interval,
    previous: *mut Interval,
) -> c_int {
    /// Kind of timer that counts real time. The others count processor time.
    const REAL: c_int = 0;
    let original = original!(setitimer(_, _, _) else return -1);
    // SAFETY: the caller's arguments.
    let set = || unsafe { original(clock, setting, previous) };
    if clock != REAL {
        return set();
    }
    // SAFETY: the caller gives a setting, or null.
    let first = unsafe { setting.as_ref() }.map(|setting| &setting.first);
    let is_set = first.is_some_and(|first| first.tv_sec != 0 || first.tv_usec != 0);
    alarms::set(alarms::OF_PROCESS, is_set, set, |result| result == 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn alarm(seconds: c_uint) -> c_uint {
    let original = original!(alarm(_) else return 0);
    // SAFETY: the function accepts any number.
    let set = || unsafe { original(seconds) };
    alarms::set(alarms::OF_PROCESS, seconds != 0, set, |_| true)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ualarm(micros: c_uint, interval: c_uint) -> c_uint {
    let original = original!(ualarm(_, _) else return 0);
    // SAFETY: the function accepts any numbers.
    let set = || unsafe { original(micros, interval) };
    alarms::set(alarms::OF_PROCESS, micros != 0, set, |_| true)
}
