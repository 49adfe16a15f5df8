//! Files by their paths: opened, created, changed and removed.
//!
//! `open` and `openat` take the mode as a variable argument. On every 64-bit Linux, it is in the
//! register of a third or fourth argument. Without `O_CREAT` the original ignores it.

use ::std::ffi::{c_char, c_int, c_uint, c_void};
use ::std::ptr;

use nondex_core::Source::RandomFile;
use nondex_core::StateKind::File;

use crate::file_times::{self, show_extended, shown};
use crate::operations::{file, stream};
use crate::{clock, libc, surroundings, written};

use crate::failed;

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
    fn mkdirat(folder: c_int, path: *const c_char, mode: libc::mode_t) -> c_int, missing -1,
        layers [written::created(folder, path)];
    fn mkfifo(path: *const c_char, mode: libc::mode_t) -> c_int, missing -1,
        layers [written::created(libc::AT_FDCWD, path)];
    fn link(from: *const c_char, to: *const c_char) -> c_int, missing -1,
        layers [written::created(libc::AT_FDCWD, to)];
    fn linkat(old: c_int, from: *const c_char, new: c_int, to: *const c_char, flags: c_int)
        -> c_int, missing -1, layers [written::created(new, to)];
    fn symlinkat(to: *const c_char, folder: c_int, path: *const c_char) -> c_int, missing -1,
        layers [written::created(folder, path)];
    fn truncate(path: *const c_char, len: libc::off64_t) -> c_int, missing -1,
        layers [written::created(libc::AT_FDCWD, path)];
    fn truncate64(path: *const c_char, len: libc::off64_t) -> c_int, missing -1,
        layers [written::created(libc::AT_FDCWD, path)];
    fn renameat(old: c_int, from: *const c_char, new: c_int, to: *const c_char) -> c_int,
        missing -1, layers [written::created(new, to)];
    fn renameat2(old: c_int, from: *const c_char, new: c_int, to: *const c_char, flags: c_uint)
        -> c_int, missing -1, layers [written::created(new, to)];

    // libc does not call its interposed `open` in these. It draws names of temporary files with
    // random bytes that no choice controls.
    fn creat(path: *const c_char, mode: libc::mode_t) -> c_int, missing -1,
        layers [written::opened()];
    fn creat64(path: *const c_char, mode: libc::mode_t) -> c_int, missing -1,
        layers [written::opened()];
    fn mkstemp(template: *mut c_char) -> c_int, missing -1,
        layers [clock::noted(RandomFile), written::opened()];
    fn mkstemp64(template: *mut c_char) -> c_int, missing -1,
        layers [clock::noted(RandomFile), written::opened()];
    fn mkostemp(template: *mut c_char, flags: c_int) -> c_int, missing -1,
        layers [clock::noted(RandomFile), written::opened()];
    fn mkostemp64(template: *mut c_char, flags: c_int) -> c_int, missing -1,
        layers [clock::noted(RandomFile), written::opened()];
    fn mkstemps(template: *mut c_char, suffix: c_int) -> c_int, missing -1,
        layers [clock::noted(RandomFile), written::opened()];
    fn mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int, missing -1,
        layers [clock::noted(RandomFile), written::opened()];
    fn mkdtemp(template: *mut c_char) -> *mut c_char, missing ptr::null_mut(),
        layers [clock::noted(RandomFile), written::created_folder()];
    fn mktemp(template: *mut c_char) -> *mut c_char, missing ptr::null_mut(),
        layers [clock::noted(RandomFile)];
    fn tmpnam(name: *mut c_char) -> *mut c_char, missing ptr::null_mut(),
        layers [clock::noted(RandomFile)];
    fn tempnam(folder: *const c_char, prefix: *const c_char) -> *mut c_char,
        missing ptr::null_mut(), layers [clock::noted(RandomFile)];
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void, missing ptr::null_mut(),
        layers [stream::open(path, mode)];
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut c_void, missing ptr::null_mut(),
        layers [stream::open(path, mode)];
    fn freopen(path: *const c_char, mode: *const c_char, stream: *mut c_void) -> *mut c_void,
        missing ptr::null_mut(), layers [stream::open(path, mode)];
    fn freopen64(path: *const c_char, mode: *const c_char, stream: *mut c_void) -> *mut c_void,
        missing ptr::null_mut(), layers [stream::open(path, mode)];

    fn statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, result: *mut c_void)
        -> c_int, missing failed(libc::ENOSYS),
        layers [surroundings::named(File, false, path), shown(|| show_extended(result))];
    fn futimens(file: c_int, times: *const libc::timespec) -> c_int, missing -1,
        layers [file_times::set(times)];
    fn utimensat(folder: c_int, path: *const c_char, times: *const libc::timespec, flags: c_int)
        -> c_int, missing -1, layers [file_times::set(times)];
}
