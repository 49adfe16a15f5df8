//! `std::thread`, where a thread inherits the test it works for.
//!
//! Where libc's `pthread_create` is interposed (Linux with glibc as a shared library) that sees every thread start, and everything here is std's
//! own. Elsewhere what starts a thread is ours.

pub use ::std::thread::*;

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
)))]
mod portable;
// On Linux only its test builds this, so that it stays whole.
#[cfg(all(
    test,
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
pub mod portable;
#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
)))]
pub use portable::{Builder, Scope, scope, spawn};
