//! Entries of a directory: copies of what libc or the kernel returned.

use ::std::ffi::{CStr, c_int, c_void};

use crate::libc::dirent64;
use nondex_core::{Caller, Model, hidden};

use nondex_core::choice::arrange;

use crate::{errno, set_errno};

/// Entry as libc laid it out, at an address that is aligned for it.
pub(super) type Entry = hidden::Vec<u64>;

/// Reads all remaining entries by `read`, and returns them with the error that ended them.
///
/// # Safety
/// `read` must return the next entry of an open directory, as `readdir64` does.
pub(super) unsafe fn read_whole(read: &dyn Fn() -> *mut dirent64) -> (hidden::Vec<Entry>, c_int) {
    let mut entries = hidden::vec();
    loop {
        // `errno` is the only way to distinguish the end from an error.
        set_errno(0);
        let found = read();
        let error = errno();
        if found.is_null() {
            return (entries, error);
        }
        // SAFETY: libc returned an entry, which is valid until the next call.
        entries.push(unsafe { copy(found) });
    }
}

/// Copies an entry.
///
/// # Safety
/// `entry` must be one from libc or the kernel, with `d_reclen` bytes.
pub(super) unsafe fn copy(entry: *const dirent64) -> Entry {
    // SAFETY: as the caller promises.
    let bytes = unsafe {
        let len = usize::from((&raw const (*entry).d_reclen).read_unaligned());
        ::std::slice::from_raw_parts(entry.cast::<u8>(), len)
    };
    // At least as long as the type, so that a caller may copy the whole struct.
    let words = bytes.len().max(size_of::<dirent64>()).div_ceil(8);
    let mut copy = hidden::collect((0..words).map(|_| 0_u64));
    // SAFETY: the copy has room for `bytes`, and any bytes are valid there.
    unsafe {
        ::std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy.as_mut_ptr().cast(), bytes.len());
    };
    copy
}

/// Puts the entries into the order that the run chooses, and numbers their positions.
pub(super) fn arranged(
    mut entries: hidden::Vec<Entry>,
    model: &'static Model,
    caller: Caller,
) -> hidden::Vec<Entry> {
    arrange_named(&mut entries, model, caller, name);
    for (index, entry) in entries.iter_mut().enumerate() {
        let entry = entry.as_mut_ptr().cast::<dirent64>();
        // SAFETY: a copy has room for the whole type, at an address that is aligned for it.
        unsafe { (&raw mut (*entry).d_off).write(index as i64 + 1) };
    }
    entries
}

/// Arranges all entries with a name. `.` and `..` come first, in their order.
pub(super) fn arrange_named<T>(
    entries: &mut [T],
    model: &'static Model,
    caller: Caller,
    name: impl Fn(&T) -> &[u8],
) {
    let mut dots = 0;
    for at in 0..entries.len() {
        if is_dots(name(&entries[at])) {
            entries[dots..=at].rotate_right(1);
            dots += 1;
        }
    }
    arrange(&mut entries[dots..], 0, model, caller, name);
}

pub(super) fn name(entry: &Entry) -> &[u8] {
    // SAFETY: the entry is a copy of one of libc's: its name begins at this offset and ends with
    // NUL inside it.
    unsafe {
        let start =
            entry.as_ptr().cast::<c_void>().byte_add(::std::mem::offset_of!(dirent64, d_name));
        CStr::from_ptr(start.cast()).to_bytes()
    }
}

fn is_dots(name: &[u8]) -> bool {
    name == b"." || name == b".."
}
