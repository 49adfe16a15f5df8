//! Which addresses and names are of other machines, and which address was resolved from which name.

use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};

use crate::context::pause;
use crate::fork_lock::ForkLock;
use crate::hidden::{self, Text};
use crate::sorted::SortedMap;

/// Whether an address is of this machine, whichever machine it is: the loopback, or no address at
/// all, which the kernel takes for it. A name server on the loopback is not: it only forwards.
pub fn is_local(target: &SocketAddr) -> bool {
    let ip = target.ip().to_canonical();
    (ip.is_loopback() || ip.is_unspecified()) && !(target.port() == 53 && is_name_server(ip))
}

/// Whether one datagram to this address has no one who must answer.
pub fn is_group(target: &SocketAddr) -> bool {
    match target.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_multicast() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_multicast(),
    }
}

/// Whether this is a name server of the system's configuration, where that is a file.
fn is_name_server(ip: IpAddr) -> bool {
    static SERVERS: ForkLock<Option<hidden::Vec<IpAddr>>> = ForkLock::new(|| None);
    let is_known = |servers: &Option<hidden::Vec<IpAddr>>| Some(servers.as_ref()?.contains(&ip));
    if let Some(is_known) = SERVERS.lock().and_then(|servers| is_known(&servers)) {
        return is_known;
    }
    let servers = name_servers();
    let is_server = servers.contains(&ip);
    if let Some(mut known) = SERVERS.lock() {
        *known = Some(servers);
    }
    is_server
}

/// How much of the configuration of names is read.
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

/// Whether a lookup of this name shows anything about the network: not so for the loopback's names,
/// for addresses, and for what cannot be a name of a host. This machine's own name is not known
/// here.
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

/// How many addresses are remembered.
const MAX_HOSTS: usize = 4096;

static HOSTS: ForkLock<SortedMap<IpAddr, Text>> = ForkLock::new(SortedMap::new);

/// Remembers what name an address was resolved from.
pub fn remember(ip: IpAddr, host: &str) {
    let host = Text::from(host);
    if let Some(mut hosts) = HOSTS.lock() {
        if hosts.len() < MAX_HOSTS {
            hosts.insert(ip.to_canonical(), host);
        }
    }
}

/// The name that an address was last resolved from.
pub fn host_of(ip: IpAddr) -> Option<Text> {
    HOSTS.lock()?.get(&ip.to_canonical()).cloned()
}

/// Whether an address, or the name it was resolved from, was allowed although the network is
/// blocked.
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
