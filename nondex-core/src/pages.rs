//! Pages that the system maps for this process. The functions are declared here because they are
//! needed before anything else of the runtime stands, and no allocator may be used.

#![expect(unsafe_code, reason = "pages are reached through raw pointers")]

use std::ptr::NonNull;

#[cfg(not(unix))]
pub(crate) use allocated::{anonymous, unmap};
#[cfg(unix)]
pub(crate) use mapped::{anonymous, of_file, unmap};

/// The size of a page is a multiple of this.
pub(crate) const PAGE: usize = 4096;

#[cfg(unix)]
mod mapped {
    use std::ffi::{c_int, c_void};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::ptr;

    use super::NonNull;

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
    /// `MAP_PRIVATE | MAP_ANONYMOUS`.
    const PRIVATE_ANONYMOUS: c_int = if cfg!(target_os = "linux") { 0x22 } else { 0x1002 };

    /// Maps new pages of zeros; `None` where there is no room.
    pub(crate) fn anonymous(length: usize) -> Option<NonNull<u8>> {
        map(length, PRIVATE_ANONYMOUS, -1)
    }

    /// Maps `length` bytes of a file, which must have as many. What is written is the file's.
    ///
    /// # Errors
    /// When the system cannot map it.
    pub(crate) fn of_file(file: &File, length: usize) -> io::Result<NonNull<u8>> {
        map(length, SHARED, file.as_raw_fd()).ok_or_else(io::Error::last_os_error)
    }

    fn map(length: usize, flags: c_int, file: c_int) -> Option<NonNull<u8>> {
        // SAFETY: a new mapping, wherever there is room.
        let memory = unsafe { mmap(ptr::null_mut(), length, READ_WRITE, flags, file, 0) };
        // `MAP_FAILED` is -1.
        (memory.addr() != usize::MAX).then(|| NonNull::new(memory.cast()))?
    }

    /// Ends a mapping of this length. The caller gives up all that points into it.
    pub(crate) fn unmap(memory: NonNull<u8>, length: usize) {
        // SAFETY: it was mapped with this length, and nobody uses it any more.
        unsafe { munmap(memory.as_ptr().cast(), length) };
    }
}

#[cfg(not(unix))]
mod allocated {
    use std::alloc::{GlobalAlloc, Layout, System};

    use super::{NonNull, PAGE};

    /// New memory; `None` where there is no room.
    pub(crate) fn anonymous(length: usize) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(length, PAGE).ok()?;
        // SAFETY: the length is not 0.
        NonNull::new(unsafe { System.alloc_zeroed(layout) })
    }

    /// Gives back memory of this length. The caller gives up all that points into it.
    pub(crate) fn unmap(memory: NonNull<u8>, length: usize) {
        if let Ok(layout) = Layout::from_size_align(length, PAGE) {
            // SAFETY: it was allocated with this layout.
            unsafe { System.dealloc(memory.as_ptr(), layout) };
        }
    }
}
