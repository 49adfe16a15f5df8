//! Bytes through descriptors, waits for them, and sockets of this machine.

use ::std::ffi::{c_int, c_void};

use crate::failed;
use crate::libc::{
    self, epoll_event, fd_set, iovec, nfds_t, pollfd, sigset_t, sockaddr, socklen_t,
};
use crate::operations::socket;
use crate::schedule::descriptor;
use crate::{polling, schedule, transfer};

type Time = *const libc::timespec;

c_functions! {
    fn read(fd: c_int, buffer: *mut c_void, len: usize) -> isize, missing -1,
        layers [transfer::received(fd), schedule::read(fd, 0)];
    fn readv(fd: c_int, buffers: *const iovec, count: c_int) -> isize, missing -1,
        layers [transfer::received(fd), schedule::read(fd, 0)];
    fn write(fd: c_int, buffer: *const c_void, len: usize) -> isize, missing -1,
        layers [transfer::sent(fd), schedule::write(fd, buffer, len, 0)];
    fn writev(fd: c_int, buffers: *const iovec, count: c_int) -> isize, missing -1,
        layers [transfer::sent(fd), schedule::write_vectored(fd, buffers, count, 0)];
    fn flock(fd: c_int, operation: c_int) -> c_int, missing -1,
        layers [descriptor::lock_file(fd, operation) => (operation)];

    fn bind(socket: c_int, address: *const sockaddr, len: socklen_t) -> c_int, missing -1,
        layers [socket::bind(address, len)];
    fn listen(socket: c_int, backlog: c_int) -> c_int, missing -1,
        layers [socket::listen(socket)];
    fn accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int, missing -1,
        layers [descriptor::accept(fd)];
    fn accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int,
        missing -1, layers [descriptor::accept(fd)];

    fn poll(list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int, missing -1,
        layers [polling::poll(list, count, timeout, false) => (timeout)];
    fn ppoll(list: *mut pollfd, count: nfds_t, timeout: Time, signals: *const sigset_t) -> c_int,
        missing -1,
        layers [polling::poll(list, count, timeout, !signals.is_null()) => (timeout)];
    fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *mut libc::timeval) -> c_int, missing -1,
        layers [polling::select(count, [read, write, except], timeout, false) => (timeout)];
    fn pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: Time, signals: *const sigset_t) -> c_int, missing -1,
        layers [polling::select(count, [read, write, except], timeout, !signals.is_null())
            => (timeout)];
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, room: c_int, timeout: c_int) -> c_int,
        missing -1, layers [polling::epoll(epoll, timeout, false) => (timeout)];
    fn epoll_pwait(epoll: c_int, events: *mut epoll_event, room: c_int, timeout: c_int,
        signals: *const sigset_t) -> c_int, missing -1,
        layers [polling::epoll(epoll, timeout, !signals.is_null()) => (timeout)];
    /// A program that looks this up by name finds it even where libc has none, before glibc 2.35.
    fn epoll_pwait2(epoll: c_int, events: *mut epoll_event, room: c_int, timeout: Time,
        signals: *const sigset_t) -> c_int, missing failed(libc::ENOSYS),
        layers [polling::epoll(epoll, timeout, !signals.is_null()) => (timeout)];
}
