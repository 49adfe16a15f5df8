//! Files by their paths: opened, created, changed and removed.
//!
//! `open` and `openat` take the mode as a variable argument. On every 64-bit Linux, it is in the
//! register of a third or fourth argument. Without `O_CREAT` the original ignores it.

use ::std::ffi::{c_char, c_int};
use ::std::ptr;

use nondex_core::StateKind::File;

use crate::operations::file;
use crate::{libc, surroundings, written};

c_functions! {
    fn open(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, missing -1,
        layers [file::open(path, flags)];
    fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int, missing -1,
        layers [file::open(path, flags)];
    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int,
        missing -1, layers [file::open(path, flags)];
    fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int,
        missing -1, layers [file::open(path, flags)];

    fn mkdir(path: *const c_char, mode: libc::mode_t) -> c_int, missing -1,
        layers [surroundings::named(File, true, path), file::make_folder(path)];
    fn unlink(path: *const c_char) -> c_int, missing -1,
        layers [surroundings::named(File, true, path)];
    fn rmdir(path: *const c_char) -> c_int, missing -1,
        layers [surroundings::named(File, true, path)];
    fn chmod(path: *const c_char, mode: libc::mode_t) -> c_int, missing -1,
        layers [surroundings::named(File, true, path)];
    fn readlink(path: *const c_char, buffer: *mut c_char, len: usize) -> isize, missing -1,
        layers [surroundings::link(path)];
    fn realpath @ c"GLIBC_2.3" (path: *const c_char, buffer: *mut c_char) -> *mut c_char,
        missing ptr::null_mut(), layers [surroundings::link(path)];
    fn rename(from: *const c_char, to: *const c_char) -> c_int, missing -1,
        layers [surroundings::rename(from, to), written::created(libc::AT_FDCWD, to)];
    fn symlink(to: *const c_char, path: *const c_char) -> c_int, missing -1,
        layers [surroundings::named(File, true, path), written::created(libc::AT_FDCWD, path)];
}
