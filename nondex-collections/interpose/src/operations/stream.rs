//! Files that C's streams open, because libc does not call its interposed `open` there.

use ::std::ffi::{CStr, c_char, c_int, c_void};

use super::file;
use crate::{original, written};

/// Declares functions that open a stream, which is identified by its descriptor.
macro_rules! streams {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char,
            $($argument: $type),*) -> *mut c_void {
            let original = original!($name(_, _ $(, $type)*) else return ::std::ptr::null_mut());
            // SAFETY: the caller gives C strings, as it must.
            let (writes, creates) = unsafe { of_mode(mode) };
            // SAFETY: as above.
            unsafe { file::opened(path, writes, creates) };
            // SAFETY: the caller's arguments, unchanged.
            let stream = unsafe { original(path, mode, $($argument),*) };
            if stream.is_null() {
                // SAFETY: as above.
                unsafe { file::not_opened(path) };
            } else if writes {
                // SAFETY: the stream was opened.
                unsafe { written_into(stream) };
            }
            stream
        })*
    };
}

streams! {
    fopen();
    fopen64();
    freopen(stream: *mut c_void);
    freopen64(stream: *mut c_void);
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
    match original!(fileno: unsafe extern "C" fn(*mut c_void) -> c_int) {
        // SAFETY: as the caller promises.
        Some(fileno) => written::open(unsafe { fileno(stream) }),
        None => written::anything(),
    }
}
