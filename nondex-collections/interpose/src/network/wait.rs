//! Waits for answers to datagrams: `poll`, `select` and `epoll`.
//!
//! A missing answer explains a failure only if a thread waited for it. An `epoll` often waits for
//! sockets that no task uses at the time. So only if its time limit passes without any event, the
//! answers count as missing.

use ::std::ffi::c_int;

use nondex_core::hidden;

use super::{Errno, socket};
use crate::libc;

/// Waits by `call` for answers on some of these descriptors. `takes_time` states whether it may
/// block.
pub(crate) fn wait(
    descriptors: impl FnOnce() -> hidden::Vec<c_int>,
    takes_time: bool,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if !socket::is_any_unanswered() {
        return call();
    }
    let mut sockets = hidden::collect(descriptors().into_iter().filter_map(socket::known));
    sockets.retain(|inode| socket::is_unanswered(*inode));
    if takes_time {
        for inode in &sockets {
            socket::update(*inode, socket::Socket::awaited);
        }
    }
    let result = call();
    if result == 0 {
        let _errno = Errno::save();
        for inode in sockets {
            socket::update(inode, socket::Socket::waited_unanswered);
        }
    }
    result
}

/// Notes whether an `epoll` waits for a socket to become readable.
///
/// # Safety
/// The event must be null or valid.
pub(crate) unsafe fn listed(
    fd: c_int,
    operation: c_int,
    event: *const libc::epoll_event,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let result = next();
    if result == 0 {
        if let Some(inode) = socket::known(fd) {
            let _errno = Errno::save();
            // SAFETY: as the caller promises; only removing allows null.
            let event = unsafe { event.as_ref() }.filter(|_| operation != libc::EPOLL_CTL_DEL);
            let asks = event.is_some_and(|event| {
                let events = event.events;
                events & libc::EPOLLIN as u32 != 0
            });
            socket::update(inode, |socket, _| socket.is_polled = asks);
        }
    }
    result
}

/// Waits by an `epoll`, as [`wait`] does.
pub(crate) fn wait_polled(takes_time: bool, call: impl FnOnce() -> c_int) -> c_int {
    if !takes_time || !socket::is_any_unanswered() {
        return call();
    }
    socket::update_polled(socket::Socket::awaited);
    let result = call();
    if result == 0 {
        let _errno = Errno::save();
        socket::update_polled(socket::Socket::waited_unanswered);
    }
    result
}
