//! Functions of libc that the test executable takes from here (Linux with glibc).
//!
//! A symbol defined in the executable comes before the library's, for std, for every crate and for C code alike. Each
//! function asks the engine what to do and calls the original, found with `dlsym(RTLD_NEXT)`; outside a test, and while
//! the tool's own code runs, it does nothing else. `errno` is left as the original leaves it: std's `ReadDir` reads it.
//!
//! This folder is the only place, beside casts std itself needs, where the runtime is `unsafe`.

#![expect(unsafe_code, reason = "interposed functions have C's signatures")]

pub(crate) mod directory;
mod entropy;
mod fork;
#[cfg(feature = "network")]
mod network;
mod operations;
pub(crate) mod origin;
mod original;
mod own;
mod sockaddr;
mod start;
#[cfg(target_pointer_width = "64")]
mod syscall;
mod thread;
mod transfer;

pub(crate) use original::{Errno, Original, original};

/// Takes the locks that a forked child is to find free, and what they protect whole.
fn before_fork() {
    directory::before_fork();
    origin::before_fork();
}

/// Gives back what [`before_fork`] took.
fn after_fork() {
    origin::after_fork();
    directory::after_fork();
}
