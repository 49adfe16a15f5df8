//! Times of files, as they are read and as they are set: virtual ones in a scheduled thread.

use ::std::cell::Cell;
use ::std::ffi::{c_char, c_int, c_void};

use super::schedule::{self, FileTime};
use super::{libc, scoped};

const SECOND: u64 = 1_000_000_000;

thread_local! {
    static COPIES: Cell<bool> = const { Cell::new(false) };
}

/// Notes that std reads or copies the content of a file, until the result is dropped. std requests
/// the size of the file meanwhile, and the times that come with it are shown to nobody.
pub fn copying() -> impl Drop {
    scoped::set(&COPIES, true)
}

/// Returns whether the test may see the times in a result of `stat` on this thread.
fn are_shown() -> bool {
    schedule::is_scheduled() && !COPIES.get()
}

/// Converts a time into nanoseconds; `None` before 1970.
fn nanoseconds(seconds: i64, rest: u64) -> Option<u64> {
    u64::try_from(seconds).ok()?.checked_mul(SECOND)?.checked_add(rest)
}

/// Times of a file that are shown as virtual ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// None. The system generates files as those in `/proc` when they are read, so their times are
    /// those of reading.
    Nothing,
    /// All, as the clock shows them, without a choice. A directory changes whenever any process
    /// makes a file in it.
    Clock,
    /// All, and the age of the modification time is chosen.
    Chosen,
}

impl Shown {
    const fn of(mode: libc::mode_t, size: u64) -> Self {
        const WRITABLE: libc::mode_t = 0o222;
        let is_writable = mode & WRITABLE != 0;
        match mode & libc::S_IFMT {
            libc::S_IFREG if size > 0 || is_writable => Self::Chosen,
            libc::S_IFDIR | libc::S_IFLNK if is_writable => Self::Clock,
            _ => Self::Nothing,
        }
    }

    /// Returns the modification time, whose age may be chosen.
    const fn modified(self, time: u64) -> FileTime {
        match self {
            Self::Chosen => FileTime::Modified(time),
            Self::Clock | Self::Nothing => FileTime::Other(time),
        }
    }
}

/// Part of the result of `statx`: one time.
#[repr(C)]
struct ExtendedTime {
    seconds: i64,
    rest: u32,
    padding: i32,
}

#[repr(C)]
struct Extended {
    before: [u8; 28],
    mode: u16,
    between: [u8; 10],
    size: u64,
    more: [u8; 16],
    accessed: ExtendedTime,
    created: ExtendedTime,
    changed: ExtendedTime,
    modified: ExtendedTime,
}

const _: () = assert!(size_of::<Extended>() == 128);

/// Replaces the times in the result of the call by virtual ones, by `show`, if the test may see
/// them.
pub(crate) fn shown(show: impl FnOnce(), next: impl FnOnce() -> c_int) -> c_int {
    let done = next();
    if done == 0 && are_shown() {
        show();
    }
    done
}

/// Replaces the times in the result of `statx` by virtual ones.
///
/// # Safety
/// The structure must be valid, and is longer than `Extended`.
pub(crate) unsafe fn show_extended(result: *mut c_void) {
    let result = result.cast::<Extended>();
    // SAFETY: as the caller promises.
    let (mode, size, written) =
        unsafe { (u32::from((*result).mode), (*result).size, &(*result).modified) };
    let Some(written) = nanoseconds(written.seconds, written.rest.into()) else { return };
    let shown = Shown::of(mode, size);
    if shown == Shown::Nothing {
        return;
    }
    schedule::show_times(shown.modified(written), |show| {
        // SAFETY: as the caller promises.
        let result = unsafe { &mut *result };
        put_extended(&mut result.modified, |time| show(shown.modified(time)));
        for time in [&mut result.changed, &mut result.created, &mut result.accessed] {
            put_extended(time, |time| show(FileTime::Other(time)));
        }
    });
}

fn put_extended(time: &mut ExtendedTime, show: impl FnOnce(u64) -> u64) {
    if let Some(real) = nanoseconds(time.seconds, time.rest.into()) {
        let shown = show(real);
        time.seconds = (shown / SECOND) as i64;
        time.rest = (shown % SECOND) as u32;
    }
}

/// Records the times to which a file's times are set, unless that is the present time or they stay.
///
/// # Safety
/// `times` must be null or have two times.
pub(crate) unsafe fn set(times: *const libc::timespec, next: impl FnOnce() -> c_int) -> c_int {
    /// Smallest number of nanoseconds that means that the time is the present one, or stays.
    const SPECIAL: u64 = (1 << 30) - 2;
    let count = if times.is_null() || !schedule::is_scheduled() { 0 } else { 2 };
    for number in 0..count {
        // SAFETY: as the caller promises.
        let time = unsafe { &*times.add(number) };
        let rest = time.tv_nsec as u64;
        if rest < SPECIAL {
            if let Some(time) = nanoseconds(time.tv_sec as _, rest) {
                schedule::set_time(time);
            }
        }
    }
    next()
}

/// `stat` and its variants, with the layouts of these two architectures.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod status {
    use ::std::ffi::c_long;

    use super::{FileTime, Shown, c_char, c_int, libc, nanoseconds, schedule};
    use crate::system;

    /// Flags of [`call`]: the file is the descriptor itself, and a link is not followed.
    pub(crate) const EMPTY_PATH: c_int = 0x1000;
    pub(crate) const NO_FOLLOW: c_int = 0x100;

    /// Offset of the times: seconds and nanoseconds of the last access, modification and change.
    const TIMES: usize = 72;

    /// Offset of the size.
    const SIZE: usize = 48;

    /// Makes the system call itself, because an old C library lacks these functions.
    ///
    /// # Safety
    /// As for `fstatat`.
    pub(crate) unsafe fn call(
        folder: c_int,
        path: *const c_char,
        flags: c_int,
        result: *mut libc::stat64,
    ) -> c_int {
        #[cfg(target_arch = "x86_64")]
        const NEWFSTATAT: c_long = 262;
        #[cfg(not(target_arch = "x86_64"))]
        const NEWFSTATAT: c_long = 79;
        let [path, result] = [path.addr(), result.addr()].map(|address| address as c_long);
        // SAFETY: the arguments are those of the system call.
        unsafe {
            system::call(NEWFSTATAT, [folder.into(), path, result, flags.into(), 0, 0]) as c_int
        }
    }

    /// Replaces the times in the result of `stat` by virtual ones.
    ///
    /// # Safety
    /// The structure must be valid.
    pub(crate) unsafe fn show(result: *mut libc::stat64) {
        // SAFETY: the structure is valid, with the size and six numbers at these offsets.
        let (mode, size, times) = unsafe {
            let times = result.byte_add(TIMES).cast::<[i64; 2]>();
            (
                (*result).st_mode,
                *result.byte_add(SIZE).cast::<u64>(),
                ::std::slice::from_raw_parts_mut(times, 3),
            )
        };
        let real = |[seconds, rest]: [i64; 2]| nanoseconds(seconds, rest as u64);
        let [accessed, modified, changed] = times else { return };
        let kind = Shown::of(mode, size);
        if kind != Shown::Nothing {
            if let (Some(a), Some(m), Some(c)) = (real(*accessed), real(*modified), real(*changed))
            {
                let mut all = [m, c, a];
                schedule::show_times(kind.modified(m), |show| {
                    all = [
                        show(kind.modified(m)),
                        show(FileTime::Other(c)),
                        show(FileTime::Other(a)),
                    ];
                });
                for (place, shown) in [modified, changed, accessed].into_iter().zip(all) {
                    *place = [shown / super::SECOND, shown % super::SECOND].map(|part| part as i64);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ::std::fs;
    use ::std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn what_the_system_makes_up_has_its_own_times_and_only_when_a_file_was_written_is_chosen() {
        let shown = |path: &::std::path::Path| {
            let metadata = fs::symlink_metadata(path).unwrap();
            Shown::of(metadata.mode(), metadata.len())
        };
        let folder = ::std::env::temp_dir().join(format!("nondex-times-{}", ::std::process::id()));
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::create_dir(&folder).unwrap();
        fs::write(&file, "").unwrap();
        ::std::os::unix::fs::symlink(&file, &link).unwrap();
        let empty = shown(&file);
        fs::write(&file, "text").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let all = [empty, shown(&file), shown(&folder), shown(&link)];
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(all, [Shown::Chosen, Shown::Chosen, Shown::Clock, Shown::Clock]);
        for path in ["/proc/self/maps", "/proc/self/task", "/dev/null"] {
            assert_eq!(shown(path.as_ref()), Shown::Nothing, "{path}");
        }
    }
}
