//! `opendir`, `readdir` and their variants: one order for `fs::read_dir`, `Path::read_dir`, walkers
//! and C code.
//!
//! The first read of a stream reads it whole, arranges the entries, and returns copies. `.` and
//! `..` come first, in their order. A position in such a stream is the number of entries before it.
//! Some streams stay unchanged: those opened while the tool's own code runs, outside a test, or
//! over a directory of `/proc`.

mod entries;
pub(crate) mod listed;
mod proc;
pub(crate) mod raw;

use ::std::cell::Cell;
use ::std::ffi::{c_char, c_int, c_long};

use crate::libc::dirent64;
use nondex_core::fork_lock::ForkLock;
use nondex_core::sorted::SortedMap;
use nondex_core::{Caller, Model, StateKind, context, hidden, model};

use self::entries::{Entry, arranged, read_whole};
use super::accessed::accessed;
use super::operations::{note_path, text};
use super::{Errno, errno, origin, own, scoped, set_errno};
use crate::libc;
use crate::table::folders;

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

/// Records that a directory is opened by its path.
///
/// # Safety
/// `name` must be a C string, or null.
pub(crate) unsafe fn named(
    name: *const c_char,
    next: impl FnOnce() -> *mut libc::DIR,
) -> *mut libc::DIR {
    // SAFETY: as the caller promises.
    accessed(StateKind::File, false, || unsafe { text(name) });
    // SAFETY: as the caller promises.
    unsafe { note_path(name) };
    opened(next)
}

/// Keeps the stream that the call opens, if its order is to be chosen.
pub(crate) fn opened(next: impl FnOnce() -> *mut libc::DIR) -> *mut libc::DIR {
    let dir = next();
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
    dir
}

/// Forgets a stream that is closed.
pub(crate) fn closed(dir: *mut libc::DIR, next: impl FnOnce() -> c_int) -> c_int {
    let stream = STREAMS.lock().and_then(|mut open| open.remove(&dir.addr()));
    drop(stream);
    next()
}

/// Returns to the beginning of a stream, which is read and arranged again.
pub(crate) fn rewound(dir: *mut libc::DIR, next: impl FnOnce()) {
    let read = STREAMS.lock().and_then(|mut open| {
        let stream = open.get_mut(&dir.addr())?;
        stream.next = 0;
        stream.error = 0;
        stream.entries.take()
    });
    drop(read);
    next();
}

/// Returns the position in an arranged stream.
pub(crate) fn position(dir: *mut libc::DIR, next: impl FnOnce() -> c_long) -> c_long {
    let own = STREAMS.lock().and_then(|open| {
        let stream = open.get(&dir.addr())?;
        Some(stream.next as c_long)
    });
    own.unwrap_or_else(next)
}

/// Sets the position in an arranged stream.
pub(crate) fn move_to(dir: *mut libc::DIR, position: c_long, next: impl FnOnce()) {
    let own = STREAMS.lock().and_then(|mut open| {
        let stream = open.get_mut(&dir.addr())?;
        stream.next = usize::try_from(position).unwrap_or(0);
        Some(())
    });
    own.unwrap_or_else(next);
}

/// Copies the next entry to the caller's buffer, as `readdir64_r` does.
///
/// # Safety
/// The directory must be open, `entry` must have room for an entry, and `result` for its address.
pub(crate) unsafe fn read_into(
    dir: *mut libc::DIR,
    entry: *mut dirent64,
    result: *mut *mut dirent64,
    _next: impl FnOnce() -> c_int,
) -> c_int {
    let _errno = Errno::save();
    // SAFETY: as the caller promises.
    unsafe {
        set_errno(0);
        let found = folders::readdir64(dir);
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

fn next_of(dir: *mut libc::DIR) -> Next {
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
/// `dir` must be open, and `next` must read its next entry.
pub(crate) unsafe fn read(dir: *mut libc::DIR, next: impl Fn() -> *mut dirent64) -> *mut dirent64 {
    // The tool's own code sets `errno`, and the caller takes that for an error at the end.
    let errno = Errno::save();
    let mut found = next_of(dir);
    if let Next::Unread(mut stream) = found {
        found = Next::Unknown;
        if let Some(_work) = own::work() {
            // SAFETY: as the caller promises.
            let (entries, error) = unsafe { read_whole(&next) };
            stream.entries = Some(arranged(entries, stream.model, stream.caller));
            stream.error = error;
            if let Some(mut open) = STREAMS.lock() {
                open.insert(dir.addr(), stream);
            }
            found = next_of(dir);
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
        Next::Unknown | Next::Unread(_) => next(),
    }
}
