//! Processes that may do nothing which another process could notice, so that several of the same
//! test can run at once.
//!
//! The kernel ends such a process with `SIGSYS` *before* it does anything else than what is listed
//! here: see seccomp(2). What is not known to be harmless is not listed, and costs time only: the
//! run is made again without a filter, while no other of the test is under way.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter;

use std::process::Command;

/// Lets the process that `command` starts be confined. False where that cannot be done, and nothing
/// has changed.
pub(in crate::campaign) fn confine(command: &mut Command) -> bool {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    return filter::apply(command);
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let _ = command;
        false
    }
}

#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
