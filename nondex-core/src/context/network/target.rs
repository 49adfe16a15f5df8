//! Which addresses and names belong to other machines, and from which name an address was resolved.

use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};

use crate::context::pause;
use crate::fork_lock::ForkLock;
use crate::hidden::{self, Text};
use crate::sorted::SortedMap;

/// Returns whether an address is always of this machine: the loopback, or the unspecified address,
/// which the kernel treats as the loopback. A name server on the loopback counts as remote, because
/// it only forwards.
pub fn is_local(target: &SocketAddr) -> bool {
    let ip = target.ip().to_canonical();
    (ip.is_loopback() || ip.is_unspecified()) && !(target.port() == 53 && is_name_server(ip))
}

/// Returns whether a datagram to this address goes to a group, of which no member has to answer.
pub fn is_group(target: &SocketAddr) -> bool {
    match target.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_multicast() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_multicast(),
    }
}

/// Returns whether the file of the system's configuration lists this name server.
fn is_name_server(ip: IpAddr) -> bool {
    static SERVERS: ForkLock<Option<hidden::Vec<IpAddr>>> = ForkLock::new(|| None);
    let is_known = |servers: &Option<hidden::Vec<IpAddr>>| Some(servers.as_ref()?.contains(&ip));
    if let Some(is_known) = SERVERS.lock().and_then(|servers| is_known(&servers)) {
        return is_known;
    }
    // The file is read without the lock, which must be held only briefly.
    let servers = name_servers();
    let is_server = servers.contains(&ip);
    if let Some(mut known) = SERVERS.lock() {
        *known = Some(servers);
    }
    is_server
}

/// Maximum number of bytes of the resolver configuration that are read.
const MAX_CONFIGURATION: usize = 1 << 14;

fn name_servers() -> hidden::Vec<IpAddr> {
    let _pause = pause();
    let mut text = hidden::collect(std::iter::repeat_n(0, MAX_CONFIGURATION));
    let mut len = 0;
    if let Ok(mut file) = File::open("/etc/resolv.conf") {
        while let Ok(more @ 1..) = file.read(&mut text[len..]) {
            len += more;
        }
    }
    let servers = text[..len].split(|byte| *byte == b'\n').filter_map(|line| {
        std::str::from_utf8(line.strip_prefix(b"nameserver")?).ok()?.trim().parse().ok()
    });
    hidden::collect(servers)
}

/// Returns whether a lookup of this name depends on the network. Names of the loopback, addresses
/// and invalid host names do not. The name of this machine is not known here.
pub fn is_remote_name(name: &str) -> bool {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let is_address = bare.parse::<IpAddr>().is_ok()
        || bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    bare.len() <= 253
        && bare.split('.').all(is_label)
        && !is_address
        && !bare.eq_ignore_ascii_case("localhost")
        && !ends_with_ignoring_case(bare, ".localhost")
}

fn ends_with_ignoring_case(text: &str, end: &str) -> bool {
    let rest = text.len().checked_sub(end.len());
    rest.and_then(|at| text.get(at..)).is_some_and(|rest| rest.eq_ignore_ascii_case(end))
}

/// Maximum number of addresses remembered.
const MAX_HOSTS: usize = 4096;

static HOSTS: ForkLock<SortedMap<IpAddr, Text>> = ForkLock::new(SortedMap::new);

/// Remembers the name from which an address was resolved.
pub fn remember(ip: IpAddr, host: &str) {
    let host = Text::from(host);
    if let Some(mut hosts) = HOSTS.lock() {
        if hosts.len() < MAX_HOSTS {
            hosts.insert(ip.to_canonical(), host);
        }
    }
}

/// Returns the name from which an address was last resolved.
pub fn host_of(ip: IpAddr) -> Option<Text> {
    HOSTS.lock()?.get(&ip.to_canonical()).cloned()
}

/// Returns whether an address, or the name from which it was resolved, is allowed although the
/// network is blocked.
pub fn is_allowed(target: &SocketAddr) -> bool {
    super::is_allowed(&Text::of(format_args!("{}", target.ip())))
        || host_of(target.ip()).is_some_and(|host| super::is_allowed(&host))
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
            ("a.LocalHost", false),
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
    fn nobody_must_answer_what_is_sent_to_a_group() {
        for (address, group) in [
            ("224.0.0.251:5353", true),
            ("255.255.255.255:67", true),
            ("[ff02::fb]:5353", true),
            ("192.0.2.1:80", false),
            ("[2001:db8::1]:80", false),
        ] {
            assert_eq!(is_group(&address.parse().unwrap()), group, "{address}");
        }
    }

    #[test]
    fn an_address_keeps_the_name_it_was_last_resolved_from() {
        let ip: IpAddr = "192.0.2.77".parse().unwrap();
        remember(ip, "one.example");
        remember(ip, "two.example");
        let mapped: IpAddr = "::ffff:192.0.2.77".parse().unwrap();
        assert_eq!(host_of(mapped).as_deref(), Some("two.example"));
        assert_eq!(host_of("192.0.2.78".parse().unwrap()), None);
    }
}
