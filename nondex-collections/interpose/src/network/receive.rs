//! Received data: `recv` and its variants.

use ::std::ffi::{c_int, c_uint, c_void};

use super::socket::{self, Socket};
use super::{Errno, errno, error, original, rights};
use crate::{libc, schedule};

/// Receives from `fd` by `call`.
#[inline]
pub(crate) fn received(fd: c_int, call: impl Fn() -> isize) -> isize {
    if socket::is_any_known() { watched(fd, &call) } else { call() }
}

#[cold]
fn watched(fd: c_int, call: &dyn Fn() -> isize) -> isize {
    // Looked up first, because the descriptor may be closed and reused while this waits.
    let Some(inode) = socket::known(fd) else { return call() };
    {
        let _errno = Errno::save();
        socket::update(inode, Socket::awaited);
    }
    let result = call();
    let _errno = Errno::save();
    let errno = errno();
    socket::update(inode, |socket, changes| match errno {
        _ if result >= 0 => socket.answered(changes),
        libc::EAGAIN => socket.waited_unanswered(changes),
        // The call did not reach a connection, so it is no evidence about one.
        libc::ENOTCONN | libc::EBADF | libc::EFAULT | libc::EINVAL => {}
        errno if error::is_wait(errno) => {}
        errno => socket.failed(errno, changes),
    });
    result
}

/// Receives as [`received`] does, unless the call only reads the queue of errors.
#[inline]
fn received_with(flags: c_int, fd: c_int, call: impl Fn() -> isize) -> isize {
    let call = || schedule::read(fd, flags, &call);
    if flags & libc::MSG_ERRQUEUE == 0 { received(fd, call) } else { call() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize {
    let original = original!(recv(_, _, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    received_with(flags, fd, || unsafe { original(fd, buffer, len, flags) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    len: usize,
    flags: c_int,
    address: *mut libc::sockaddr,
    address_len: *mut libc::socklen_t,
) -> isize {
    let original = original!(recvfrom(_, _, _, _, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    received_with(flags, fd, || unsafe { original(fd, buffer, len, flags, address, address_len) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn recvmsg(
    fd: c_int,
    message: *mut libc::msghdr,
    flags: c_int,
) -> isize {
    let original = original!(recvmsg(_, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    let result = received_with(flags, fd, || unsafe { original(fd, message, flags) });
    if result >= 0 {
        // SAFETY: the kernel has just written the message.
        unsafe { rights::received(message) };
    }
    result
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut libc::mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut libc::timespec,
) -> c_int {
    let original = original!(recvmmsg(_, _, _, _, _) else return -1);
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { original(fd, messages, count, flags, timeout) };
    received_with(flags | schedule::WAITS_FOR_ALL, fd, || call() as isize) as c_int
}

/// Declares the functions by which C programs that were compiled with `_FORTIFY_SOURCE` receive.
/// They have the buffer's size as an additional argument.
macro_rules! checked {
    ($($function:ident($($argument:ident: $type:ty),*) $flags:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function(fd: c_int, $($argument: $type),*) -> isize {
            let original = original!($function(_, $($type),*) else return -1);
            // SAFETY: the caller's arguments, unchanged.
            received_with($flags, fd, || unsafe { original(fd, $($argument),*) })
        }
    )*};
}

checked! {
    __recv_chk(buffer: *mut c_void, len: usize, room: usize, flags: c_int) flags;
    __recvfrom_chk(
        buffer: *mut c_void, len: usize, room: usize, flags: c_int,
        address: *mut libc::sockaddr, address_len: *mut libc::socklen_t
    ) flags;
    __read_chk(buffer: *mut c_void, len: usize, room: usize) 0;
}
