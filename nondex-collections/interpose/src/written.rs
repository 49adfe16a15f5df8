//! The files and folders that the program makes, and the files that it opens to write into them.
//! Their paths are reported to the driver, which takes no others for left by a test.
//!
//! The system returns the path: no memory is taken for it, and links and relative paths need no
//! thought.

use ::std::ffi::{c_char, c_int, c_long, c_uint};

use nondex_core::Source::RandomFile;
use nondex_core::context::{note_written, tells_writes};

use crate::{Errno, clock, errno, libc, original, own, system};

/// Longest path that the system gives, with the NUL that it does not write.
const MAX_PATH: usize = 4096;

/// What follows the path of a file that has no name any more.
const DELETED: &[u8] = b" (deleted)";

/// Called when a file was opened that may be new, or may be written into.
pub(crate) fn open(file: c_int) {
    if file >= 0 && is_reported() {
        let _errno = Errno::save();
        tell(file);
    }
}

/// Called when there is something new at this path, which is relative to a folder.
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
            tell(file);
            // SAFETY: the descriptor is this function's.
            unsafe { system::call(libc::SYS_close, [file.into(), 0, 0, 0, 0, 0]) };
        }
        // It is gone again.
        _ if [libc::ENOENT, libc::ENOTDIR].contains(&errno()) => {}
        _ => note_written(None),
    }
}

/// Called where it is not known what there is that is new.
pub(crate) fn anything() {
    if is_reported() {
        note_written(None);
    }
}

/// Whether what is written is reported: not what the runtime writes itself.
fn is_reported() -> bool {
    own::is_standing() && tells_writes() && !own::is_working()
}

/// Tells the path of an open file.
#[cold]
fn tell(file: c_int) {
    let mut room = [0_u8; MAX_PATH];
    let path = system::name_of(file, &mut room).filter(|path| path.len() < MAX_PATH);
    // What was removed again is nobody's, and what is no file has no path.
    if path.is_some_and(|path| path.ends_with(DELETED) || !path.starts_with(b"/")) {
        return;
    }
    note_written(path.and_then(|path| ::std::str::from_utf8(path).ok()));
}

/// Functions that write something, which is reported when they have: then they return 0.
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

/// Functions that open what is written, inside of which libc does not call its own `open` by name.
/// Some have a source: libc draws a name with random bytes that no choice controls.
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

/// Functions that return such a name, and make nothing.
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
