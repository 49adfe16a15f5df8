//! Lookups of the names of addresses: `getnameinfo` and its predecessors.

use ::std::ffi::{c_int, c_void};
use ::std::net::{IpAddr, SocketAddr};
use ::std::ptr;

use nondex_core::NetworkMode;
use nondex_core::context::network;
use nondex_core::hidden::Text;

use super::{Lookup, address, by_h_errno, decide, end};
use crate::libc;

/// Decides about the lookup of an address's name.
fn look_up(operation: &'static str, target: Option<SocketAddr>) -> Lookup {
    match target {
        Some(target) if !address::is_local(&target) && network::mode() != NetworkMode::Off => {
            let host = address::host_of(target.ip());
            let ip = Text::of(format_args!("{}", target.ip()));
            decide(operation, ip, host)
        }
        _ => Lookup::Pass,
    }
}

/// Looks up the name of an address, unless only its number is requested.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
pub(crate) unsafe fn name_of(
    address: *const libc::sockaddr,
    len: libc::socklen_t,
    is_numeric: bool,
    next: impl FnOnce() -> c_int,
) -> c_int {
    if is_numeric {
        return next();
    }
    // SAFETY: as the caller promises.
    match look_up("getnameinfo", unsafe { address::read(address, len) }) {
        Lookup::Pass => next(),
        Lookup::Refuse(code) => code,
        Lookup::Observe(_, operation) => {
            let code = next();
            end(operation, code);
            code
        }
    }
}

/// Returns the address of this family at `address`.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
unsafe fn bare(address: *const c_void, len: libc::socklen_t, family: c_int) -> Option<SocketAddr> {
    let ip: IpAddr = match (family, len) {
        _ if address.is_null() => return None,
        // SAFETY: as the caller promises.
        (libc::AF_INET, 4) => unsafe { address.cast::<[u8; 4]>().read_unaligned() }.into(),
        // SAFETY: as the caller promises.
        (libc::AF_INET6, 16) => unsafe { address.cast::<[u8; 16]>().read_unaligned() }.into(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, 0))
}

/// Decides about the lookup of the name of an address of this family.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
pub(crate) unsafe fn of_bare(
    address: *const c_void,
    len: libc::socklen_t,
    family: c_int,
) -> Lookup {
    // SAFETY: as the caller promises.
    look_up("gethostbyaddr", unsafe { bare(address, len, family) })
}

/// Looks up the name of an address by a function that returns a static entry.
pub(crate) fn static_entry(
    lookup: Lookup,
    next: impl FnOnce() -> *mut libc::hostent,
) -> *mut libc::hostent {
    by_h_errno(lookup, ptr::null_mut(), <*mut libc::hostent>::is_null, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_address_is_read_as_its_family_and_length_say() {
        let found = |address: &[u8], family| {
            let len = address.len() as libc::socklen_t;
            // SAFETY: the address has this length.
            unsafe { bare(address.as_ptr().cast(), len, family) }
        };
        let ip = |text: &str| Some(SocketAddr::new(text.parse().unwrap(), 0));
        assert_eq!(found(&[192, 0, 2, 1], libc::AF_INET), ip("192.0.2.1"));
        assert_eq!(found(&[0; 16], libc::AF_INET6), ip("::"));
        assert_eq!(found(&[0; 16], libc::AF_INET), None);
        assert_eq!(found(&[0; 4], libc::AF_UNIX), None);
    }
}
