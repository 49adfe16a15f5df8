//! Directories of `/proc`. The kernel lists processes, threads and descriptors in the order of
//! their numbers, on every machine. So their order is not unspecified.

use ::std::ffi::c_int;

use crate::{Errno, libc};

/// Returns whether a directory is in `/proc`. Costs one system call.
pub(super) fn has(folder: c_int) -> bool {
    let _errno = Errno::save();
    // SAFETY: a `statfs` is plain data, for which zeros are valid, and the function only fills it.
    unsafe {
        let mut of = ::std::mem::zeroed::<libc::statfs64>();
        libc::fstatfs64(folder, &raw mut of) == 0 && of.f_type == libc::PROC_SUPER_MAGIC
    }
}
