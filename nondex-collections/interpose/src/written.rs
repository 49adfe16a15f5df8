//! Files and directories that the program creates, and files that it opens for writing. Their paths
//! are reported to the driver, which takes no other files for leftovers of a test.
//!
//! The system returns the path. So no memory is allocated for it, and links and relative paths need
//! no handling.

use ::std::ffi::{c_char, c_int, c_long, c_uint};

use nondex_core::Source::RandomFile;
use nondex_core::context::{note_written, tells_writes};

use crate::{Errno, clock, errno, libc, original, own, system};

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

/// Declares functions that create something at a path, which is reported if they return 0.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) => $folder:expr,
        $path:ident;)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            let original = original!($name($($type),*) else return -1);
            // SAFETY: the caller's arguments, unchanged.
            let result = unsafe { original($($argument),*) };
            if result == 0 {
                at($folder, $path);
            }
            result
        })*
    };
}

functions! {
    mkdirat(folder: c_int, path: *const c_char, mode: libc::mode_t) => folder, path;
    mkfifo(path: *const c_char, mode: libc::mode_t) => libc::AT_FDCWD, path;
    link(from: *const c_char, to: *const c_char) => libc::AT_FDCWD, to;
    linkat(old: c_int, from: *const c_char, new: c_int, to: *const c_char,
        flags: c_int) => new, to;
    symlinkat(to: *const c_char, folder: c_int, path: *const c_char) => folder, path;
    truncate(path: *const c_char, len: libc::off64_t) => libc::AT_FDCWD, path;
    truncate64(path: *const c_char, len: libc::off64_t) => libc::AT_FDCWD, path;
    renameat(old: c_int, from: *const c_char, new: c_int, to: *const c_char) => new,
        to;
    renameat2(old: c_int, from: *const c_char, new: c_int, to: *const c_char,
        flags: c_uint) => new, to;
}

/// Declares functions that open a file for writing, because libc does not call its interposed
/// `open` there. Some have a source: libc draws a name with random bytes that no choice controls.
macro_rules! descriptors {
    ($($name:ident($($argument:ident: $type:ty),*) $($source:expr)?;)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            let original = original!($name($($type),*) else return -1);
            $(clock::note($source);)?
            // SAFETY: the caller's arguments, unchanged.
            let file = unsafe { original($($argument),*) };
            open(file);
            file
        })*
    };
}

descriptors! {
    creat(path: *const c_char, mode: libc::mode_t);
    creat64(path: *const c_char, mode: libc::mode_t);
    mkstemp(template: *mut c_char) RandomFile;
    mkstemp64(template: *mut c_char) RandomFile;
    mkostemp(template: *mut c_char, flags: c_int) RandomFile;
    mkostemp64(template: *mut c_char, flags: c_int) RandomFile;
    mkstemps(template: *mut c_char, suffix: c_int) RandomFile;
    mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) RandomFile;
}

/// Declares functions that only return such a random name.
macro_rules! names {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> *mut c_char {
            let original = original!($name($($type),*) else return ::std::ptr::null_mut());
            clock::note(RandomFile);
            // SAFETY: the caller's arguments, unchanged.
            unsafe { original($($argument),*) }
        })*
    };
}

names! {
    mktemp(template: *mut c_char);
    tmpnam(name: *mut c_char);
    tempnam(folder: *const c_char, prefix: *const c_char);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdtemp(template: *mut c_char) -> *mut c_char {
    let original = original!(mkdtemp(_) else return ::std::ptr::null_mut());
    clock::note(RandomFile);
    // SAFETY: the caller's argument, unchanged.
    let path = unsafe { original(template) };
    if !path.is_null() {
        at(libc::AT_FDCWD, path);
    }
    path
}
