//! Addresses in C's form.

use ::std::ffi::c_int;
use ::std::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::libc;

/// Returns the Internet address that a caller gives; `None` for any other family.
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
    // SAFETY: each read is preceded by a check of the length; a caller need not have aligned the
    // address.
    unsafe {
        match family(address) {
            libc::AF_INET if len >= size_of::<libc::sockaddr_in>() => {
                let found = address.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = IpAddr::from(found.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddr::new(ip, u16::from_be(found.sin_port)))
            }
            // The scope at the end of the structure may be missing.
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

/// Returns the local Internet address of a socket; `None` for any other family, and for other
/// descriptors. May change `errno`.
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

/// Returns the family of an address.
///
/// # Safety
/// `address` must be valid for reads of a family.
pub(crate) unsafe fn family(address: *const libc::sockaddr) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { (&raw const (*address).sa_family).read_unaligned() }.into()
}
