//! Sent data: `send` and its variants. A datagram to another machine counts as a question.

use ::std::ffi::{c_int, c_uint, c_void};
use ::std::net::SocketAddr;

use nondex_core::context::network::{self, End};
use nondex_core::model;
use nondex_core::protocol::network::SEND;

use super::{
    Errno, Treatment, address, caller, errno, error, failed, fault, inject, refuse, shown, socket,
    treat,
};
use crate::{libc, schedule};

/// Sends by `next` from `fd` to `target`, or else to the socket's peer.
#[inline]
pub(crate) fn sent_to(fd: c_int, target: Option<SocketAddr>, next: impl Fn() -> isize) -> isize {
    if target.is_none() && !socket::is_any_known() {
        return next();
    }
    watched(fd, target, &next)
}

/// Sends by `next` to the peer of `fd`, if it is a socket.
#[inline]
pub(crate) fn sent(fd: c_int, next: impl Fn() -> isize) -> isize {
    sent_to(fd, None, next)
}

#[cold]
fn watched(fd: c_int, target: Option<SocketAddr>, call: &dyn Fn() -> isize) -> isize {
    match treat(&model::NETWORK_SEND, fault::SEND, target) {
        Treatment::Refuse(target) => {
            refuse(SEND, &target);
            -1
        }
        Treatment::Fault(target, errno) => {
            inject(SEND, &target, errno);
            -1
        }
        Treatment::Observe(target) => send_from(socket::know(fd), fd, Some(target), call),
        Treatment::Pass if target.is_some() => call(),
        Treatment::Pass => send_from(socket::known(fd), fd, None, call),
    }
}

/// Sends to `target`, or to the peer of a known socket.
fn send_from(
    socket: Option<u64>,
    fd: c_int,
    target: Option<SocketAddr>,
    call: &dyn Fn() -> isize,
) -> isize {
    let question = socket.and_then(|inode| Some((inode, socket::question(inode, target)?)));
    let Some((inode, (target, is_first))) = question else { return call() };
    // Recorded before sending, because the answer may reach another thread before this one
    // continues.
    if is_first {
        let _errno = Errno::save();
        let (text, host) = (shown(&target), address::host_of(target.ip()));
        if let Some(operation) = network::begin_datagram(Some(inode), text, host, caller()) {
            socket::update(inode, |socket, _| socket.add_question(operation));
        }
    }
    let result = call();
    let _errno = Errno::save();
    let errno = errno();
    let is_wait = result < 0 && error::is_wait(errno);
    let mut is_recorded = result >= 0 || is_wait;
    socket::update(inode, |socket, changes| {
        if socket.connecting.is_some() {
            is_recorded = true;
            let error = if result < 0 && errno != libc::ENOTCONN { errno } else { 0 };
            if !is_wait {
                socket.error(fd, error, changes);
            }
        } else if result < 0 && is_first {
            if let Some(operation) = socket.take_question(&target).filter(|_| !is_wait) {
                is_recorded = true;
                changes.end(operation, End::Failed(error::name(errno)));
            }
        }
    });
    if !is_recorded {
        failed(SEND, &target, errno);
    }
    result
}

/// Lets the scheduler split the bytes as the kernel does, unless they are a message to an address.
///
/// # Safety
/// The buffer must be valid for reads.
pub(crate) unsafe fn bytes_or_message(
    fd: c_int,
    buffer: *const c_void,
    len: usize,
    flags: c_int,
    address: *const libc::sockaddr,
    next: impl Fn() -> isize,
) -> isize {
    if address.is_null() {
        // SAFETY: as the caller promises.
        unsafe { schedule::write(fd, buffer, len, flags, next) }
    } else {
        schedule::send_message(fd, flags, next)
    }
}

/// Returns the destination of a message, if it has one.
///
/// # Safety
/// `message` must be null or valid, as must be the address it points to.
pub(crate) unsafe fn target_of(message: *const libc::msghdr) -> Option<SocketAddr> {
    // SAFETY: as the caller promises.
    unsafe {
        let message = message.as_ref()?;
        address::read(message.msg_name.cast(), message.msg_namelen)
    }
}

/// Sends several messages. One to another machine represents all: they are sent, or refused,
/// together.
///
/// # Safety
/// `messages` must be null or valid for `count` messages.
pub(crate) unsafe fn messages(
    fd: c_int,
    messages: *const libc::mmsghdr,
    count: c_uint,
    flags: c_int,
    next: impl Fn() -> c_int,
) -> c_int {
    let target = (0..count as usize).filter(|_| !messages.is_null()).find_map(|i| {
        // SAFETY: as the caller promises.
        let target = unsafe { target_of(&raw const (*messages.add(i)).msg_hdr) };
        target.filter(|target| !address::is_local(target))
    });
    let call = || schedule::send_message(fd, flags, || next() as isize);
    sent_to(fd, target, call) as c_int
}
