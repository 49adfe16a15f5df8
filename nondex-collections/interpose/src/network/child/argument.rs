//! Hosts in the arguments of a program.
//!
//! Many strings look like a host and are none: `main.rs`, `1.0.2`, `a@b.c`. Only three forms count:
//! a URL, an address of another machine, and `user@host:path` as `scp` and `git` take it.

use ::std::net::{IpAddr, SocketAddr};

use super::super::address::{is_local, is_remote_name};

/// Returns the other machine that `argument` names. The argument must be one word, or an option
/// with one: `--url=https://example.com/`.
pub(super) fn host(argument: &str) -> Option<&str> {
    if argument.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let value = match argument.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ => argument,
    };
    of_url(value).or_else(|| of_path(value)).or_else(|| of_address(value))
}

/// Returns the host of `scheme://user@host:port/…`.
fn of_url(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host_and_port.strip_prefix('[') {
        Some(address) => address.split_once(']')?.0,
        None => host_and_port.split_once(':').map_or(host_and_port, |(host, _)| host),
    };
    let is_host = host.parse().map_or_else(|_| is_remote_name(host), is_remote);
    (is_scheme && is_host).then_some(host)
}

/// Returns the host of `user@host:path`. It must have a domain, or else it may be a tag or digest.
fn of_path(text: &str) -> Option<&str> {
    let (user, rest) = text.split_once('@')?;
    let (host, path) = rest.split_once(':')?;
    let is_user = !user.is_empty()
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let has_domain = host
        .rsplit_once('.')
        .is_some_and(|(_, last)| last.len() > 1 && last.bytes().all(|b| b.is_ascii_alphabetic()));
    let is_host = has_domain && is_remote_name(host) || host.parse().is_ok_and(is_remote);
    (is_user && is_host && !path.is_empty()).then_some(host)
}

/// Returns the address of text that is one, alone or with a port.
fn of_address(text: &str) -> Option<&str> {
    let address = match text.parse::<SocketAddr>() {
        Ok(_) => text.rsplit_once(':')?.0.trim_matches(['[', ']']),
        Err(_) => text,
    };
    is_remote(address.parse().ok()?).then_some(address)
}

/// Returns whether this is the address of a single other machine. Versions, masks and module paths
/// that parse as addresses do not count.
fn is_remote(ip: IpAddr) -> bool {
    let is_unicast = match ip {
        IpAddr::V4(ip) => (1..224).contains(&ip.octets()[0]),
        IpAddr::V6(ip) => (0x2000..0x4000).contains(&ip.segments()[0]),
    };
    is_unicast && !is_local(&SocketAddr::new(ip, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clearly_another_machine_is_one() {
        for (argument, expected) in [
            ("https://example.com/a?b=c", Some("example.com")),
            ("http://user:word@example.com:8080", Some("example.com")),
            ("--url=git+ssh://git@example.com/a.git", Some("example.com")),
            ("http://db:5432/", Some("db")),
            ("http://192.0.2.1/", Some("192.0.2.1")),
            ("http://[2001:db8::1]:80/", Some("2001:db8::1")),
            ("git@example.com:a/b.git", Some("example.com")),
            ("me@192.0.2.1:file", Some("192.0.2.1")),
            ("192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:80", Some("192.0.2.1")),
            ("--to=192.0.2.1", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]:80", Some("2001:db8::1")),
            ("http://localhost:8080/", None),
            ("http://127.0.0.1/?next=https://example.com/", None),
            ("http://[::1]/", None),
            ("http://0.0.0.0:80", None),
            ("file:///etc/passwd", None),
            ("unix:///run/socket", None),
            ("see https://example.com/", None),
            ("<a href=\"https://example.com\">", None),
            ("https://", None),
            ("me@localhost:file", None),
            ("me@example.com", None),
            ("image@sha256:0123", None),
            ("package@1.2.3:a", None),
            ("main.rs", None),
            ("notes.txt", None),
            ("example.com", None),
            ("example.com:443", None),
            ("127.0.0.1:80", None),
            ("::1", None),
            ("0.1.2.3", None),
            ("255.255.255.0", None),
            ("1.2.3", None),
            ("10", None),
            ("a::b", None),
            ("fade::face", None),
            ("", None),
            ("-", None),
            ("=", None),
        ] {
            assert_eq!(host(argument), expected, "{argument}");
        }
    }
}
