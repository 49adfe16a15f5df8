//! `socket` and `connect`, and the end of a connection that completes later:
//! `getsockopt(SO_ERROR)`, `close`.

use ::std::ffi::{c_int, c_void};
use ::std::net::SocketAddr;

use nondex_core::context::network::{self, End};
use nondex_core::protocol::network::ROUTE;
use nondex_core::{NetworkMode, model};

use super::{
    Errno, Treatment, address, begin, errno, error, failed, fault, inject, refuse, shown, socket,
    treat,
};
use crate::{libc, schedule};

/// Makes a socket known that sends datagrams to other machines.
pub(crate) fn opened(family: c_int, kind: c_int, next: impl FnOnce() -> c_int) -> c_int {
    let fd = next();
    let is_stream = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) == libc::SOCK_STREAM;
    if fd >= 0
        && !is_stream
        && matches!(family, libc::AF_INET | libc::AF_INET6)
        && network::mode() != NetworkMode::Off
    {
        socket::know(fd);
    }
    fd
}

/// Connects a socket, or makes that fail if the address is on another machine.
pub(crate) fn connect(
    fd: c_int,
    target: Option<SocketAddr>,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let is_local = target.is_none_or(|target| address::is_local(&target));
    let call = || schedule::connect(fd, is_local, next);
    match treat(&model::NETWORK_CONNECT, fault::CONNECT, target) {
        Treatment::Refuse(target) => {
            refuse(name(fd), &target);
            -1
        }
        Treatment::Fault(target, errno) => {
            inject(name(fd), &target, errno);
            -1
        }
        Treatment::Observe(target) => observe(fd, &target, call),
        Treatment::Pass => {
            let result = call();
            if result != 0 {
                if let Some(target) = target {
                    loopback(fd, &target);
                }
            } else if let Some(inode) = socket::known(fd) {
                // Its further packets go to this machine.
                socket::update(inode, |socket, _| socket.peer = None);
            }
            result
        }
    }
}

fn observe(fd: c_int, target: &SocketAddr, call: impl FnOnce() -> c_int) -> c_int {
    let Some(inode) = socket::know(fd) else { return call() };
    let is_datagram = socket::is_datagram(fd);
    let begun = {
        let _errno = Errno::save();
        (!is_datagram).then(|| begin("connect", target)).flatten()
    };
    socket::update(inode, |socket, _| {
        socket.peer = Some(*target);
        // A repeated call continues the same operation.
        if socket.connecting.is_none() {
            socket.connecting = begun;
        }
    });
    let result = call();
    let _errno = Errno::save();
    let errno = errno();
    socket::update(inode, |socket, changes| match result {
        // Connecting a datagram socket sends no packet.
        _ if is_datagram => {}
        0 => socket.end_connecting(End::Answered, changes),
        _ if errno == libc::EISCONN => socket.end_connecting(End::Answered, changes),
        _ if error::is_wait(errno) => {}
        _ => socket.failed(errno, changes),
    });
    if is_datagram && result != 0 && !error::is_wait(errno) {
        failed(ROUTE, target, errno);
    }
    result
}

/// Returns the name of the operation. A connected datagram socket has only found a route.
fn name(fd: c_int) -> &'static str {
    let _errno = Errno::save();
    if socket::is_datagram(fd) { ROUTE } else { "connect" }
}

/// Records a failure to reach a local target: the loopback interface may be down.
fn loopback(fd: c_int, target: &SocketAddr) {
    let errno = errno();
    super::super::operations::failed("connect", errno, || shown(target));
    if matches!(errno, libc::ENETUNREACH | libc::ENETDOWN) && network::mode() != NetworkMode::Off {
        let _errno = Errno::save();
        failed(name(fd), target, errno);
    }
}

/// Records the error of a connection that the program reads from its socket.
///
/// # Safety
/// `value` must be null, or the call must write the option there if it returns 0.
pub(crate) unsafe fn option_read(
    fd: c_int,
    option: (c_int, c_int),
    value: *mut c_void,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let result = next();
    if result == 0 && option == (libc::SOL_SOCKET, libc::SO_ERROR) && !value.is_null() {
        if let Some(inode) = socket::known(fd) {
            let _errno = Errno::save();
            // SAFETY: the kernel has just written this option, which is an `int`.
            let errno = unsafe { value.cast::<c_int>().read_unaligned() };
            socket::update(inode, |socket, changes| socket.error(fd, errno, changes));
        }
    }
    result
}

/// Records what can still be learnt about a socket before it is closed.
#[inline]
pub(crate) fn closed(fd: c_int, next: impl FnOnce() -> c_int) -> c_int {
    if let Some(inode) = socket::known(fd) {
        socket::closing(inode, fd);
    }
    next()
}
