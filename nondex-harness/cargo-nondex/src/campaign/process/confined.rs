//! Confined processes, which can do nothing that another process could notice. So several runs of
//! one test can be made concurrently.
//!
//! The kernel ends such a process with `SIGSYS` *before* it executes a system call that is not
//! listed here; see seccomp(2). Calls that are not known to be harmless are not listed. This only
//! costs time: the run is made again without a filter, while no other run of the test is in
//! progress.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter;

use std::process::Command;

/// Makes the process that `command` starts confined. Returns false, and changes nothing, if the
/// system does not support this.
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
