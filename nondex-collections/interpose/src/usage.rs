//! Processor time and memory of this process, and load of the machine, which no choice controls.

use ::std::ffi::{c_int, c_long, c_void};

use nondex_core::Source;

use crate::{clock, original};

/// Declares functions that read such a value.
macro_rules! readings {
    ($($function:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function($($argument: $type),*) -> $result {
            clock::note(Source::Clock);
            let original = original!($function($($type),*) else return -1);
            // SAFETY: the caller's arguments, unchanged.
            unsafe { original($($argument),*) }
        }
    )*};
}

readings! {
    getrusage(who: c_int, usage: *mut c_void) -> c_int;
    times(place: *mut c_void) -> c_long;
    clock() -> c_long;
    getloadavg(place: *mut f64, count: c_int) -> c_int;
    sysinfo(place: *mut c_void) -> c_int;
}
