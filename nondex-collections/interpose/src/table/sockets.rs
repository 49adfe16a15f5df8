//! Sockets that may reach other machines.

use ::std::ffi::{c_int, c_uint, c_void};

use crate::libc::{self, mmsghdr, msghdr, sockaddr, socklen_t};
use crate::network::{connect, receive, send, wait};
use crate::schedule;
use crate::sockaddr::read;

c_functions! {
    fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int, missing -1,
        layers [connect::opened(family, kind)];
    fn connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int, missing -1,
        layers [connect::connect(fd, read(address, len))];
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t)
        -> c_int, missing -1, layers [connect::option_read(fd, (level, name), value)];
    fn close(fd: c_int) -> c_int, missing -1, layers [connect::closed(fd)];
    fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut libc::epoll_event)
        -> c_int, missing -1, layers [wait::listed(fd, operation, event)];

    fn recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize, missing -1,
        layers [receive::received_with(fd, flags), schedule::read(fd, flags)];
    fn recvfrom(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int, address: *mut sockaddr,
        address_len: *mut socklen_t) -> isize, missing -1,
        layers [receive::received_with(fd, flags), schedule::read(fd, flags)];
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize, missing -1,
        layers [receive::message(message), receive::received_with(fd, flags),
            schedule::read(fd, flags)];
    fn recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int,
        timeout: *mut libc::timespec) -> c_int, missing -1,
        layers [receive::messages(fd, flags)];

    // C programs that were compiled with `_FORTIFY_SOURCE` call these.
    fn __recv_chk(fd: c_int, buffer: *mut c_void, len: usize, room: usize, flags: c_int) -> isize,
        missing -1, layers [receive::received_with(fd, flags), schedule::read(fd, flags)];
    fn __recvfrom_chk(fd: c_int, buffer: *mut c_void, len: usize, room: usize, flags: c_int,
        address: *mut sockaddr, address_len: *mut socklen_t) -> isize, missing -1,
        layers [receive::received_with(fd, flags), schedule::read(fd, flags)];
    fn __read_chk(fd: c_int, buffer: *mut c_void, len: usize, room: usize) -> isize, missing -1,
        layers [receive::received(fd), schedule::read(fd, 0)];

    fn send(fd: c_int, buffer: *const c_void, len: usize, flags: c_int) -> isize, missing -1,
        layers [send::sent(fd), schedule::write(fd, buffer, len, flags)];
    fn sendto(fd: c_int, buffer: *const c_void, len: usize, flags: c_int, address: *const sockaddr,
        address_len: socklen_t) -> isize, missing -1,
        layers [send::sent_to(fd, read(address, address_len)),
            send::bytes_or_message(fd, buffer, len, flags, address)];
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize, missing -1,
        layers [send::sent_to(fd, send::target_of(message)), schedule::send_message(fd, flags)];
    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int,
        missing -1, layers [send::messages(fd, messages, count, flags)];
}
