//! Lookups of names by functions that are older than `getaddrinfo`.

use ::std::ffi::{c_char, c_int};
use ::std::ptr;

use super::{Lookup, by_h_errno, end, error, look_up, original};
use crate::libc;

/// Declares functions that return a static entry.
macro_rules! entries {
    ($($function:ident of $name:ident ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function($($argument: $type),*) -> *mut libc::hostent {
            let original = original!($function($($type),*) else return ptr::null_mut());
            // SAFETY: the caller gives a name that ends with NUL.
            let lookup = unsafe { look_up("gethostbyname", $name) };
            // SAFETY: the caller's arguments, unchanged.
            let call = || unsafe { original($($argument),*) };
            by_h_errno(lookup, ptr::null_mut(), <*mut libc::hostent>::is_null, call)
        }
    )*};
}

entries! {
    gethostbyname of name (name: *const c_char);
    gethostbyname2 of name (name: *const c_char, family: c_int);
}

/// Performs a lookup by `call`, which stores an entry in `result`, or its error in `reason`.
///
/// # Safety
/// Both must be valid for writes, and hold what `call` has written.
pub(super) unsafe fn reentrant(
    lookup: Lookup,
    result: *mut *mut libc::hostent,
    reason: *mut c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    match lookup {
        Lookup::Pass => call(),
        Lookup::Refuse(code) => {
            // SAFETY: as the caller promises.
            unsafe {
                result.write(ptr::null_mut());
                reason.write(error::to_h_errno(code));
            }
            libc::EAGAIN
        }
        Lookup::Observe(_, operation) => {
            let code = call();
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

/// Declares functions that take a buffer for the entry.
macro_rules! reentrant_entries {
    ($($function:ident of $name:ident ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function(
            $($argument: $type,)*
            entry: *mut libc::hostent,
            buffer: *mut c_char,
            len: usize,
            result: *mut *mut libc::hostent,
            reason: *mut c_int,
        ) -> c_int {
            let original =
                original!($function($($type,)* _, _, _, _, _) else return libc::ENOSYS);
            // SAFETY: the caller gives a name that ends with NUL, and places for the result and the
            // reason.
            unsafe {
                let lookup = look_up("gethostbyname", $name);
                reentrant(lookup, result, reason, || {
                    original($($argument,)* entry, buffer, len, result, reason)
                })
            }
        }
    )*};
}

reentrant_entries! {
    gethostbyname_r of name (name: *const c_char);
    gethostbyname2_r of name (name: *const c_char, family: c_int);
}
