//! Environment, current directory, masks, signals, limits, and files by their paths. Reads and
//! changes are recorded if a run requests it.

use ::std::ffi::{c_char, c_int, c_uint};

use nondex_core::StateKind;
use nondex_core::hidden::Text;

use super::accessed::accessed;
use super::operations::{note_path, text};
use super::schedule;
use super::{libc, original, written};

/// Declares functions that record an access to a state and then call the original. The state is
/// named by a C string (`text`), before which other threads may run, or by an expression (`of`).
/// Functions that follow a `link` also record its path.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $failed:expr,
        $kind:ident $writes:expr => $(text $text:ident)? $(link $link:ident)? $(of $of:expr)?;
    )*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            let original = original!($name($($type),*) else return $failed);
            $(schedule::file(StateKind::$kind, $writes, $text);)?
            $(
                // SAFETY: the caller gives a C string.
                unsafe { note_path($link) };
            )?
            // SAFETY: the caller gives C strings.
            accessed(StateKind::$kind, $writes, || { $(unsafe { text($text) })? $($of)? });
            // SAFETY: the caller's arguments, unchanged.
            unsafe { original($($argument),*) }
        })*
    };
}

/// Name of the mask of blocked signals among the states of signals.
pub(crate) const MASK: &str = "mask";

const EMPTY: *const c_char = c"".as_ptr();

functions! {
    getenv(name: *const c_char) -> *mut c_char, ::std::ptr::null_mut(),
        Env false => text name;
    secure_getenv(name: *const c_char) -> *mut c_char, ::std::ptr::null_mut(),
        Env false => text name;
    setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int, -1,
        Env true => text name;
    unsetenv(name: *const c_char) -> c_int, -1, Env true => text name;
    chdir(path: *const c_char) -> c_int, -1, Cwd true => text EMPTY;
    fchdir(file: c_int) -> c_int, -1, Cwd true => text EMPTY;
    getcwd(buffer: *mut c_char, len: usize) -> *mut c_char, ::std::ptr::null_mut(),
        Cwd false => text EMPTY;
    unlink(path: *const c_char) -> c_int, -1, File true => text path;
    rmdir(path: *const c_char) -> c_int, -1, File true => text path;
    readlink(path: *const c_char, buffer: *mut c_char, len: usize) -> isize, -1,
        File false => text path link path;
    realpath(path: *const c_char, buffer: *mut c_char) -> *mut c_char,
        ::std::ptr::null_mut(), File false => text path link path;
    chmod(path: *const c_char, mode: libc::mode_t) -> c_int, -1, File true => text path;
    umask(mask: libc::mode_t) -> libc::mode_t, 0, Umask true => of Text::new();
    sigaction(signal: c_int, new: *const libc::sigaction,
        old: *mut libc::sigaction) -> c_int, -1,
            Signal !new.is_null() => of Text::of(format_args!("{signal}"));
    signal(number: c_int, handler: libc::size_t) -> libc::size_t, usize::MAX,
        Signal true => of Text::of(format_args!("{number}"));
    pthread_sigmask(how: c_int, new: *const libc::sigset_t,
        old: *mut libc::sigset_t) -> c_int, -1, Signal !new.is_null() => of Text::from(MASK);
    sigprocmask(how: c_int, new: *const libc::sigset_t,
        old: *mut libc::sigset_t) -> c_int, -1, Signal !new.is_null() => of Text::from(MASK);
    getrlimit(limit: c_uint, value: *mut libc::rlimit) -> c_int, -1,
        Limit false => of Text::of(format_args!("{limit}"));
    setrlimit(limit: c_uint, value: *const libc::rlimit) -> c_int, -1,
        Limit true => of Text::of(format_args!("{limit}"));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let original = original!(rename(_, _) else return -1);
    schedule::file(StateKind::File, true, to);
    for path in [from, to] {
        // SAFETY: the caller gives C strings.
        accessed(StateKind::File, true, || unsafe { text(path) });
    }
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(from, to) };
    if result == 0 {
        written::at(libc::AT_FDCWD, to);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn symlink(to: *const c_char, path: *const c_char) -> c_int {
    let original = original!(symlink(_, _) else return -1);
    schedule::file(StateKind::File, true, path);
    // SAFETY: the caller gives C strings.
    accessed(StateKind::File, true, || unsafe { text(path) });
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(to, path) };
    if result == 0 {
        written::at(libc::AT_FDCWD, path);
    }
    result
}
