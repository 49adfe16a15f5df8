//! Files that C's streams open, because libc does not call its interposed `open` there.

use ::std::ffi::{CStr, c_char, c_void};

use super::file;
use crate::{originals, written};

/// Records that a stream is opened with this mode, and reports its file if it may be written to.
///
/// # Safety
/// The path and the mode must be C strings, or null.
pub(crate) unsafe fn open(
    path: *const c_char,
    mode: *const c_char,
    next: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let (writes, creates) = unsafe { of_mode(mode) };
    // SAFETY: as the caller promises.
    unsafe { file::opened(path, writes, creates) };
    let stream = next();
    if stream.is_null() {
        // SAFETY: as the caller promises.
        unsafe { file::not_opened(path) };
    } else if writes {
        // SAFETY: the stream was opened.
        unsafe { written_into(stream) };
    }
    stream
}

/// Returns whether a stream of this mode is written to, and whether the file is created.
///
/// # Safety
/// The mode must be a C string, or null.
unsafe fn of_mode(mode: *const c_char) -> (bool, bool) {
    if mode.is_null() {
        return (false, false);
    }
    // SAFETY: as the caller promises.
    let mode = unsafe { CStr::from_ptr(mode) }.to_bytes();
    let has = |letters: &[u8]| mode.iter().any(|letter| letters.contains(letter));
    (has(b"wa+"), has(b"wa"))
}

/// Records that a stream was opened for writing.
///
/// # Safety
/// The stream must be open.
unsafe fn written_into(stream: *mut c_void) {
    match originals::fileno.get() {
        // SAFETY: as the caller promises.
        Some(fileno) => written::open(unsafe { fileno(stream) }),
        None => written::anything(),
    }
}
