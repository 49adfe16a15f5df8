//! Files and directories that the program creates, and files that it opens for writing. Their paths
//! are reported to the driver, which takes no other files for leftovers of a test.
//!
//! The system returns the path. So no memory is allocated for it, and links and relative paths need
//! no handling.

use ::std::ffi::{c_char, c_int, c_long};

use nondex_core::context::{note_written, tells_writes};

use crate::{Errno, errno, libc, own, system};

/// Maximum length of a path that the system returns, with the NUL that it does not write.
const MAX_PATH: usize = 4096;

/// Suffix of the path of a deleted file.
const DELETED: &[u8] = b" (deleted)";

/// Reports an open file that may be new, or may be written to.
pub(crate) fn open(file: c_int) {
    if file >= 0 && is_reported() {
        let _errno = Errno::save();
        report(file);
    }
}

/// Reports a new file at this path, which may be relative to a directory.
pub(crate) fn at(folder: c_int, path: *const c_char) {
    if !is_reported() {
        return;
    }
    let _errno = Errno::save();
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let arguments = [folder.into(), path.addr() as c_long, flags.into(), 0, 0, 0];
    // SAFETY: the caller of the function that wrote there has given a C string.
    let file = unsafe { system::call(libc::SYS_openat, arguments) };
    match c_int::try_from(file) {
        Ok(file) if file >= 0 => {
            report(file);
            // SAFETY: this code owns the descriptor.
            unsafe { system::call(libc::SYS_close, [file.into(), 0, 0, 0, 0, 0]) };
        }
        // The file was removed again.
        _ if [libc::ENOENT, libc::ENOTDIR].contains(&errno()) => {}
        _ => note_written(None),
    }
}

/// Reports what the call creates at this path, if it returns 0.
pub(crate) fn created(folder: c_int, path: *const c_char, next: impl FnOnce() -> c_int) -> c_int {
    let result = next();
    if result == 0 {
        at(folder, path);
    }
    result
}

/// Reports the folder that the call creates, of which it returns the path.
pub(crate) fn created_folder(next: impl FnOnce() -> *mut c_char) -> *mut c_char {
    let path = next();
    if !path.is_null() {
        at(libc::AT_FDCWD, path);
    }
    path
}

/// Reports the file that the call opens for writing.
pub(crate) fn opened(next: impl FnOnce() -> c_int) -> c_int {
    let file = next();
    open(file);
    file
}

/// Reports that something new was created at an unknown place.
pub(crate) fn anything() {
    if is_reported() {
        note_written(None);
    }
}

/// Returns whether writes are reported. Those of the runtime itself are not.
fn is_reported() -> bool {
    own::is_initialized() && tells_writes() && !own::is_working()
}

/// Reports the path of an open file.
#[cold]
fn report(file: c_int) {
    let mut room = [0_u8; MAX_PATH];
    let path = system::name_of(file, &mut room).filter(|path| path.len() < MAX_PATH);
    // A removed file is no leftover, and an object that is no file has no path.
    if path.is_some_and(|path| path.ends_with(DELETED) || !path.starts_with(b"/")) {
        return;
    }
    note_written(path.and_then(|path| ::std::str::from_utf8(path).ok()));
}
