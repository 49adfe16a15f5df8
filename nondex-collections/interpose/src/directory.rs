//! `opendir`, `readdir` and their variants: one order for `fs::read_dir`, `Path::read_dir`, walkers
//! and C code.
//!
//! The first read of a stream reads it whole, arranges the entries, and returns copies. `.` and
//! `..` come first, in their order. A position in such a stream is the number of entries before it.
//! Some streams stay unchanged: those opened while the tool's own code runs, outside a test, or
//! over a directory of `/proc`.

mod entries;
mod listed;
mod proc;
mod raw;

use ::std::cell::Cell;
use ::std::ffi::{c_char, c_int, c_long};

use crate::libc::dirent64;
use nondex_core::fork_lock::ForkLock;
use nondex_core::sorted::SortedMap;
use nondex_core::{Caller, Model, StateKind, context, hidden, model};

use self::entries::{Entry, arranged, read_whole};
use super::accessed::accessed;
use super::operations::{note_path, text};
use super::{Errno, errno, origin, original, own, scoped, set_errno};
use crate::libc;

pub(super) use raw::syscall;

thread_local! {
    static CALLER: Cell<Option<Caller>> = const { Cell::new(None) };
    static REMOVES: Cell<bool> = const { Cell::new(false) };
}

/// Sets the caller until the guard is dropped: a stream opened meanwhile is read on behalf of
/// `caller`.
pub fn called_by(caller: Caller) -> impl Drop {
    scoped::set(&CALLER, Some(caller))
}

/// Marks that a tree is being removed, until the guard is dropped. The order of a removal is not
/// observable.
pub fn removing() -> impl Drop {
    scoped::set(&REMOVES, true)
}

struct Stream {
    model: &'static Model,
    caller: Caller,
    entries: Option<hidden::Vec<Entry>>,
    next: usize,
    /// Error that ended the directory, or 0.
    error: c_int,
}

impl Stream {
    fn new((model, caller): (&'static Model, Caller)) -> Self {
        Stream { model, caller, entries: None, next: 0, error: 0 }
    }
}

static STREAMS: ForkLock<SortedMap<usize, Stream>> = ForkLock::new(SortedMap::new);

pub(super) fn before_fork() {
    STREAMS.before_fork();
    raw::before_fork();
}

pub(super) fn after_fork() {
    raw::after_fork();
    STREAMS.after_fork();
}

/// Returns the model and the caller of a read of a directory now; `None` if nothing is to be
/// chosen.
fn reader() -> Option<(&'static Model, Caller)> {
    match CALLER.get() {
        Some(caller) => Some((&model::FS_READ_DIR, caller)),
        None if REMOVES.get() || context::is_forked_beside_threads() => None,
        None => Some((&model::PATH_READ_DIR, origin::caller())),
    }
}

/// Records that a stream was opened.
fn opened(dir: *mut libc::DIR) {
    if !dir.is_null() {
        if let Some(_work) = own::work() {
            let _errno = Errno::save();
            if let Some(reader) = reader() {
                // SAFETY: the stream was opened and not closed.
                if !proc::has(unsafe { libc::dirfd(dir) }) {
                    if let Some(mut open) = STREAMS.lock() {
                        open.insert(dir.addr(), Stream::new(reader));
                    }
                }
            }
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(name: *const c_char) -> *mut libc::DIR {
    let original = original!(opendir(_) else return ::std::ptr::null_mut());
    // SAFETY: the caller gives a C string.
    accessed(StateKind::File, false, || unsafe { text(name) });
    // SAFETY: as above.
    unsafe { note_path(name) };
    // SAFETY: the caller's argument, unchanged.
    let dir = unsafe { original(name) };
    opened(dir);
    dir
}

/// Opens a stream for a descriptor. Walkers and `cap-std` open directories by `openat`, and read
/// them through this.
#[unsafe(no_mangle)]
unsafe extern "C" fn fdopendir(file: c_int) -> *mut libc::DIR {
    let original = original!(fdopendir(_) else return ::std::ptr::null_mut());
    // SAFETY: the caller's argument, unchanged.
    let dir = unsafe { original(file) };
    opened(dir);
    dir
}

#[unsafe(no_mangle)]
unsafe extern "C" fn closedir(dir: *mut libc::DIR) -> c_int {
    let original = original!(closedir(_) else return -1);
    let stream = STREAMS.lock().and_then(|mut open| open.remove(&dir.addr()));
    drop(stream);
    // SAFETY: the caller's argument, unchanged.
    unsafe { original(dir) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rewinddir(dir: *mut libc::DIR) {
    let original = original!(rewinddir(_) else return);
    let read = STREAMS.lock().and_then(|mut open| {
        let stream = open.get_mut(&dir.addr())?;
        stream.next = 0;
        stream.error = 0;
        stream.entries.take()
    });
    drop(read);
    // SAFETY: the caller's argument, unchanged.
    unsafe { original(dir) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn telldir(dir: *mut libc::DIR) -> c_long {
    let original = original!(telldir(_) else return -1);
    let own = STREAMS.lock().and_then(|open| {
        let stream = open.get(&dir.addr())?;
        Some(stream.next as c_long)
    });
    // SAFETY: the caller's argument, unchanged.
    own.unwrap_or_else(|| unsafe { original(dir) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn seekdir(dir: *mut libc::DIR, position: c_long) {
    let original = original!(seekdir(_, _) else return);
    let own = STREAMS.lock().and_then(|mut open| {
        let stream = open.get_mut(&dir.addr())?;
        stream.next = usize::try_from(position).unwrap_or(0);
        Some(())
    });
    if own.is_none() {
        // SAFETY: the caller's arguments, unchanged.
        unsafe { original(dir, position) }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readdir64(dir: *mut libc::DIR) -> *mut dirent64 {
    // SAFETY: the caller gives an open directory.
    unsafe { read(dir) }
}

/// Reads an entry as `readdir64` does, because both have one layout.
#[unsafe(no_mangle)]
unsafe extern "C" fn readdir(dir: *mut libc::DIR) -> *mut dirent64 {
    // SAFETY: the caller gives an open directory.
    unsafe { read(dir) }
}

/// Copies the next entry to the caller's buffer.
///
/// # Safety
/// As for `readdir64_r`.
unsafe fn read_into(
    dir: *mut libc::DIR,
    entry: *mut dirent64,
    result: *mut *mut dirent64,
) -> c_int {
    let _errno = Errno::save();
    // SAFETY: the caller gives an open directory, room for an entry, and a place for its address.
    unsafe {
        set_errno(0);
        let found = read(dir);
        result.write(::std::ptr::null_mut());
        if found.is_null() {
            return errno();
        }
        let len = usize::from((&raw const (*found).d_reclen).read()).min(size_of::<dirent64>());
        ::std::ptr::copy_nonoverlapping(found.cast::<u8>(), entry.cast(), len);
        result.write(entry);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readdir64_r(
    dir: *mut libc::DIR,
    entry: *mut dirent64,
    result: *mut *mut dirent64,
) -> c_int {
    // SAFETY: the caller's arguments, unchanged.
    unsafe { read_into(dir, entry, result) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readdir_r(
    dir: *mut libc::DIR,
    entry: *mut dirent64,
    result: *mut *mut dirent64,
) -> c_int {
    // SAFETY: the caller's arguments, unchanged.
    unsafe { read_into(dir, entry, result) }
}

/// Result of the next read of a stream.
enum Next {
    /// The stream is not arranged, so libc's result counts.
    Unknown,
    /// The stream must be read and arranged first.
    Unread(Stream),
    Entry(*mut dirent64),
    /// The end, with this error, or 0.
    End(c_int),
}

fn next(dir: *mut libc::DIR) -> Next {
    let Some(mut open) = STREAMS.lock() else { return Next::Unknown };
    let Some(stream) = open.get_mut(&dir.addr()) else { return Next::Unknown };
    let Some(entries) = &mut stream.entries else {
        // Removed meanwhile, because reading and arranging takes longer than the lock may be held.
        return open.remove(&dir.addr()).map_or(Next::Unknown, Next::Unread);
    };
    match entries.get_mut(stream.next) {
        Some(entry) => {
            stream.next += 1;
            Next::Entry(entry.as_mut_ptr().cast())
        }
        None => Next::End(stream.error),
    }
}

/// Returns the next entry of a stream, arranged if the stream is.
///
/// # Safety
/// `dir` must be open.
unsafe fn read(dir: *mut libc::DIR) -> *mut dirent64 {
    let original = original!(readdir64(_) else return ::std::ptr::null_mut());
    // The tool's own code sets `errno`, and the caller takes that for an error at the end.
    let errno = Errno::save();
    let mut found = next(dir);
    if let Next::Unread(mut stream) = found {
        found = Next::Unknown;
        if let Some(_work) = own::work() {
            // SAFETY: the caller gives an open directory.
            let (entries, error) = unsafe { read_whole(original, dir) };
            stream.entries = Some(arranged(entries, stream.model, stream.caller));
            stream.error = error;
            if let Some(mut open) = STREAMS.lock() {
                open.insert(dir.addr(), stream);
            }
            found = next(dir);
        }
    }
    drop(errno);
    match found {
        Next::Entry(entry) => entry,
        Next::End(error) => {
            if error != 0 {
                set_errno(error);
            }
            ::std::ptr::null_mut()
        }
        // The stream was opened outside a test, or is not to be arranged.
        // SAFETY: the caller's argument, unchanged.
        Next::Unknown | Next::Unread(_) => unsafe { original(dir) },
    }
}
