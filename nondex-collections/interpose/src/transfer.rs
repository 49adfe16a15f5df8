//! Bytes that pass through any descriptor: `read`, `write` and their vectored forms.
//!
//! These functions are called for everything, and often. As long as no socket concerns another
//! machine, a call that succeeds costs one additional load.

use ::std::ffi::c_int;

#[cfg(feature = "network")]
use super::network;
use super::operations;

/// Observes the data that the call reads, if it comes from another machine.
#[inline]
pub(crate) fn received(file: c_int, next: impl Fn() -> isize) -> isize {
    #[cfg(feature = "network")]
    let result = network::received(file, next);
    #[cfg(not(feature = "network"))]
    let result = {
        let _ = file;
        next()
    };
    result
}

/// Observes the data that the call writes, if it goes to another machine, and records a failure.
#[inline]
pub(crate) fn sent(file: c_int, next: impl Fn() -> isize) -> isize {
    #[cfg(feature = "network")]
    let written = network::sent(file, next);
    #[cfg(not(feature = "network"))]
    let written = next();
    if written == -1 {
        operations::not_written(file);
    }
    written
}
