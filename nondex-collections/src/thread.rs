//! `std::thread`, where a thread inherits the test that it works for.
//!
//! Where libc is interposed (Linux with glibc as a shared library), the interposed functions
//! observe every thread start, sleep and wait. Everything here is then std's own. On other systems,
//! the functions that start threads or sleep are shims, which may delay a thread in real time.

pub use ::std::thread::*;

pub use crate::system::thread::{Builder, Scope, park_timeout, scope, sleep, spawn};
