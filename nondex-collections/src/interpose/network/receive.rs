//! What comes back: `recv` and its kin.

use ::std::ffi::{c_int, c_uint, c_void};

use super::{Errno, errno, error, original, socket};

/// Notes the result of a call that receives from `fd`.
#[inline]
pub(crate) fn received(fd: c_int, result: isize) -> isize {
    if socket::is_watched(fd) {
        note(fd, result);
    }
    result
}

#[cold]
fn note(fd: c_int, result: isize) {
    let errno = errno();
    if result < 0 && error::is_wait(errno) {
        return;
    }
    let Some(mut socket) = socket::take(fd) else {
        return;
    };
    let _errno = Errno::save();
    if result >= 0 {
        socket.answered();
    } else if errno != libc::ENOTCONN {
        socket.failed(errno);
    }
    socket::keep(fd, socket);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize {
    let Some(original) =
        original!(c"recv": unsafe extern "C" fn(c_int, *mut c_void, usize, c_int) -> isize)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    received(fd, unsafe { original(fd, buffer, len, flags) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    len: usize,
    flags: c_int,
    address: *mut libc::sockaddr,
    address_len: *mut libc::socklen_t,
) -> isize {
    let Some(original) = original!(c"recvfrom": unsafe extern "C" fn(c_int, *mut c_void, usize, c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> isize)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    received(fd, unsafe {
        original(fd, buffer, len, flags, address, address_len)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> isize {
    let Some(original) =
        original!(c"recvmsg": unsafe extern "C" fn(c_int, *mut libc::msghdr, c_int) -> isize)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    received(fd, unsafe { original(fd, message, flags) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut libc::mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut libc::timespec,
) -> c_int {
    let Some(original) = original!(c"recvmmsg": unsafe extern "C" fn(c_int, *mut libc::mmsghdr, c_uint, c_int, *mut libc::timespec) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(fd, messages, count, flags, timeout) };
    received(fd, result as isize);
    result
}
