//! `std::thread`, where a thread inherits the test it works for.
//!
//! Where libc is interposed (Linux with glibc as a shared library) that sees every thread start,
//! every sleep and every wait, and everything here is std's own. Elsewhere what starts a thread, or
//! lets one sleep, is ours: it may be late, in real time.

pub use ::std::thread::*;

pub use crate::system::thread::{Builder, Scope, park_timeout, scope, sleep, spawn};
