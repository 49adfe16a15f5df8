//! Who waits for an answer to a datagram: `poll`, `select` and `epoll`.
//!
//! That there was no answer explains a failure only if somebody waited for it in vain. An `epoll` often looks at sockets from
//! which nobody wants anything at the time: only when the time that it was given is over, nothing came for anybody.

use ::std::ffi::c_int;

use super::{Errno, original, socket};
use crate::libc;

/// Waits by `call`, which may take time or not, for answers that come to some of these descriptors.
fn wait(
    descriptors: impl FnOnce() -> Vec<c_int>,
    takes_time: bool,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if !socket::is_any_unanswered() {
        return call();
    }
    let mut sockets: Vec<u64> = descriptors()
        .into_iter()
        .filter_map(socket::known)
        .collect();
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
            socket::update(inode, socket::Socket::waited_in_vain);
        }
    }
    result
}

/// The descriptors of which it is asked whether something can be read.
///
/// # Safety
/// `list` must be null or valid for reads of `count` entries.
unsafe fn listed(list: *const libc::pollfd, count: libc::nfds_t) -> Vec<c_int> {
    let asks = |entry: &libc::pollfd| entry.events & (libc::POLLIN | libc::POLLRDNORM) != 0;
    (0..if list.is_null() { 0 } else { count as usize })
        // SAFETY: as the caller promises.
        .map(|i| unsafe { list.add(i).read() })
        .filter(asks)
        .map(|entry| entry.fd)
        .collect()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn poll(list: *mut libc::pollfd, count: libc::nfds_t, timeout: c_int) -> c_int {
    let Some(original) =
        original!(c"poll": unsafe extern "C" fn(*mut libc::pollfd, libc::nfds_t, c_int) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        wait(
            || listed(list, count),
            timeout != 0,
            || original(list, count, timeout),
        )
    }
}

/// Whether a call with this time limit, none if it is null, can take time.
///
/// # Safety
/// `timeout` must be null or valid.
unsafe fn takes_time(timeout: *const libc::timespec) -> bool {
    // SAFETY: as the caller promises.
    unsafe { timeout.as_ref() }.is_none_or(|timeout| timeout.tv_sec != 0 || timeout.tv_nsec != 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ppoll(
    list: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: *const libc::timespec,
    signals: *const libc::sigset_t,
) -> c_int {
    let Some(original) = original!(c"ppoll": unsafe extern "C" fn(*mut libc::pollfd, libc::nfds_t, *const libc::timespec, *const libc::sigset_t) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        wait(
            || listed(list, count),
            takes_time(timeout),
            || original(list, count, timeout, signals),
        )
    }
}

/// The descriptors in a set.
///
/// # Safety
/// `set` must be null or hold the bits of the descriptors below `count`.
unsafe fn members(set: *const libc::fd_set, count: c_int) -> Vec<c_int> {
    const BITS: c_int = usize::BITS as c_int;
    let words = set.cast::<usize>();
    (0..if set.is_null() { 0 } else { count })
        // SAFETY: as the caller promises.
        .filter(|fd| unsafe { words.add((fd / BITS) as usize).read() } >> (fd % BITS) & 1 == 1)
        .collect()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn select(
    count: c_int,
    read: *mut libc::fd_set,
    write: *mut libc::fd_set,
    except: *mut libc::fd_set,
    timeout: *mut libc::timeval,
) -> c_int {
    let Some(original) = original!(c"select": unsafe extern "C" fn(c_int, *mut libc::fd_set, *mut libc::fd_set, *mut libc::fd_set, *mut libc::timeval) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        let takes_time = timeout
            .as_ref()
            .is_none_or(|timeout| timeout.tv_sec != 0 || timeout.tv_usec != 0);
        wait(
            || members(read, count),
            takes_time,
            || original(count, read, write, except, timeout),
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut libc::fd_set,
    write: *mut libc::fd_set,
    except: *mut libc::fd_set,
    timeout: *const libc::timespec,
    signals: *const libc::sigset_t,
) -> c_int {
    let Some(original) = original!(c"pselect": unsafe extern "C" fn(c_int, *mut libc::fd_set, *mut libc::fd_set, *mut libc::fd_set, *const libc::timespec, *const libc::sigset_t) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        wait(
            || members(read, count),
            takes_time(timeout),
            || original(count, read, write, except, timeout, signals),
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut libc::epoll_event,
) -> c_int {
    let Some(original) = original!(c"epoll_ctl": unsafe extern "C" fn(c_int, c_int, c_int, *mut libc::epoll_event) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(epoll, operation, fd, event) };
    if result == 0
        && let Some(inode) = socket::known(fd)
    {
        let _errno = Errno::save();
        // SAFETY: the event is null, which only removing allows, or valid.
        let asks = operation != libc::EPOLL_CTL_DEL
            && unsafe { event.as_ref() }.is_some_and(|event| {
                let events = event.events;
                events & libc::EPOLLIN as u32 != 0
            });
        socket::update(inode, |socket, _| socket.is_polled = asks);
    }
    result
}

/// As [`wait`], for an `epoll`.
fn wait_polled(takes_time: bool, call: impl FnOnce() -> c_int) -> c_int {
    if !takes_time || !socket::is_any_unanswered() {
        return call();
    }
    socket::update_polled(socket::Socket::awaited);
    let result = call();
    if result == 0 {
        let _errno = Errno::save();
        socket::update_polled(socket::Socket::waited_in_vain);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut libc::epoll_event,
    room: c_int,
    timeout: c_int,
) -> c_int {
    let Some(original) = original!(c"epoll_wait": unsafe extern "C" fn(c_int, *mut libc::epoll_event, c_int, c_int) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    wait_polled(timeout != 0, || unsafe {
        original(epoll, events, room, timeout)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut libc::epoll_event,
    room: c_int,
    timeout: c_int,
    signals: *const libc::sigset_t,
) -> c_int {
    let Some(original) = original!(c"epoll_pwait": unsafe extern "C" fn(c_int, *mut libc::epoll_event, c_int, c_int, *const libc::sigset_t) -> c_int)
    else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    wait_polled(timeout != 0, || unsafe {
        original(epoll, events, room, timeout, signals)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    events: *mut libc::epoll_event,
    room: c_int,
    timeout: *const libc::timespec,
    signals: *const libc::sigset_t,
) -> c_int {
    // SAFETY: the time limit is null or valid.
    let takes_time = unsafe { takes_time(timeout) };
    // Since glibc 2.35; a program that looks for it by name finds this one.
    wait_polled(takes_time, || {
        match original!(c"epoll_pwait2": unsafe extern "C" fn(c_int, *mut libc::epoll_event, c_int, *const libc::timespec, *const libc::sigset_t) -> c_int)
        {
            // SAFETY: the caller's arguments, unchanged.
            Some(original) => unsafe { original(epoll, events, room, timeout, signals) },
            None => {
                super::set_errno(libc::ENOSYS);
                -1
            }
        }
    })
}
