//! Names of machines, and addresses of names.

use ::std::ffi::{c_char, c_int, c_uchar, c_void};
use ::std::ptr;

use crate::libc::{self, addrinfo, hostent, sockaddr, socklen_t};
use crate::network::resolve::query::records;
use crate::network::resolve::reverse::{self, of_bare};
use crate::network::resolve::{addresses, older};

type State = *mut c_void;

c_functions! {
    fn getaddrinfo(node: *const c_char, service: *const c_char, hints: *const addrinfo,
        result: *mut *mut addrinfo) -> c_int, missing libc::EAI_FAIL,
        layers [addresses(node, hints, result)];
    fn getnameinfo(address: *const sockaddr, address_len: socklen_t, host: *mut c_char,
        host_len: socklen_t, service: *mut c_char, service_len: socklen_t, flags: c_int) -> c_int,
        missing libc::EAI_FAIL,
        layers [reverse::name_of(address, address_len,
            host.is_null() || host_len == 0 || flags & libc::NI_NUMERICHOST != 0)];

    fn gethostbyname(name: *const c_char) -> *mut hostent, missing ptr::null_mut(),
        layers [older::static_entry(name)];
    fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent,
        missing ptr::null_mut(), layers [older::static_entry(name)];
    fn gethostbyname_r(name: *const c_char, entry: *mut hostent, buffer: *mut c_char, len: usize,
        result: *mut *mut hostent, reason: *mut c_int) -> c_int, missing libc::ENOSYS,
        layers [older::entry(name, result, reason)];
    fn gethostbyname2_r(name: *const c_char, family: c_int, entry: *mut hostent,
        buffer: *mut c_char, len: usize, result: *mut *mut hostent, reason: *mut c_int) -> c_int,
        missing libc::ENOSYS, layers [older::entry(name, result, reason)];
    fn gethostbyaddr(address: *const c_void, address_len: socklen_t, family: c_int)
        -> *mut hostent, missing ptr::null_mut(),
        layers [reverse::static_entry(of_bare(address, address_len, family))];
    fn gethostbyaddr_r(address: *const c_void, address_len: socklen_t, family: c_int,
        entry: *mut hostent, buffer: *mut c_char, len: usize, result: *mut *mut hostent,
        reason: *mut c_int) -> c_int, missing libc::ENOSYS,
        layers [older::reentrant(of_bare(address, address_len, family), result, reason)];

    // Programs that were linked long ago call those with underscores.
    fn res_query(name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1,
        layers [records(name)];
    fn __res_query(name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1,
        layers [records(name)];
    fn res_search(name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1,
        layers [records(name)];
    fn __res_search(name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1,
        layers [records(name)];
    fn res_querydomain(name: *const c_char, domain: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
    fn __res_querydomain(name: *const c_char, domain: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
    fn res_nquery(state: State, name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
    fn __res_nquery(state: State, name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
    fn res_nsearch(state: State, name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
    fn __res_nsearch(state: State, name: *const c_char, class: c_int, kind: c_int,
        answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
    fn res_nquerydomain(state: State, name: *const c_char, domain: *const c_char, class: c_int,
        kind: c_int, answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
    fn __res_nquerydomain(state: State, name: *const c_char, domain: *const c_char, class: c_int,
        kind: c_int, answer: *mut c_uchar, len: c_int) -> c_int, missing -1, layers [records(name)];
}
