//! Functions of libc that an executable or a library takes from here (Linux with glibc as a shared
//! library).
//!
//! A symbol defined in the executable comes before the library's, for std, for every crate and for
//! C code alike. Each function asks the engine what to do and calls the original, found with
//! `dlsym(RTLD_NEXT)`; outside a test, and while the tool's own code runs, it does nothing else.
//! `errno` is left as the original leaves it: std's `ReadDir` reads it.
//!
//! It is linked into two kinds of programs. In a test executable, `begin` is called before
//! `main`: everything here is at work. In any other program that a test starts, a library that the
//! loader puts before libc calls `observe`: operations are observed then, and orders, random
//! bytes and threads are as they are.
//!
//! On other systems, and without the feature `interpose`, there is nothing here.

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
mod file_times;
mod fork;
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
mod sockaddr;
mod start;
mod surroundings;
mod syscall;
mod system;
mod thread;
mod timers;
mod transfer;
mod usage;
mod written;

pub use libc;
pub use start::{begin, observe};

pub(crate) use original::{Errno, Original, errno, original, set_errno};

/// The smallest page that there is; where they are larger, the system refuses what is not theirs.
pub(crate) const PAGE: usize = 4096;

/// How often the system calls the destructors of a thread's keys (`PTHREAD_DESTRUCTOR_ITERATIONS`).
pub(crate) const DESTRUCTOR_ROUNDS: usize = 4;
