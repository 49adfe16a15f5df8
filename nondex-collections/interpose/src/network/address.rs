//! Conversion of addresses from libc's form, and the names that belong to other machines.

use ::std::ffi::c_char;
use ::std::net::SocketAddr;

use nondex_core::context::network::target;

use super::own_address;
use crate::libc;
pub(super) use nondex_core::context::network::target::{host_of, is_group, remember};

pub(super) use crate::sockaddr::read;

/// Port of name servers.
const NAMES: u16 = 53;

/// Returns whether an address belongs to this machine. A name server does not count, because it
/// only forwards.
pub(super) fn is_local(target: &SocketAddr) -> bool {
    target::is_local(target) || target.port() != NAMES && own_address::is_own(target)
}

/// Returns whether a lookup of this name reveals anything about the network. This machine's own
/// names, addresses, and strings that cannot name a host do not.
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
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([192, 0, 2, 1]) },
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
