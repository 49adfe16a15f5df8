//! `std::thread`, where a thread inherits the test it works for.
//!
//! Where libc's `pthread_create` is interposed (Linux with glibc as a shared library) that sees every thread start, and everything here is std's
//! own. Elsewhere what starts a thread is ours.

pub use ::std::thread::*;

pub use crate::system::thread::{Builder, Scope, scope, spawn};
