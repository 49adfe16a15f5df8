//! The processor time and the memory that this process used, and the load of the machine, which no
//! choice controls.

use ::std::ffi::{c_int, c_long, c_void};

use nondex_core::Source;

use crate::{clock, original};

#[unsafe(no_mangle)]
unsafe extern "C" fn getrusage(who: c_int, usage: *mut c_void) -> c_int {
    clock::note(Source::Clock);
    let original = original!(getrusage(_, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { original(who, usage) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn times(place: *mut c_void) -> c_long {
    clock::note(Source::Clock);
    let original = original!(times(_) else return -1);
    // SAFETY: the caller's argument, unchanged.
    unsafe { original(place) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock() -> c_long {
    clock::note(Source::Clock);
    let original = original!(clock() else return -1);
    // SAFETY: the function takes no arguments.
    unsafe { original() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getloadavg(place: *mut f64, count: c_int) -> c_int {
    clock::note(Source::Clock);
    let original = original!(getloadavg(_, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { original(place, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sysinfo(place: *mut c_void) -> c_int {
    clock::note(Source::Clock);
    let original = original!(sysinfo(_) else return -1);
    // SAFETY: the caller's argument, unchanged.
    unsafe { original(place) }
}
