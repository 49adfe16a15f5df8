//! The differences between systems.
//!
//! Where functions of libc are interposed (Linux with glibc as a shared library), they cover
//! directories, threads and callers for all code. The types are then std's own. On other systems
//! there are types of this crate.

#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
mod interposed;
#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
pub(crate) use interposed::{fs, given, hidden_caller, thread};

// Compiled for its tests, too, on systems that do not use it.
#[cfg(any(
    test,
    not(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))
))]
pub mod portable;
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))))]
pub(crate) use portable::{fs, given, hidden_caller, thread};
