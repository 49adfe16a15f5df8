//! What differs between systems.
//!
//! Where functions of libc are interposed (Linux with glibc as a shared library), they see
//! directories, threads and callers, whoever asks, and the types are std's own. Elsewhere there are
//! types of ours.

#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
mod interposed;
#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
pub(crate) use interposed::{fs, given, hidden_caller, thread};

// Where it is not in use its test builds it, so that it stays whole.
#[cfg(any(
    test,
    not(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))
))]
pub mod portable;
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))))]
pub(crate) use portable::{fs, given, hidden_caller, thread};
