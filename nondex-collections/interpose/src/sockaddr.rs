//! Addresses as C has them.

use ::std::ffi::c_int;
use ::std::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::libc;

/// The Internet address that a caller gives, `None` for every other family.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
pub(crate) unsafe fn read(
    address: *const libc::sockaddr,
    len: libc::socklen_t,
) -> Option<SocketAddr> {
    let len = len as usize;
    if address.is_null() || len < size_of::<libc::sa_family_t>() {
        return None;
    }
    // SAFETY: the range is valid for as much as is checked before each read; a caller need not have
    // aligned it.
    unsafe {
        match family(address) {
            libc::AF_INET if len >= size_of::<libc::sockaddr_in>() => {
                let found = address.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = IpAddr::from(found.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddr::new(ip, u16::from_be(found.sin_port)))
            }
            // The scope at its end may be missing.
            libc::AF_INET6 if len >= size_of::<libc::sockaddr_in6>() - 4 => {
                let address = address.cast::<libc::sockaddr_in6>();
                let ip = (&raw const (*address).sin6_addr).read_unaligned();
                let port = (&raw const (*address).sin6_port).read_unaligned();
                Some(SocketAddr::new(Ipv6Addr::from(ip.s6_addr).into(), u16::from_be(port)))
            }
            _ => None,
        }
    }
}

/// The Internet address that a socket has on this machine, `None` for every other family, and for
/// what is no socket. May change `errno`.
pub(crate) fn of_socket(socket: c_int) -> Option<SocketAddr> {
    // SAFETY: the address is plain data, for which zeros are valid, and libc writes no more of it
    // than its length. Other families' addresses may be longer, and are not read.
    unsafe {
        let mut found: libc::sockaddr_in6 = ::std::mem::zeroed();
        let mut len = size_of_val(&found) as libc::socklen_t;
        let place = (&raw mut found).cast::<libc::sockaddr>();
        (libc::getsockname(socket, place, &raw mut len) == 0).then(|| read(place, len))?
    }
}

/// # Safety
/// `address` must be valid for reads of a family.
pub(crate) unsafe fn family(address: *const libc::sockaddr) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { (&raw const (*address).sa_family).read_unaligned() }.into()
}
