//! System calls of the runtime itself, which never go through an interposed function.

use ::std::ffi::{c_int, c_long};
use ::std::io::Write;

use crate::{libc, originals};

/// Makes a system call. Returns -1 if libc has no function for that.
///
/// # Safety
/// The arguments must be those of the system call.
pub(crate) unsafe fn call(number: c_long, arguments: [c_long; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    match originals::syscall.get() {
        // SAFETY: as the caller promises.
        Some(original) => unsafe { original(number, a, b, c, d, e, f) },
        None => -1,
    }
}

/// Returns the system's name for the object of a descriptor: a path, or a description of the
/// object. Returns `None` if it cannot be determined. A longer name is truncated.
pub(crate) fn name_of(file: c_int, room: &mut [u8]) -> Option<&[u8]> {
    // Long enough for any such path, with the NUL at its end.
    let mut path = [0_u8; 32];
    write!(&mut path[..31], "/proc/self/fd/{file}").ok()?;
    let arguments = [
        libc::AT_FDCWD.into(),
        path.as_ptr().addr() as c_long,
        room.as_mut_ptr().addr() as c_long,
        room.len() as c_long,
        0,
        0,
    ];
    // SAFETY: the path ends in NUL, and at most the length of the buffer is written.
    let len = unsafe { call(libc::SYS_readlinkat as c_long, arguments) };
    Some(&room[..usize::try_from(len).ok()?])
}
