//! Addresses as libc has them, and which names are of other machines.

use ::std::ffi::c_char;
use ::std::net::{IpAddr, Ipv6Addr, SocketAddr};

use nondex_core::network::target;
pub(super) use nondex_core::network::target::{host_of, is_group, is_local, remember};

/// The Internet address that a caller gives, `None` for every other family.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
pub(super) unsafe fn read(
    address: *const libc::sockaddr,
    len: libc::socklen_t,
) -> Option<SocketAddr> {
    let len = len as usize;
    if address.is_null() || len < size_of::<libc::sa_family_t>() {
        return None;
    }
    // SAFETY: the range is valid for as much as is checked before each read; a caller need not have aligned it.
    unsafe {
        match c_family(address) {
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
                Some(SocketAddr::new(
                    Ipv6Addr::from(ip.s6_addr).into(),
                    u16::from_be(port),
                ))
            }
            _ => None,
        }
    }
}

/// # Safety
/// `address` must be valid for reads of a family.
unsafe fn c_family(address: *const libc::sockaddr) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { (&raw const (*address).sa_family).read_unaligned() }.into()
}

/// Whether a lookup of this name says anything about the network: not so for this machine's own names, for addresses,
/// and for what cannot be a name of a host.
pub(super) fn is_remote_name(name: &str) -> bool {
    target::is_remote_name(name) && !is_own_name(name.strip_suffix('.').unwrap_or(name))
}

fn is_own_name(name: &str) -> bool {
    let mut own = [0_u8; 256];
    // SAFETY: the buffer has room for its length; the last byte stays zero.
    let result = unsafe { libc::gethostname(own.as_mut_ptr().cast::<c_char>(), own.len() - 1) };
    let end = own.iter().position(|byte| *byte == 0).unwrap_or(0);
    result == 0 && own[..end].eq_ignore_ascii_case(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_from_the_form_of_its_family_only() {
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 80_u16.to_be(),
            sin_addr: libc::in_addr {
                s_addr: u32::from_ne_bytes([192, 0, 2, 1]),
            },
            sin_zero: [0; 8],
        };
        let pointer = (&raw const address).cast();
        let len = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the pointer is valid for the length, and for every smaller one.
        unsafe {
            assert_eq!(read(pointer, len), Some("192.0.2.1:80".parse().unwrap()));
            assert_eq!(read(pointer, len - 1), None);
            assert_eq!(read(::std::ptr::null(), len), None);
        }
    }
}
