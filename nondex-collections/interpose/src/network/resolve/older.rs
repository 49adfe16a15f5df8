//! Lookups of names by functions that are older than `getaddrinfo`.

use ::std::ffi::{c_char, c_int};
use ::std::ptr;

use super::{Lookup, by_h_errno, end, error, look_up};
use crate::libc;

/// Looks up a name by a function that returns a static entry.
///
/// # Safety
/// The name must be null or end with NUL.
pub(crate) unsafe fn static_entry(
    name: *const c_char,
    next: impl FnOnce() -> *mut libc::hostent,
) -> *mut libc::hostent {
    // SAFETY: as the caller promises.
    let lookup = unsafe { look_up("gethostbyname", name) };
    by_h_errno(lookup, ptr::null_mut(), <*mut libc::hostent>::is_null, next)
}

/// Looks up a name by a function that takes a buffer for the entry, as [`reentrant`] does.
///
/// # Safety
/// As there, and the name must be null or end with NUL.
pub(crate) unsafe fn entry(
    name: *const c_char,
    result: *mut *mut libc::hostent,
    reason: *mut c_int,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { reentrant(look_up("gethostbyname", name), result, reason, next) }
}

/// Performs a lookup by `next`, which stores an entry in `result`, or its error in `reason`.
///
/// # Safety
/// Both must be valid for writes, and hold what `next` has written.
pub(crate) unsafe fn reentrant(
    lookup: Lookup,
    result: *mut *mut libc::hostent,
    reason: *mut c_int,
    next: impl FnOnce() -> c_int,
) -> c_int {
    match lookup {
        Lookup::Pass => next(),
        Lookup::Refuse(code) => {
            // SAFETY: as the caller promises.
            unsafe {
                result.write(ptr::null_mut());
                reason.write(error::to_h_errno(code));
            }
            libc::EAGAIN
        }
        Lookup::Observe(_, operation) => {
            let code = next();
            // SAFETY: as the caller promises.
            let (found, reason) = unsafe { (!(*result).is_null(), *reason) };
            // After `ERANGE` the caller repeats the lookup with a larger buffer.
            if code != libc::ERANGE {
                end(operation, if found { 0 } else { error::of_h_errno(reason) });
            }
            code
        }
    }
}
