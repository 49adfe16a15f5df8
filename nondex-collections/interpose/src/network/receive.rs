//! Received data: `recv` and its variants.

use ::std::ffi::c_int;

use super::socket::{self, Socket};
use super::{Errno, errno, error, rights};
use crate::{libc, schedule};

/// Receives from `fd` by `next`.
#[inline]
pub(crate) fn received(fd: c_int, next: impl Fn() -> isize) -> isize {
    if socket::is_any_known() { watched(fd, &next) } else { next() }
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
pub(crate) fn received_with(fd: c_int, flags: c_int, next: impl Fn() -> isize) -> isize {
    if flags & libc::MSG_ERRQUEUE == 0 { received(fd, next) } else { next() }
}

/// Makes known the sockets that come with a message.
///
/// # Safety
/// The call must write the message if it succeeds.
pub(crate) unsafe fn message(message: *mut libc::msghdr, next: impl FnOnce() -> isize) -> isize {
    let result = next();
    if result >= 0 {
        // SAFETY: the kernel has just written the message.
        unsafe { rights::received(message) };
    }
    result
}

/// Receives several messages, as [`received_with`] does. They are waited for together.
pub(crate) fn messages(fd: c_int, flags: c_int, next: impl Fn() -> c_int) -> c_int {
    let flags = flags | schedule::WAITS_FOR_ALL;
    let call = || schedule::read(fd, flags, || next() as isize);
    received_with(fd, flags, call) as c_int
}
