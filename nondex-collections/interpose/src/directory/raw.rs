//! `getdents64`: directories that are read by descriptor, in the kernel's format.
//!
//! The first read of a directory reads it whole, arranges the entries, and returns those that fit.
//! The next reads return the rest. They are recognized by the file and by the offset at which the
//! first read has left it. A directory that was opened or rewound since has another offset.

use ::std::ffi::{c_int, c_long, c_void};

use crate::libc::dirent64;
use nondex_core::fork_lock::ForkLock;
use nondex_core::hidden;
use nondex_core::sorted::SortedMap;

use super::entries::{Entry, arranged, copy};
use super::{own, proc, reader};
use crate::table::folders;
use crate::{Errno, libc, set_errno};

/// Rest of a directory that was read.
struct Left {
    /// Directory, by device and inode.
    file: (libc::dev_t, libc::ino64_t),
    /// Offset of the descriptor after the directory was read whole.
    offset: libc::off64_t,
    entries: hidden::Vec<Entry>,
    next: usize,
}

static LEFT: ForkLock<SortedMap<c_int, Left>> = ForkLock::new(SortedMap::new);

pub(super) fn before_fork() {
    LEFT.before_fork();
}

pub(super) fn after_fork() {
    LEFT.after_fork();
}

/// Size of one read from the kernel, in bytes.
const AT_A_TIME: usize = 32 * 1024;

/// Reads entries of `folder` by `next`. Returns -1 and sets `errno` for an error, as `next` does.
///
/// # Safety
/// `buffer` must be valid for writes of `len` bytes.
pub(crate) unsafe fn entries(
    folder: c_int,
    buffer: *mut c_void,
    len: usize,
    next: impl Fn(*mut c_void, usize) -> isize,
) -> isize {
    let Some(_work) = own::work().filter(|_| !proc::has(folder)) else { return next(buffer, len) };
    // SAFETY: the functions only look at the descriptor; a `stat` is plain data, for which zeros
    // are valid.
    let (offset, file) = unsafe {
        let _errno = Errno::save();
        let mut stat = ::std::mem::zeroed::<libc::stat64>();
        let is_known = libc::fstat64(folder, &raw mut stat) == 0;
        let offset = libc::lseek64(folder, 0, libc::SEEK_CUR);
        (if is_known { offset } else { -1 }, (stat.st_dev, stat.st_ino))
    };
    let known = LEFT.lock().and_then(|mut left| left.remove(&folder));
    let mut left = match known.filter(|left| left.file == file && left.offset == offset) {
        Some(left) if offset != 0 => left,
        _ if offset == 0 => match begin(folder, file, &next) {
            Ok(left) => left,
            Err(result) => return result,
        },
        _ => return next(buffer, len),
    };
    let errno = Errno::save();
    // SAFETY: the caller gives a buffer of `len` bytes.
    let filled = unsafe { left.fill(buffer, len) };
    let is_too_small = filled == 0 && left.next < left.entries.len();
    if let Some(mut all) = LEFT.lock() {
        all.insert(folder, left);
    }
    drop(errno);
    if is_too_small {
        set_errno(libc::EINVAL);
        return -1;
    }
    filled as isize
}

impl Left {
    /// Copies whole entries to the buffer, and returns the number of bytes.
    ///
    /// # Safety
    /// `buffer` must be valid for writes of `len` bytes.
    unsafe fn fill(&mut self, buffer: *mut c_void, len: usize) -> usize {
        let mut filled = 0;
        while let Some(entry) = self.entries.get(self.next) {
            let entry = entry.as_ptr().cast::<dirent64>();
            // SAFETY: it is a copy of a whole entry, and the buffer has room for it.
            unsafe {
                let size = usize::from((&raw const (*entry).d_reclen).read());
                if filled + size > len {
                    break;
                }
                let place = buffer.cast::<u8>().add(filled);
                ::std::ptr::copy_nonoverlapping(entry.cast(), place, size);
                filled += size;
            }
            self.next += 1;
        }
        filled
    }
}

/// Reads a directory whole. Returns the kernel's error if even the first read fails.
fn begin(
    folder: c_int,
    file: (libc::dev_t, libc::ino64_t),
    read: &impl Fn(*mut c_void, usize) -> isize,
) -> Result<Left, isize> {
    let mut buffer = hidden::collect((0..AT_A_TIME / 8).map(|_| 0_u64));
    let mut entries = hidden::vec();
    loop {
        let result = read(buffer.as_mut_ptr().cast(), AT_A_TIME);
        let Ok(got) = usize::try_from(result) else {
            if entries.is_empty() {
                return Err(result);
            }
            break;
        };
        if got == 0 {
            break;
        }
        let mut at = 0;
        while at < got {
            // SAFETY: the kernel has written whole entries, one after the other.
            unsafe {
                let entry = buffer.as_ptr().byte_add(at).cast::<dirent64>();
                entries.push(copy(entry));
                at += usize::from((&raw const (*entry).d_reclen).read());
            }
        }
    }
    let entries = match reader() {
        Some((model, caller)) => arranged(entries, model, caller),
        None => entries,
    };
    // SAFETY: it only returns the position of the descriptor.
    let offset = unsafe { libc::lseek64(folder, 0, libc::SEEK_CUR) };
    Ok(Left { file, offset, entries, next: 0 })
}

/// Performs the system call by number as the function does. Returns `None` for any other call.
///
/// # Safety
/// The arguments must be those of the system call.
pub(crate) unsafe fn syscall(
    number: c_long,
    [folder, buffer, len, ..]: [c_long; 6],
) -> Option<c_long> {
    if number != libc::SYS_getdents64 {
        return None;
    }
    let address = |register: c_long| register as usize;
    let buffer = ::std::ptr::with_exposed_provenance_mut(address(buffer));
    // SAFETY: the caller gives a buffer of `len` bytes.
    Some(unsafe { folders::getdents64(folder as c_int, buffer, address(len)) } as c_long)
}
