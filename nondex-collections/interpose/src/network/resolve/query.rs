//! Queries for records of names: `res_query` and its variants, which also have older names for
//! programs that were linked long ago.

use ::std::ffi::{c_char, c_int};

use super::{by_h_errno, look_up};

/// Queries the records of a name by a call that returns a length, or -1.
///
/// # Safety
/// The name must be null or end with NUL.
pub(crate) unsafe fn records(name: *const c_char, next: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as the caller promises.
    let lookup = unsafe { look_up("res_query", name) };
    by_h_errno(lookup, -1, |result| result < 0, next)
}
