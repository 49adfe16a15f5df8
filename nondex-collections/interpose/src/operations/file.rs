//! Files that cannot be opened or written to, and directories that cannot be created.

use ::std::ffi::{CStr, c_char, c_int};

use super::{errno, failed, text};
use nondex_core::hidden::Text;
use nondex_core::{Source, StateKind};

use crate::accessed::accessed;
use crate::clock;
use crate::libc;
use crate::schedule;
use crate::system;
use crate::written;

/// Files whose content no choice controls. They contain random bytes, the time since the system's
/// start, the number of the process, or what other programs change. Links and directories of
/// `/proc` reveal that number, too.
const SOURCES: [(&CStr, Source); 26] = [
    (c"/dev/urandom", Source::RandomFile),
    (c"/dev/random", Source::RandomFile),
    (c"/dev/hwrng", Source::RandomFile),
    (c"/proc/sys/kernel/random/uuid", Source::RandomFile),
    (c"/proc/uptime", Source::Clock),
    (c"/proc", Source::ProcessNumber),
    (c"/proc/self", Source::ProcessNumber),
    (c"/proc/self/sched", Source::ProcessNumber),
    (c"/proc/self/stat", Source::ProcessNumber),
    (c"/proc/self/status", Source::ProcessNumber),
    (c"/proc/self/task", Source::ProcessNumber),
    (c"/proc/thread-self", Source::ProcessNumber),
    (c"/proc/thread-self/sched", Source::ProcessNumber),
    (c"/proc/thread-self/stat", Source::ProcessNumber),
    (c"/proc/thread-self/status", Source::ProcessNumber),
    (c"/proc/buddyinfo", Source::System),
    (c"/proc/diskstats", Source::System),
    (c"/proc/interrupts", Source::System),
    (c"/proc/loadavg", Source::System),
    (c"/proc/meminfo", Source::System),
    (c"/proc/net/dev", Source::System),
    (c"/proc/pressure/cpu", Source::System),
    (c"/proc/self/statm", Source::System),
    (c"/proc/stat", Source::System),
    (c"/proc/sys/fs/file-nr", Source::System),
    (c"/proc/vmstat", Source::System),
];

/// Records that a file is opened, a directory listed or a link followed that no choice controls.
///
/// # Safety
/// The path must be a C string, or null.
pub(crate) unsafe fn note_path(path: *const c_char) {
    if !path.is_null() {
        // SAFETY: as the caller promises.
        let name = unsafe { CStr::from_ptr(path) };
        if let Some((_, source)) = SOURCES.iter().find(|(known, _)| *known == name) {
            clock::note(*source);
        }
    }
}

/// Records that a file is opened, and maybe created. A file that no choice controls is always
/// recorded, another one if a run watches it.
///
/// # Safety
/// The path must be a C string, or null.
pub(super) unsafe fn opened(path: *const c_char, writes: bool, creates: bool) {
    // SAFETY: as the caller promises.
    unsafe { note_path(path) };
    schedule::file(StateKind::File, writes, path);
    // SAFETY: as the caller promises.
    accessed(StateKind::File, writes, || unsafe { text(path) });
    if creates {
        accessed(StateKind::Umask, false, Text::new);
    }
}

const fn is_for_writing(flags: c_int) -> bool {
    flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0
}

/// Records that a file is opened with these flags, and reports it if it may be written to.
///
/// # Safety
/// The path must be a C string, or null.
pub(crate) unsafe fn open(
    path: *const c_char,
    flags: c_int,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { opened(path, is_for_writing(flags), flags & libc::O_CREAT != 0) };
    let file = next();
    if is_for_writing(flags) {
        written::open(file);
    }
    if file == -1 {
        // SAFETY: as the caller promises.
        unsafe { not_opened(path) };
    }
    file
}

/// Records that a folder is created, which depends on the mask of modes, and reports it.
///
/// # Safety
/// The path must be a C string, or null.
pub(crate) unsafe fn make_folder(path: *const c_char, next: impl FnOnce() -> c_int) -> c_int {
    accessed(StateKind::Umask, false, Text::new);
    let result = written::created(libc::AT_FDCWD, path, next);
    if result == -1 {
        // SAFETY: as the caller promises.
        failed("mkdir", errno(), || unsafe { text(path) });
    }
    result
}

/// Records that a file could not be opened.
///
/// # Safety
/// The path must be a C string, or null.
pub(super) unsafe fn not_opened(path: *const c_char) {
    // SAFETY: as the caller promises.
    failed("open", errno(), || unsafe { text(path) });
}

/// Records that an open file could not be written to.
#[inline]
pub(crate) fn not_written(file: c_int) {
    failed("write", errno(), || path(file));
}

/// Returns the path of an open file, or else its number.
fn path(file: c_int) -> Text {
    let mut room = [0; 4096];
    match system::name_of(file, &mut room) {
        Some(path) => Text::lossy(path),
        None => Text::of(format_args!("{file}")),
    }
}
