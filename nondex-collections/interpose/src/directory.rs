//! `opendir`, `readdir` and their kin: one order for `fs::read_dir`, `Path::read_dir`, walkers and
//! C code.
//!
//! The first read of a stream reads it whole, arranges the entries, and gives out copies. `.` and
//! `..` come first, as they are. A position in such a stream is the number of entries before it. A
//! stream opened while the tool's own code runs, outside a test, or over a folder of `/proc`, is
//! not touched.

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
use super::{Errno, errno, origin, original, own, set_errno};
use crate::libc;

pub(super) use raw::syscall;

thread_local! {
    static CALLER: Cell<Option<Caller>> = const { Cell::new(None) };
    static REMOVES: Cell<bool> = const { Cell::new(false) };
}

/// Says who calls, until dropped: a stream that is opened meanwhile is read on behalf of `caller`.
pub fn called_by(caller: Caller) -> impl Drop {
    struct Restore(Option<Caller>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CALLER.set(self.0.take());
        }
    }
    Restore(CALLER.replace(Some(caller)))
}

/// Says that a tree is being removed, until dropped: nobody sees in which order.
pub fn removing() -> impl Drop {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            REMOVES.set(self.0);
        }
    }
    Restore(REMOVES.replace(true))
}

struct Stream {
    model: &'static Model,
    caller: Caller,
    entries: Option<hidden::Vec<Entry>>,
    next: usize,
    /// The error that ended the directory, or 0.
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

/// What is chosen by who reads a directory now, and on whose behalf; `None` when nothing is.
fn reader() -> Option<(&'static Model, Caller)> {
    match CALLER.get() {
        Some(caller) => Some((&model::FS_READ_DIR, caller)),
        None if REMOVES.get() || context::is_forked_beside_threads() => None,
        None => Some((&model::PATH_READ_DIR, origin::caller())),
    }
}

/// Notes that a stream was opened.
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

/// Walkers and `cap-std` open folders by `openat`, and read them through this.
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

/// The same function: both have one layout.
#[unsafe(no_mangle)]
unsafe extern "C" fn readdir(dir: *mut libc::DIR) -> *mut dirent64 {
    // SAFETY: the caller gives an open directory.
    unsafe { read(dir) }
}

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

/// What the next read of a stream gives.
enum Next {
    /// Whatever libc gives.
    Unknown,
    /// What is to be read and arranged first.
    Unread(Stream),
    Entry(*mut dirent64),
    /// Nothing, and this error, or 0.
    End(c_int),
}

fn next(dir: *mut libc::DIR) -> Next {
    let Some(mut open) = STREAMS.lock() else { return Next::Unknown };
    let Some(stream) = open.get_mut(&dir.addr()) else { return Next::Unknown };
    let Some(entries) = &mut stream.entries else {
        // Taken out: reading and arranging it takes longer than the lock may be held.
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

/// # Safety
/// `dir` must be open.
unsafe fn read(dir: *mut libc::DIR) -> *mut dirent64 {
    let original = original!(readdir64(_) else return ::std::ptr::null_mut());
    // Our own work sets it, and the caller takes what is there at the end of a directory for an
    // error.
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
        // Opened outside a test, or not to be arranged.
        // SAFETY: the caller's argument, unchanged.
        Next::Unknown | Next::Unread(_) => unsafe { original(dir) },
    }
}
