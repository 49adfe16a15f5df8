//! What is sent: `send` and its kin. A datagram that nobody answers is pending.

use ::std::ffi::{c_int, c_uint, c_void};
use ::std::net::SocketAddr;

use nondex_core::model;

use super::{
    Errno, Treatment, address, begin, errno, error, failed, fault, inject, original, refuse,
    socket, treat,
};

/// The name of every operation that sends.
const OPERATION: &str = "send";

/// Sends by `call` from `fd`, to `target` or else to what the socket is connected to.
#[inline]
fn send_with(fd: c_int, target: Option<SocketAddr>, call: impl FnOnce() -> isize) -> isize {
    if target.is_none() && !socket::is_watched(fd) {
        return call();
    }
    watched(fd, target, call)
}

/// Sends by `call` to what `fd` is connected to, if it is a socket.
#[inline]
pub(crate) fn sent(fd: c_int, call: impl FnOnce() -> isize) -> isize {
    send_with(fd, None, call)
}

#[cold]
fn watched(fd: c_int, target: Option<SocketAddr>, call: impl FnOnce() -> isize) -> isize {
    match treat(&model::NETWORK_SEND, fault::SEND, target) {
        Treatment::Refuse(target) => {
            refuse(OPERATION, &target);
            -1
        }
        Treatment::Fault(target, errno) => {
            inject(OPERATION, &target, errno);
            -1
        }
        Treatment::Observe(target) => {
            let result = call();
            let _errno = Errno::save();
            note(fd, Some(target), result, errno());
            result
        }
        Treatment::Pass => {
            let result = call();
            if target.is_none() {
                let _errno = Errno::save();
                note(fd, None, result, errno());
            }
            result
        }
    }
}

/// Notes what became of a message to `target`, or to the peer of `fd`.
fn note(fd: c_int, target: Option<SocketAddr>, result: isize, errno: c_int) {
    if result < 0 && error::is_wait(errno) {
        return;
    }
    let known = if target.is_some() {
        socket::take_or_new(fd)
    } else {
        socket::take(fd)
    };
    let Some(mut socket) = known else { return };
    if let Some(target) = target.or(socket.peer) {
        if socket.connecting.is_some() {
            socket.error(
                fd,
                if result < 0 && errno != libc::ENOTCONN {
                    errno
                } else {
                    0
                },
            );
        } else if result < 0 {
            failed(OPERATION, &target, errno);
        } else if !socket.answered
            && socket
                .sent
                .iter()
                .all(|sent| sent.record.target != target.to_string())
            && !address::is_group(&target)
            && socket::is_datagram(fd)
        {
            socket.sent.extend(begin(OPERATION, &target));
        }
    }
    socket::keep(fd, socket);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send(fd: c_int, buffer: *const c_void, len: usize, flags: c_int) -> isize {
    let Some(original) =
        original!(c"send": unsafe extern "C" fn(c_int, *const c_void, usize, c_int) -> isize)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    send_with(fd, None, || unsafe { original(fd, buffer, len, flags) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sendto(
    fd: c_int,
    buffer: *const c_void,
    len: usize,
    flags: c_int,
    address: *const libc::sockaddr,
    address_len: libc::socklen_t,
) -> isize {
    let Some(original) = original!(c"sendto": unsafe extern "C" fn(c_int, *const c_void, usize, c_int, *const libc::sockaddr, libc::socklen_t) -> isize)
    else {
        return -1;
    };
    // SAFETY: the caller gives an address of this length, or none.
    let target = unsafe { address::read(address, address_len) };
    // SAFETY: the caller's arguments, unchanged.
    send_with(fd, target, || unsafe {
        original(fd, buffer, len, flags, address, address_len)
    })
}

/// Where a message goes, if it says so.
///
/// # Safety
/// `message` must be null or valid, as must be the address it points to.
unsafe fn target_of(message: *const libc::msghdr) -> Option<SocketAddr> {
    // SAFETY: as the caller promises.
    unsafe {
        let message = message.as_ref()?;
        address::read(message.msg_name.cast(), message.msg_namelen)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> isize {
    let Some(original) =
        original!(c"sendmsg": unsafe extern "C" fn(c_int, *const libc::msghdr, c_int) -> isize)
    else {
        return -1;
    };
    // SAFETY: the caller gives a message.
    let target = unsafe { target_of(message) };
    // SAFETY: the caller's arguments, unchanged.
    send_with(fd, target, || unsafe { original(fd, message, flags) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut libc::mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    let Some(original) = original!(c"sendmmsg": unsafe extern "C" fn(c_int, *mut libc::mmsghdr, c_uint, c_int) -> c_int)
    else {
        return -1;
    };
    // One that goes to another machine stands for all: they are sent, or refused, together.
    let target = (0..count as usize)
        .filter(|_| !messages.is_null())
        .find_map(|i| {
            // SAFETY: the caller gives `count` messages.
            let target = unsafe { target_of(&raw const (*messages.add(i)).msg_hdr) };
            target.filter(|target| !address::is_local(target))
        });
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { original(fd, messages, count, flags) } as isize;
    send_with(fd, target, call) as c_int
}
