//! Addresses of this machine other than the loopback's.
//!
//! The kernel identifies them without a packet: what is sent to one of this machine's addresses
//! comes from the same address. This module calls libc's functions, not the interposed ones.

use ::std::mem::zeroed;
use ::std::net::SocketAddr;

use super::super::sockaddr;
use super::Errno;
use crate::{libc, originals};

/// Port that is never contacted.
const DISCARD: u16 = 9;

/// Returns whether `target` is at an address of this machine.
pub(super) fn is_own(target: &SocketAddr) -> bool {
    let _errno = Errno::save();
    let (Some(socket), Some(connect), Some(close)) =
        (originals::socket.get(), originals::connect.get(), originals::close.get())
    else {
        return false;
    };
    // SAFETY: these are plain data, for which zeros are valid.
    let (mut v4, mut v6) = unsafe { zeroed::<(libc::sockaddr_in, libc::sockaddr_in6)>() };
    let (family, address, len) = match target {
        SocketAddr::V4(target) => {
            v4.sin_family = libc::AF_INET as libc::sa_family_t;
            v4.sin_port = DISCARD.to_be();
            v4.sin_addr.s_addr = u32::from_ne_bytes(target.ip().octets());
            (libc::AF_INET, (&raw const v4).cast(), size_of_val(&v4))
        }
        SocketAddr::V6(target) => {
            v6.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            v6.sin6_port = DISCARD.to_be();
            v6.sin6_addr.s6_addr = target.ip().octets();
            (libc::AF_INET6, (&raw const v6).cast(), size_of_val(&v6))
        }
    };
    // SAFETY: the address is valid for its length, and no other code closes the socket.
    unsafe {
        let fd = socket(family, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return false;
        }
        let is_routed = connect(fd, address, len as libc::socklen_t) == 0;
        let from = is_routed.then(|| sockaddr::of_socket(fd)).flatten();
        close(fd);
        from.is_some_and(|from| from.ip() == target.ip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_that_this_machine_has_are_its_own_and_no_others() {
        let table = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
        let mut own = vec!["127.0.0.1".to_owned()];
        let mut last = "";
        for line in table.lines().map(str::trim) {
            if line.ends_with("/32 host LOCAL") {
                own.push(last.to_owned());
            }
            last = line.strip_prefix("|-- ").unwrap_or(last);
        }
        for ip in &own {
            let target = SocketAddr::new(ip.parse().unwrap(), 80);
            assert!(is_own(&target), "{ip} of {own:?}");
        }
        for other in
            ["198.51.100.77:80", "224.0.0.251:5353", "255.255.255.255:67", "[2001:db8::77]:80"]
        {
            assert!(!is_own(&other.parse().unwrap()), "{other}");
        }
    }
}
