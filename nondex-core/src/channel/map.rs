//! Mapping a file. The functions are declared here because a process maps its record before
//! anything else of the runtime stands.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(address: *mut c_void, length: usize) -> c_int;
}

/// `PROT_READ | PROT_WRITE`, the same on Linux, macOS and the BSDs, as is `MAP_SHARED`.
const READ_WRITE: c_int = 3;
const SHARED: c_int = 1;

/// Maps `length` bytes of a file, which must have as many.
pub(super) fn shared(file: &File, length: usize) -> io::Result<NonNull<AtomicU64>> {
    let descriptor = file.as_raw_fd();
    // SAFETY: a new mapping, wherever there is room.
    let base = unsafe { mmap(ptr::null_mut(), length, READ_WRITE, SHARED, descriptor, 0) };
    // `MAP_FAILED` is -1.
    if base.addr() == usize::MAX {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Ends a mapping that [`shared`] made.
pub(super) fn unmap(base: NonNull<AtomicU64>, length: usize) {
    // SAFETY: the caller gives up the mapping, which has this length.
    unsafe { munmap(base.as_ptr().cast(), length) };
}
