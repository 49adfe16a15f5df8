//! Which addresses and names are of other machines, and which address was resolved from which name.

use ::std::collections::BTreeMap;
use ::std::ffi::c_char;
use ::std::net::{IpAddr, SocketAddr};
use ::std::sync::{Mutex, OnceLock, PoisonError};

pub(super) use crate::interpose::sockaddr::read;

/// Whether an address is of this machine: the loopback, or no address at all, which the kernel takes for it. A name
/// server on the loopback is not: it only forwards.
pub(super) fn is_local(target: &SocketAddr) -> bool {
    let ip = target.ip().to_canonical();
    (ip.is_loopback() || ip.is_unspecified())
        && !(target.port() == 53 && name_servers().contains(&ip))
}

/// Whether one datagram to this address has no one who must answer.
pub(super) fn is_group(target: &SocketAddr) -> bool {
    match target.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_multicast() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_multicast(),
    }
}

/// The name servers of the system's configuration.
fn name_servers() -> &'static [IpAddr] {
    static SERVERS: OnceLock<Vec<IpAddr>> = OnceLock::new();
    SERVERS.get_or_init(|| {
        let _pause = nondex_core::context::pause();
        let text = ::std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        let servers = text
            .lines()
            .filter_map(|line| line.strip_prefix("nameserver"));
        servers
            .filter_map(|server| server.trim().parse().ok())
            .collect()
    })
}

/// Whether a lookup of this name says anything about the network: not so for this machine's own names, for addresses,
/// and for what cannot be a name of a host.
pub(super) fn is_remote_name(name: &str) -> bool {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let is_address = bare.parse::<IpAddr>().is_ok()
        || bare
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    bare.len() <= 253
        && bare.split('.').all(is_label)
        && !is_address
        && !bare.eq_ignore_ascii_case("localhost")
        && !bare.to_ascii_lowercase().ends_with(".localhost")
        && !is_own_name(bare)
}

fn is_own_name(name: &str) -> bool {
    let mut own = [0_u8; 256];
    // SAFETY: the buffer has room for its length; the last byte stays zero.
    let result = unsafe { libc::gethostname(own.as_mut_ptr().cast::<c_char>(), own.len() - 1) };
    let end = own.iter().position(|byte| *byte == 0).unwrap_or(0);
    result == 0 && own[..end].eq_ignore_ascii_case(name.as_bytes())
}

/// How many addresses are remembered.
const MAX_HOSTS: usize = 4096;

static HOSTS: Mutex<BTreeMap<IpAddr, String>> = Mutex::new(BTreeMap::new());

/// Remembers what name an address was resolved from.
pub(super) fn remember(ip: IpAddr, host: &str) {
    let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    if hosts.len() < MAX_HOSTS {
        hosts.insert(ip.to_canonical(), host.to_owned());
    }
}

/// The name that an address was last resolved from.
pub(super) fn host_of(ip: IpAddr) -> Option<String> {
    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    hosts.get(&ip.to_canonical()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_and_the_unspecified_address_are_local_in_every_form() {
        for (address, local) in [
            ("127.0.0.1:80", true),
            ("127.8.9.1:80", true),
            ("0.0.0.0:80", true),
            ("[::1]:80", true),
            ("[::]:80", true),
            ("[::ffff:127.0.0.1]:80", true),
            ("192.0.2.1:80", false),
            ("10.0.0.1:53", false),
            ("[2001:db8::1]:80", false),
            ("[::ffff:192.0.2.1]:80", false),
        ] {
            assert_eq!(is_local(&address.parse().unwrap()), local, "{address}");
        }
    }

    #[test]
    fn only_well_formed_names_of_other_machines_are_remote() {
        for (name, remote) in [
            ("example.com", true),
            ("example.com.", true),
            ("_dns.resolver.arpa", true),
            ("db", true),
            ("localhost", false),
            ("LOCALHOST.", false),
            ("a.localhost", false),
            ("127.0.0.1", false),
            ("1.2.3", false),
            ("::1", false),
            ("", false),
            ("two words", false),
            ("a..b", false),
            ("caf\u{e9}.example", false),
        ] {
            assert_eq!(is_remote_name(name), remote, "{name}");
        }
    }

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
