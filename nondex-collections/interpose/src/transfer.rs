//! Bytes that pass through any descriptor: `read`, `write` and their vectored forms.
//!
//! These functions are called for everything, and often. As long as no socket concerns another
//! machine, a call that succeeds costs one additional load.

use ::std::ffi::{c_int, c_void};

#[cfg(feature = "network")]
use super::network;
use super::{operations, original, schedule};
use crate::libc;

/// Reads from `file` by `call`.
#[inline]
fn read_from(file: c_int, call: impl Fn() -> isize) -> isize {
    let call = || schedule::read(file, 0, &call);
    #[cfg(feature = "network")]
    let result = network::received(file, call);
    #[cfg(not(feature = "network"))]
    let result = call();
    result
}

/// Writes to `file` by `call`.
#[inline]
fn write_to(file: c_int, call: impl Fn() -> isize) -> isize {
    #[cfg(feature = "network")]
    let written = network::sent(file, call);
    #[cfg(not(feature = "network"))]
    let written = call();
    if written == -1 {
        operations::not_written(file);
    }
    written
}

#[unsafe(no_mangle)]
unsafe extern "C" fn read(file: c_int, buffer: *mut c_void, len: usize) -> isize {
    let original = original!(read(_, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    read_from(file, || unsafe { original(file, buffer, len) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readv(file: c_int, buffers: *const libc::iovec, count: c_int) -> isize {
    let original = original!(readv(_, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    read_from(file, || unsafe { original(file, buffers, count) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(file: c_int, buffer: *const c_void, len: usize) -> isize {
    let original = original!(write(_, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    write_to(file, || unsafe {
        schedule::write(file, buffer, len, 0, || original(file, buffer, len))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(file: c_int, buffers: *const libc::iovec, count: c_int) -> isize {
    let original = original!(writev(_, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    write_to(file, || unsafe {
        let number = usize::try_from(count).unwrap_or(0);
        schedule::write_vectored(file, buffers, number, 0, || original(file, buffers, count))
    })
}
