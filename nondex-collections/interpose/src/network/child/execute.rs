//! Programs that replace this process: `exec` and its variants.

use ::std::ffi::{CStr, c_char, c_int};

use super::program::{self, MAX_PATH};
use super::{Find, Strings, found, join, observed, unobserved};
use crate::libc;
use crate::{errno, operations, original, schedule};

unsafe extern "C" {
    static environ: Strings;
}

/// Replaces this process by a program, by calling `start` with an environment.
///
/// # Safety
/// The arguments must be those of `execve`, except for `name`, by which the program is found.
unsafe fn execute(
    name: *const c_char,
    find: Find,
    arguments: Strings,
    environment: Strings,
    start: impl FnOnce(Strings) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        schedule::processor::release();
        let program = found(name, find);
        let announcement = program.is_opaque.then(|| unobserved::announce(name, arguments));
        let result = observed(program, environment, start);
        drop(announcement);
        operations::not_started(name, errno(), true);
        result
    }
}

/// Declares a function that replaces this process by a program. A function without an environment
/// uses that of this process.
macro_rules! exec {
    ($name:ident($($environment:ident)?), $original:ident, $find:path) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            program: *const c_char,
            arguments: Strings,
            $($environment: Strings,)?
        ) -> c_int {
            let original = original!($original(_, _, _) else return -1);
            // SAFETY: the caller's arguments, with the environment that libc takes for them.
            unsafe {
                let environment = [$($environment,)? environ][0];
                execute(program, $find, arguments, environment, |environment| {
                    original(program, arguments, environment)
                })
            }
        }
    };
}

exec!(execve(environment), execve, program::by_path);
exec!(execv(), execve, program::by_path);
exec!(execvpe(environment), execvpe, program::by_name);
exec!(execvp(), execvpe, program::by_name);

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

#[unsafe(no_mangle)]
unsafe extern "C" fn fexecve(file: c_int, arguments: Strings, environment: Strings) -> c_int {
    let original = original!(fexecve(_, _, _) else return -1);
    let mut buffer = [0; MAX_PATH];
    let path = path_of(&mut buffer, file, b"").map_or(::std::ptr::null(), CStr::as_ptr);
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        execute(path, program::by_path, arguments, environment, |environment| {
            original(file, arguments, environment)
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execveat(
    folder: c_int,
    name: *const c_char,
    arguments: Strings,
    environment: Strings,
    flags: c_int,
) -> c_int {
    let original = original!(execveat(_, _, _, _, _));
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
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        execute(path, program::by_path, arguments, environment, |environment| match original {
            Some(original) => original(folder, name, arguments, environment, flags),
            // The function exists since glibc 2.34.
            None => {
                let number = libc::SYS_execveat;
                libc::syscall(number, folder, name, arguments, environment, flags) as c_int
            }
        })
    }
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
