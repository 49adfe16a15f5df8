//! Timers of the system, which go off in real time. A deadline on the monotonic clock is one of the
//! clock that the test reads, and is translated.

use ::std::ffi::{c_int, c_void};

use super::schedule::epoch;
use super::{libc, original};

/// What a timer is set to: the interval, and when it goes off first.
#[derive(Clone, Copy)]
#[repr(C)]
struct Setting {
    interval: libc::timespec,
    first: libc::timespec,
}

/// The setting for the system.
///
/// # Safety
/// It must be valid, or null.
unsafe fn for_system(flags: c_int, setting: *const Setting) -> Option<Setting> {
    /// The first time is one of a clock.
    const ABSOLUTE: c_int = 1;
    // SAFETY: as the caller promises.
    let setting = unsafe { setting.as_ref() }.filter(|_| flags & ABSOLUTE != 0)?;
    // Zero stops the timer.
    let is_set = setting.first.tv_sec != 0 || setting.first.tv_nsec != 0;
    // SAFETY: the time is valid.
    if !is_set || unsafe { epoch::clock_of(&raw const setting.first) } != libc::CLOCK_MONOTONIC {
        return None;
    }
    Some(Setting {
        // SAFETY: as above.
        first: unsafe { epoch::for_system(&raw const setting.first) },
        ..*setting
    })
}

macro_rules! setters {
    ($($name:ident $text:literal of $timer:ty;)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            timer: $timer,
            flags: c_int,
            setting: *const Setting,
            previous: *mut Setting,
        ) -> c_int {
            type Set = unsafe extern "C" fn($timer, c_int, *const Setting, *mut Setting) -> c_int;
            let Some(original) = original!($text: Set) else {
                return -1;
            };
            // SAFETY: the caller gives a setting, or null.
            let translated = unsafe { for_system(flags, setting) };
            let setting = translated.as_ref().map_or(setting, ::std::ptr::from_ref);
            // SAFETY: the caller's arguments, with a setting that lives until the call returns.
            unsafe { original(timer, flags, setting, previous) }
        })*
    };
}

setters! {
    timer_settime c"timer_settime" of *mut c_void;
    timerfd_settime c"timerfd_settime" of c_int;
}
