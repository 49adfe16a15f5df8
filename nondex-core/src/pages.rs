//! Memory pages that the system maps for this process. The functions of libc are declared here
//! because they are needed before the rest of the runtime is initialised, and without an allocator.

#![expect(unsafe_code, reason = "pages are reached through raw pointers")]

use std::ptr::NonNull;

#[cfg(not(unix))]
pub(crate) use allocated::{anonymous, unmap};
#[cfg(unix)]
pub(crate) use mapped::{anonymous, of_file, unmap};

/// Lower bound of the page size, which is a multiple of it.
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

    /// Maps new pages of zeros. Returns `None` if the system has no room.
    pub(crate) fn anonymous(length: usize) -> Option<NonNull<u8>> {
        map(length, PRIVATE_ANONYMOUS, -1)
    }

    /// Maps the first `length` bytes of a file, which must be at least that long. Writes change the
    /// file.
    ///
    /// # Errors
    /// Returns an error if the system cannot map the file.
    pub(crate) fn of_file(file: &File, length: usize) -> io::Result<NonNull<u8>> {
        map(length, SHARED, file.as_raw_fd()).ok_or_else(io::Error::last_os_error)
    }

    fn map(length: usize, flags: c_int, file: c_int) -> Option<NonNull<u8>> {
        // SAFETY: creates a new mapping at an address that the system chooses.
        let memory = unsafe { mmap(ptr::null_mut(), length, READ_WRITE, flags, file, 0) };
        // `MAP_FAILED` is -1.
        (memory.addr() != usize::MAX).then(|| NonNull::new(memory.cast()))?
    }

    /// Unmaps memory of this length. The caller must give up all references into it.
    pub(crate) fn unmap(memory: NonNull<u8>, length: usize) {
        // SAFETY: it was mapped with this length, and the caller gave up all references into it.
        unsafe { munmap(memory.as_ptr().cast(), length) };
    }
}

#[cfg(not(unix))]
mod allocated {
    use std::alloc::{GlobalAlloc, Layout, System};

    use super::{NonNull, PAGE};

    /// Allocates new memory. Returns `None` if there is no room.
    pub(crate) fn anonymous(length: usize) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(length, PAGE).ok()?;
        // SAFETY: the length is not 0.
        NonNull::new(unsafe { System.alloc_zeroed(layout) })
    }

    /// Frees memory of this length. The caller must give up all references into it.
    pub(crate) fn unmap(memory: NonNull<u8>, length: usize) {
        if let Ok(layout) = Layout::from_size_align(length, PAGE) {
            // SAFETY: it was allocated with this layout.
            unsafe { System.dealloc(memory.as_ptr(), layout) };
        }
    }
}
