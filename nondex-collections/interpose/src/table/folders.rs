//! Entries of directories, by stream, by list and by descriptor.

use ::std::ffi::{c_char, c_int, c_long, c_void};
use ::std::ptr;

use crate::directory::listed::{Compare, Filter, List, listed};
use crate::directory::{self, raw};
use crate::libc::{self, DIR, dirent64};

c_functions! {
    fn opendir(name: *const c_char) -> *mut DIR, missing ptr::null_mut(),
        layers [directory::named(name)];
    /// Opens a stream for a descriptor. Walkers and `cap-std` open directories by `openat`, and
    /// read them through this.
    fn fdopendir(file: c_int) -> *mut DIR, missing ptr::null_mut(), layers [directory::opened()];
    fn closedir(dir: *mut DIR) -> c_int, missing -1, layers [directory::closed(dir)];
    fn rewinddir(dir: *mut DIR), layers [directory::rewound(dir)];
    fn telldir(dir: *mut DIR) -> c_long, missing -1, layers [directory::position(dir)];
    fn seekdir(dir: *mut DIR, position: c_long), layers [directory::move_to(dir, position)];

    // On 64-bit systems, the functions with and without 64 have one layout.
    fn readdir64(dir: *mut DIR) -> *mut dirent64, missing ptr::null_mut(),
        layers [directory::read(dir)];
    fn readdir(dir: *mut DIR) -> *mut dirent64, missing ptr::null_mut(),
        layers [directory::read(dir)];
    fn readdir64_r(dir: *mut DIR, entry: *mut dirent64, result: *mut *mut dirent64) -> c_int,
        missing libc::ENOSYS, layers [directory::read_into(dir, entry, result)];
    fn readdir_r(dir: *mut DIR, entry: *mut dirent64, result: *mut *mut dirent64) -> c_int,
        missing libc::ENOSYS, layers [directory::read_into(dir, entry, result)];

    fn scandir(path: *const c_char, list: *mut List, filter: Filter, compare: Compare) -> c_int,
        missing -1, layers [listed(list, compare) => (compare)];
    fn scandir64(path: *const c_char, list: *mut List, filter: Filter, compare: Compare) -> c_int,
        missing -1, layers [listed(list, compare) => (compare)];
    fn scandirat(folder: c_int, path: *const c_char, list: *mut List, filter: Filter,
        compare: Compare) -> c_int, missing -1, layers [listed(list, compare) => (compare)];
    fn scandirat64(folder: c_int, path: *const c_char, list: *mut List, filter: Filter,
        compare: Compare) -> c_int, missing -1, layers [listed(list, compare) => (compare)];

    fn getdents64(folder: c_int, buffer: *mut c_void, len: usize) -> isize, missing -1,
        layers [raw::entries(folder, buffer, len) => (buffer, len)];
}
