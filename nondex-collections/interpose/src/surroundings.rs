//! The environment, the current directory, and files by their paths: who reads and who changes them, where a run asks.

use ::std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use nondex_core::StateKind;

use super::accessed::accessed;
use super::original;
use super::schedule;

/// The text of a C string.
///
/// # Safety
/// `text` must be null or end with NUL.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Functions that access a state before they do what they do.
macro_rules! functions {
    ($($name:ident $c_name:literal ($($argument:ident: $type:ty),*) -> $result:ty, $failed:expr, $kind:ident $writes:literal $of:expr;)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            let Some(original) = original!($c_name: unsafe extern "C" fn($($type),*) -> $result) else {
                return $failed;
            };
            schedule::file(StateKind::$kind, $writes, $of);
            // SAFETY: the caller gives C strings.
            accessed(StateKind::$kind, $writes, || unsafe { text($of) });
            // SAFETY: the caller's arguments, unchanged.
            unsafe { original($($argument),*) }
        })*
    };
}

const EMPTY: *const c_char = c"".as_ptr();

functions! {
    getenv c"getenv" (name: *const c_char) -> *mut c_char, ::std::ptr::null_mut(), Env false name;
    secure_getenv c"secure_getenv" (name: *const c_char) -> *mut c_char, ::std::ptr::null_mut(), Env false name;
    setenv c"setenv" (name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int, -1, Env true name;
    unsetenv c"unsetenv" (name: *const c_char) -> c_int, -1, Env true name;
    chdir c"chdir" (path: *const c_char) -> c_int, -1, Cwd true EMPTY;
    fchdir c"fchdir" (file: c_int) -> c_int, -1, Cwd true EMPTY;
    getcwd c"getcwd" (buffer: *mut c_char, len: usize) -> *mut c_char, ::std::ptr::null_mut(), Cwd false EMPTY;
    unlink c"unlink" (path: *const c_char) -> c_int, -1, File true path;
    rmdir c"rmdir" (path: *const c_char) -> c_int, -1, File true path;
    statx c"statx" (folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, result: *mut c_void) -> c_int, -1, File false path;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    type Rename = unsafe extern "C" fn(*const c_char, *const c_char) -> c_int;
    let Some(original) = original!(c"rename": Rename) else {
        return -1;
    };
    schedule::file(StateKind::File, true, to);
    for path in [from, to] {
        // SAFETY: the caller gives C strings.
        accessed(StateKind::File, true, || unsafe { text(path) });
    }
    // SAFETY: the caller's arguments, unchanged.
    unsafe { original(from, to) }
}
