//! Interposed libc functions for an executable or a library on Linux, with glibc as a shared
//! library.
//!
//! A symbol that the executable defines takes precedence over the library's, for std, every crate
//! and C code alike. Each function is a row of the `table`, with layers that consult the engine and
//! then call the original, found with `dlsym(RTLD_NEXT)`. To interpose one more, add a row. Outside
//! of a test, and while the tool's own code runs, the layers only call the original. `errno` stays
//! as the original leaves it, because std's `ReadDir` reads it.
//!
//! Two kinds of programs contain this crate. A test executable calls `begin` before `main`, which
//! enables everything here. Any other program that a test starts loads a library before libc, which
//! calls `observe`. Then operations are only observed: orders, random bytes and threads stay
//! unchanged.
//!
//! On other systems, and without the feature `interpose`, this crate is empty.

#![cfg(all(
    feature = "interpose",
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
#![expect(unsafe_code, reason = "interposed functions have C's signatures")]
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)
)]

mod accessed;
mod clock;
mod covered;
pub mod directory;
mod entropy;
pub mod file_times;
mod fork;
mod fork_server;
pub mod given;
mod interrupt;
#[cfg(feature = "network")]
mod network;
mod operations;
pub mod origin;
mod original;
mod own;
mod polling;
mod process;
mod schedule;
mod scoped;
mod sockaddr;
mod start;
mod surroundings;
mod syscall;
mod system;
mod table;
mod thread;
mod timers;
mod transfer;
mod written;

pub use libc;
pub use start::{begin, observe};

pub(crate) use original::{Errno, Original, errno, failed, set_errno};
pub(crate) use table::originals;

/// Smallest page size. Where pages are larger, the system rejects addresses that are not aligned to
/// them.
pub(crate) const PAGE: usize = 4096;

/// Number of rounds in which the system calls the destructors of a thread's keys
/// (`PTHREAD_DESTRUCTOR_ITERATIONS`).
pub(crate) const DESTRUCTOR_ROUNDS: usize = 4;
