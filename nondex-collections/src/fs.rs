//! `std::fs`, with the order of directories chosen.
//!
//! Where libc's `readdir` is interposed (Linux with glibc as a shared library) the types are std's own, because `Path::read_dir` returns
//! them, and [`read_dir`] only tells the interposer who called. Elsewhere [`ReadDir`] is a type of ours, and
//! `Path::read_dir` is not reached.

pub use ::std::fs::*;

use ::std::io;
use ::std::path::Path;

// On Linux only its test builds this, so that it stays whole.
#[cfg(any(
    test,
    not(all(
        target_os = "linux",
        target_env = "gnu",
        not(target_feature = "crt-static")
    ))
))]
mod portable;
#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
)))]
pub use portable::ReadDir;
#[cfg(all(
    test,
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
pub use portable::ReadDir as PortableReadDir;

/// As [`::std::fs::read_dir`], in the order the run decides.
///
/// # Errors
/// As std's.
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    let _caller = crate::interpose::directory::called_by(crate::caller::caller());
    ::std::fs::read_dir(path)
}

/// As [`::std::fs::remove_dir_all`]. The order in which a tree is removed is no choice: nobody sees it.
///
/// # Errors
/// As std's.
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
pub fn remove_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let _removing = crate::interpose::directory::removing();
    ::std::fs::remove_dir_all(path)
}

/// As [`::std::fs::read_dir`], in the order the run decides.
///
/// # Errors
/// As std's.
#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
)))]
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    ReadDir::open(path.as_ref(), crate::caller::caller())
}
