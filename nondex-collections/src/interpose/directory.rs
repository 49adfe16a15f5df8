//! `opendir`, `readdir` and their kin: one order for `fs::read_dir`, `Path::read_dir`, walkers and C code.
//!
//! The first read of a stream reads it whole, arranges the entries, and gives out copies. `.` and `..` come first, as
//! they are. A stream opened while the tool's own code runs, or outside a test, is not touched.

use ::std::cell::Cell;
use ::std::collections::BTreeMap;
use ::std::ffi::{CStr, c_char, c_int, c_void};
use ::std::sync::{Mutex, MutexGuard, PoisonError};

use libc::dirent64;
use nondex_core::{Caller, Model, model};

use super::{Errno, Original, origin};
use crate::arrange::arrange;

thread_local! {
    static CALLER: Cell<Option<Caller>> = const { Cell::new(None) };
}

/// Says who calls, until dropped: a stream that is opened meanwhile is read on behalf of `caller`.
pub(crate) fn called_by(caller: Caller) -> impl Drop {
    struct Restore(Option<Caller>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALLER.set(self.0.take());
        }
    }
    Restore(CALLER.replace(Some(caller)))
}

/// An entry as libc laid it out, at an address that is aligned for it.
type Entry = Box<[u64]>;

struct Stream {
    model: &'static Model,
    caller: Caller,
    entries: Option<Vec<Entry>>,
    next: usize,
    /// The error that ended the directory, or 0.
    error: c_int,
}

impl Stream {
    fn new(model: &'static Model, caller: Caller) -> Self {
        Stream {
            model,
            caller,
            entries: None,
            next: 0,
            error: 0,
        }
    }
}

static STREAMS: Mutex<BTreeMap<usize, Stream>> = Mutex::new(BTreeMap::new());

fn streams() -> MutexGuard<'static, BTreeMap<usize, Stream>> {
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_test() -> bool {
    nondex_core::context::level().is_some()
}

type Readdir = unsafe extern "C" fn(*mut libc::DIR) -> *mut dirent64;
// SAFETY: the signature is libc's.
static READDIR64: Original<Readdir> = unsafe { Original::new(c"readdir64") };

#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(name: *const c_char) -> *mut libc::DIR {
    // SAFETY: the signature is libc's.
    static ORIGINAL: Original<unsafe extern "C" fn(*const c_char) -> *mut libc::DIR> =
        unsafe { Original::new(c"opendir") };
    let Some(original) = ORIGINAL.get() else {
        return ::std::ptr::null_mut();
    };
    // SAFETY: the caller's argument, unchanged.
    let dir = unsafe { original(name) };
    if !dir.is_null() && in_test() {
        let _errno = Errno::save();
        let stream = match CALLER.get() {
            Some(caller) => Stream::new(&model::FS_READ_DIR, caller),
            None => Stream::new(&model::PATH_READ_DIR, origin::caller()),
        };
        streams().insert(dir.addr(), stream);
    }
    dir
}

#[unsafe(no_mangle)]
unsafe extern "C" fn closedir(dir: *mut libc::DIR) -> c_int {
    // SAFETY: the signature is libc's.
    static ORIGINAL: Original<unsafe extern "C" fn(*mut libc::DIR) -> c_int> =
        unsafe { Original::new(c"closedir") };
    streams().remove(&dir.addr());
    match ORIGINAL.get() {
        // SAFETY: the caller's argument, unchanged.
        Some(original) => unsafe { original(dir) },
        None => -1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rewinddir(dir: *mut libc::DIR) {
    // SAFETY: the signature is libc's.
    static ORIGINAL: Original<unsafe extern "C" fn(*mut libc::DIR)> =
        unsafe { Original::new(c"rewinddir") };
    if let Some(stream) = streams().get_mut(&dir.addr()) {
        *stream = Stream::new(stream.model, stream.caller);
    }
    if let Some(original) = ORIGINAL.get() {
        // SAFETY: the caller's argument, unchanged.
        unsafe { original(dir) }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readdir64(dir: *mut libc::DIR) -> *mut dirent64 {
    // SAFETY: the caller gives an open directory.
    unsafe { read(dir) }
}

/// The same function on 64-bit Linux, where both have one layout.
#[cfg(target_pointer_width = "64")]
#[unsafe(no_mangle)]
unsafe extern "C" fn readdir(dir: *mut libc::DIR) -> *mut dirent64 {
    // SAFETY: the caller gives an open directory.
    unsafe { read(dir) }
}

/// # Safety
/// `dir` must be open.
unsafe fn read(dir: *mut libc::DIR) -> *mut dirent64 {
    let Some(original) = READDIR64.get() else {
        return ::std::ptr::null_mut();
    };
    // Waiting for a lock sets it, and the caller takes what is there at the end of a directory for an error.
    let errno = Errno::save();
    let mut open = streams();
    let stream = match open.get_mut(&dir.addr()) {
        Some(stream) if stream.entries.is_some() || in_test() => stream,
        // Not opened by a test, for example by `fdopendir` in std's `remove_dir_all`.
        _ => {
            drop(open);
            drop(errno);
            // SAFETY: the caller's argument, unchanged.
            return unsafe { original(dir) };
        }
    };
    if stream.entries.is_none() {
        // SAFETY: the caller gives an open directory.
        let (entries, error) = unsafe { read_whole(original, dir) };
        let (mut dots, named): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| is_dots(name(entry)));
        dots.extend(arrange(named, stream.model, stream.caller, name));
        stream.entries = Some(dots);
        stream.error = error;
    }
    let entries = stream
        .entries
        .as_mut()
        .map_or(&mut [][..], Vec::as_mut_slice);
    if let Some(entry) = entries.get_mut(stream.next) {
        stream.next += 1;
        return entry.as_mut_ptr().cast();
    }
    let error = stream.error;
    drop(open);
    drop(errno);
    if error != 0 {
        // SAFETY: the location is valid for the life of the thread.
        unsafe { *libc::__errno_location() = error };
    }
    ::std::ptr::null_mut()
}

/// All entries that are left, and the error that ended them.
///
/// # Safety
/// `dir` must be open, and `original` libc's own `readdir64`.
unsafe fn read_whole(original: Readdir, dir: *mut libc::DIR) -> (Vec<Entry>, c_int) {
    let mut entries = Vec::new();
    loop {
        // SAFETY: `errno` is the only way to tell the end from an error; `dir` is open as the caller promises.
        let (found, error) = unsafe {
            *libc::__errno_location() = 0;
            let found = original(dir);
            (found, *libc::__errno_location())
        };
        if found.is_null() {
            return (entries, error);
        }
        // SAFETY: libc returned an entry of `d_reclen` bytes, which is valid until the next call.
        let bytes = unsafe {
            let len = usize::from((&raw const (*found).d_reclen).read());
            ::std::slice::from_raw_parts(found.cast::<u8>(), len)
        };
        // At least as large as the type, so that a caller may copy the whole struct.
        let mut entry =
            vec![0_u64; bytes.len().max(size_of::<dirent64>()).div_ceil(8)].into_boxed_slice();
        // SAFETY: the copy has room for `bytes`, and any bytes are valid there.
        unsafe {
            ::std::ptr::copy_nonoverlapping(bytes.as_ptr(), entry.as_mut_ptr().cast(), bytes.len());
        };
        entries.push(entry);
    }
}

fn name(entry: &Entry) -> &[u8] {
    // SAFETY: the entry is a copy of one of libc's: its name begins at this offset and ends with NUL inside it.
    unsafe {
        let start = entry
            .as_ptr()
            .cast::<c_void>()
            .byte_add(::std::mem::offset_of!(dirent64, d_name));
        CStr::from_ptr(start.cast()).to_bytes()
    }
}

fn is_dots(name: &[u8]) -> bool {
    name == b"." || name == b".."
}
