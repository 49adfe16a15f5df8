//! `connect`, and how a connection that takes its time ends: `getsockopt(SO_ERROR)`, `close`.

use ::std::ffi::{c_int, c_void};
use ::std::net::SocketAddr;

use nondex_core::network::{self, NetworkMode};
use nondex_core::{NetworkOutcome, model};

use super::{
    Errno, Treatment, address, begin, errno, error, failed, fault, inject, original, refuse,
    socket, treat,
};

pub(super) type Getsockopt =
    unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut libc::socklen_t) -> c_int;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn connect(
    fd: c_int,
    address: *const libc::sockaddr,
    len: libc::socklen_t,
) -> c_int {
    let Some(original) = original!(c"connect": unsafe extern "C" fn(c_int, *const libc::sockaddr, libc::socklen_t) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { original(fd, address, len) };
    // SAFETY: the caller gives an address of this length.
    let target = unsafe { address::read(address, len) };
    match treat(&model::NETWORK_CONNECT, fault::CONNECT, target) {
        Treatment::Refuse(target) => {
            refuse("connect", &target);
            -1
        }
        Treatment::Fault(target, errno) => {
            inject("connect", &target, errno);
            -1
        }
        Treatment::Observe(target) => observe(fd, &target, call),
        Treatment::Pass => {
            let result = call();
            if result != 0
                && let Some(target) = target
            {
                loopback(&target);
            }
            result
        }
    }
}

fn observe(fd: c_int, target: &SocketAddr, call: impl FnOnce() -> c_int) -> c_int {
    let is_datagram = socket::is_datagram(fd);
    let Some(mut socket) = socket::take_or_new(fd) else {
        return call();
    };
    if !is_datagram && socket.connecting.is_none() {
        socket.connecting = begin("connect", target);
    }
    socket.peer = Some(*target);
    let result = call();
    let _errno = Errno::save();
    let errno = errno();
    match result {
        // No packet was sent yet.
        0 if is_datagram => {}
        0 => socket.end_connecting(NetworkOutcome::Answered),
        _ if errno == libc::EISCONN => socket.end_connecting(NetworkOutcome::Answered),
        _ if error::is_wait(errno) => {}
        _ if is_datagram => failed("connect", target, errno),
        _ => socket.failed(errno),
    }
    socket::keep(fd, socket);
    result
}

/// A local target that cannot even be reached: the loopback is down.
fn loopback(target: &SocketAddr) {
    let errno = errno();
    super::super::operations::failed("connect", errno, || target.to_string());
    if matches!(errno, libc::ENETUNREACH | libc::ENETDOWN) && network::mode() != NetworkMode::Off {
        let _errno = Errno::save();
        failed("connect", target, errno);
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut libc::socklen_t,
) -> c_int {
    let Some(original) = original!(c"getsockopt": Getsockopt) else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(fd, level, name, value, len) };
    if result == 0
        && (level, name) == (libc::SOL_SOCKET, libc::SO_ERROR)
        && !value.is_null()
        && socket::is_watched(fd)
        && let Some(mut socket) = socket::take(fd)
    {
        let _errno = Errno::save();
        // SAFETY: the kernel has just written this option, which is an `int`.
        socket.error(fd, unsafe { value.cast::<c_int>().read_unaligned() });
        socket::keep(fd, socket);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    let Some(original) = original!(c"close": unsafe extern "C" fn(c_int) -> c_int) else {
        return -1;
    };
    if socket::is_watched(fd)
        && let Some(mut socket) = socket::take(fd)
    {
        let _errno = Errno::save();
        socket.closing(fd);
    }
    // SAFETY: the caller's argument, unchanged.
    unsafe { original(fd) }
}
