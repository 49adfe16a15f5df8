//! The folders of `/proc`: the kernel makes them up when they are listed, processes, threads and
//! descriptors by their numbers. It does so on every machine, so that no order is unspecified.

use ::std::ffi::c_int;

use crate::{Errno, libc};

/// Whether a folder is one of them. Costs one system call.
pub(super) fn has(folder: c_int) -> bool {
    let _errno = Errno::save();
    // SAFETY: a `statfs` is plain data, for which zeros are valid, and the function only fills it.
    unsafe {
        let mut of = ::std::mem::zeroed::<libc::statfs64>();
        libc::fstatfs64(folder, &raw mut of) == 0 && of.f_type == libc::PROC_SUPER_MAGIC
    }
}
