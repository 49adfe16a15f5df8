//! Programs that replace this process: `exec` and its variants.

use ::std::ffi::{CStr, c_char, c_int};

use nondex_core::context;

use super::program::{self, MAX_PATH};
use super::{Find, Strings, found, join, observed, unobserved};
use crate::libc;
use crate::{Errno, errno, operations, schedule};

unsafe extern "C" {
    static environ: Strings;
}

/// Replaces this process by a program, by calling `next` with an environment.
///
/// # Safety
/// The arguments must be those of `execve`, except for `name`, by which the program is found.
pub(crate) unsafe fn execute(
    name: *const c_char,
    find: Find,
    arguments: Strings,
    environment: Strings,
    next: impl FnOnce(Strings) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        schedule::processor::release();
        let program = found(name, find);
        {
            let _errno = Errno::save();
            context::before_exec();
        }
        let announcement = program.is_opaque.then(|| unobserved::announce(name, arguments));
        let result = observed(program, environment, next);
        drop(announcement);
        operations::not_started(name, errno(), true);
        result
    }
}

/// Replaces this process by a program with the present environment, by a function that takes one.
///
/// # Safety
/// The arguments must be those of the function.
pub(crate) unsafe fn execute_here(
    program: *const c_char,
    arguments: Strings,
    function: unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int,
    _next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises, with the environment that libc takes, too.
    unsafe { function(program, arguments, environ) }
}

/// Returns a path to an open file, or to the path `rest` below it. It is valid while this process
/// has the file open.
fn path_of<'a>(buffer: &'a mut [u8], file: c_int, rest: &[u8]) -> Option<&'a CStr> {
    let mut digits = [0; 10];
    let mut start = digits.len();
    let mut left = u32::try_from(file).ok()?;
    while left > 0 || start == digits.len() {
        start -= 1;
        digits[start] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let slash: &[u8] = if rest.is_empty() { b"" } else { b"/" };
    join(buffer, &[b"/proc/self/fd/", &digits[start..], slash, rest])
}

/// Replaces this process by the program in an open file, as [`execute`] does.
///
/// # Safety
/// The arguments must be those of `fexecve`.
pub(crate) unsafe fn execute_open(
    file: c_int,
    arguments: Strings,
    environment: Strings,
    next: impl FnOnce(Strings) -> c_int,
) -> c_int {
    let mut buffer = [0; MAX_PATH];
    let path = path_of(&mut buffer, file, b"").map_or(::std::ptr::null(), CStr::as_ptr);
    // SAFETY: as the caller promises.
    unsafe { execute(path, program::by_path, arguments, environment, next) }
}

/// Replaces this process by the program at a path below an open folder, as [`execute`] does.
///
/// # Safety
/// The arguments must be those of `execveat`.
pub(crate) unsafe fn execute_at(
    folder: c_int,
    name: *const c_char,
    arguments: Strings,
    environment: Strings,
    next: impl FnOnce(Strings) -> c_int,
) -> c_int {
    let mut buffer = [0; MAX_PATH];
    let path = if name.is_null() || folder == libc::AT_FDCWD {
        name
    } else {
        // SAFETY: the name ends with NUL.
        match unsafe { CStr::from_ptr(name) }.to_bytes() {
            [b'/', ..] => name,
            rest => path_of(&mut buffer, folder, rest).map_or(name, CStr::as_ptr),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { execute(path, program::by_path, arguments, environment, next) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_has_a_path() {
        let mut buffer = [0; MAX_PATH];
        assert_eq!(path_of(&mut buffer, 0, b""), Some(c"/proc/self/fd/0"));
        assert_eq!(path_of(&mut buffer, 120, b"a/b"), Some(c"/proc/self/fd/120/a/b"));
        assert_eq!(path_of(&mut buffer, -1, b""), None);
    }
}
