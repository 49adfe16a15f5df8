//! Lookups of the names of addresses: `getnameinfo` and its predecessors.

use ::std::ffi::{c_char, c_int, c_void};
use ::std::net::{IpAddr, SocketAddr};
use ::std::ptr;

use nondex_core::NetworkMode;
use nondex_core::context::network;
use nondex_core::hidden::Text;

use super::older::reentrant;
use super::{Lookup, address, by_h_errno, decide, end, original};
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

#[unsafe(no_mangle)]
unsafe extern "C" fn getnameinfo(
    address: *const libc::sockaddr,
    address_len: libc::socklen_t,
    host: *mut c_char,
    host_len: libc::socklen_t,
    service: *mut c_char,
    service_len: libc::socklen_t,
    flags: c_int,
) -> c_int {
    let original = original!(getnameinfo(_, _, _, _, _, _, _) else return libc::EAI_FAIL);
    // SAFETY: the caller's arguments, unchanged.
    let call =
        || unsafe { original(address, address_len, host, host_len, service, service_len, flags) };
    if host.is_null() || host_len == 0 || flags & libc::NI_NUMERICHOST != 0 {
        return call();
    }
    // SAFETY: the caller gives an address of this length.
    match look_up("getnameinfo", unsafe { address::read(address, address_len) }) {
        Lookup::Pass => call(),
        Lookup::Refuse(code) => code,
        Lookup::Observe(_, operation) => {
            let code = call();
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

#[unsafe(no_mangle)]
unsafe extern "C" fn gethostbyaddr(
    address: *const c_void,
    address_len: libc::socklen_t,
    family: c_int,
) -> *mut libc::hostent {
    let original = original!(gethostbyaddr(_, _, _) else return ptr::null_mut());
    // SAFETY: the caller gives an address of this length.
    let lookup = look_up("gethostbyaddr", unsafe { bare(address, address_len, family) });
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { original(address, address_len, family) };
    by_h_errno(lookup, ptr::null_mut(), <*mut libc::hostent>::is_null, call)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gethostbyaddr_r(
    address: *const c_void,
    address_len: libc::socklen_t,
    family: c_int,
    entry: *mut libc::hostent,
    buffer: *mut c_char,
    len: usize,
    result: *mut *mut libc::hostent,
    reason: *mut c_int,
) -> c_int {
    let original = original!(gethostbyaddr_r(_, _, _, _, _, _, _, _) else return libc::ENOSYS);
    // SAFETY: the caller gives an address of this length, and places for the result and the reason.
    unsafe {
        let lookup = look_up("gethostbyaddr", bare(address, address_len, family));
        reentrant(lookup, result, reason, || {
            original(address, address_len, family, entry, buffer, len, result, reason)
        })
    }
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
