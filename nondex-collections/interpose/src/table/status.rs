//! `stat` and its variants, which only newer C libraries have.

use ::std::ffi::{c_char, c_int};

use crate::file_times::shown;
use crate::file_times::status::{EMPTY_PATH, NO_FOLLOW, call, show};
use crate::libc;

type Place = *mut libc::stat64;

c_functions! {
    fn stat(path: *const c_char, result: Place) -> c_int,
        missing call(libc::AT_FDCWD, path, 0, result), layers [shown(|| show(result))];
    fn stat64(path: *const c_char, result: Place) -> c_int,
        missing call(libc::AT_FDCWD, path, 0, result), layers [shown(|| show(result))];
    fn lstat(path: *const c_char, result: Place) -> c_int,
        missing call(libc::AT_FDCWD, path, NO_FOLLOW, result), layers [shown(|| show(result))];
    fn lstat64(path: *const c_char, result: Place) -> c_int,
        missing call(libc::AT_FDCWD, path, NO_FOLLOW, result), layers [shown(|| show(result))];
    fn fstat(file: c_int, result: Place) -> c_int,
        missing call(file, c"".as_ptr(), EMPTY_PATH, result), layers [shown(|| show(result))];
    fn fstat64(file: c_int, result: Place) -> c_int,
        missing call(file, c"".as_ptr(), EMPTY_PATH, result), layers [shown(|| show(result))];
    fn fstatat(folder: c_int, path: *const c_char, result: Place, flags: c_int) -> c_int,
        missing call(folder, path, flags, result), layers [shown(|| show(result))];
    fn fstatat64(folder: c_int, path: *const c_char, result: Place, flags: c_int) -> c_int,
        missing call(folder, path, flags, result), layers [shown(|| show(result))];
}
