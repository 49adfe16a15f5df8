//! `std::fs`, with the order of directories chosen.
//!
//! Where libc's `readdir` is interposed (Linux with glibc) the types are std's own, because `Path::read_dir` returns
//! them, and [`read_dir`] only tells the interposer who called. Elsewhere [`ReadDir`] is a type of ours, and
//! `Path::read_dir` is not reached.

pub use ::std::fs::*;

use ::std::io;
use ::std::path::Path;

use nondex_core::Caller;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub use portable::ReadDir;

/// As [`::std::fs::read_dir`], in the order the run decides.
///
/// # Errors
/// As std's.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    let _caller = crate::interpose::directory::called_by(crate::caller::caller());
    ::std::fs::read_dir(path)
}

/// As [`::std::fs::read_dir`], in the order the run decides.
///
/// # Errors
/// As std's.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    ReadDir::open(path.as_ref(), crate::caller::caller())
}

#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
mod portable {
    //! A directory that is read whole, then given out in the decided order.

    use ::std::ffi::OsString;
    use ::std::fmt;
    use ::std::fs::DirEntry;
    use ::std::io;
    use ::std::path::Path;
    use ::std::vec::IntoIter;

    use nondex_core::{Caller, model};

    use crate::arrange::arrange;

    /// As [`::std::fs::ReadDir`], in the order the run decides. Errors come after the entries.
    pub struct ReadDir {
        entries: IntoIter<(OsString, DirEntry)>,
        errors: IntoIter<io::Error>,
    }

    impl ReadDir {
        pub(super) fn open(path: &Path, caller: Caller) -> io::Result<Self> {
            let (mut entries, mut errors) = (Vec::new(), Vec::new());
            for entry in ::std::fs::read_dir(path)? {
                match entry {
                    Ok(entry) => entries.push((entry.file_name(), entry)),
                    Err(error) => errors.push(error),
                }
            }
            let entries = arrange(entries, &model::FS_READ_DIR, caller, |(name, _)| name.as_encoded_bytes());
            Ok(ReadDir { entries: entries.into_iter(), errors: errors.into_iter() })
        }
    }

    impl Iterator for ReadDir {
        type Item = io::Result<DirEntry>;

        fn next(&mut self) -> Option<io::Result<DirEntry>> {
            self.entries.next().map(|(_, entry)| Ok(entry)).or_else(|| self.errors.next().map(Err))
        }
    }

    impl fmt::Debug for ReadDir {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_tuple("ReadDir").field(&self.entries.as_slice()).finish()
        }
    }
}
