//! `ToSocketAddrs`: the lookups of names.

use ::std::io;
use ::std::iter::Cloned;
use ::std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use ::std::sync::OnceLock;
use ::std::{env, fs, option, slice, vec};

use nondex_core::context::pause;
use nondex_core::network::{self, NetworkMode, fault, target};
use nondex_core::{Caller, NetworkOutcome, model};

use super::{error, operation};
use crate::caller::caller;

/// As [`::std::net::ToSocketAddrs`].
pub trait ToSocketAddrs {
    /// The addresses.
    type Iter: Iterator<Item = SocketAddr>;

    /// As [`::std::net::ToSocketAddrs::to_socket_addrs`].
    ///
    /// # Errors
    /// As std's.
    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;
}

/// Implements the trait for types that need no lookup.
macro_rules! known {
    ($($type:ty),+) => {$(
        impl ToSocketAddrs for $type {
            type Iter = option::IntoIter<SocketAddr>;

            fn to_socket_addrs(&self) -> io::Result<option::IntoIter<SocketAddr>> {
                ::std::net::ToSocketAddrs::to_socket_addrs(self)
            }
        }
    )+};
}

known!(
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16)
);

impl<'a> ToSocketAddrs for &'a [SocketAddr] {
    type Iter = Cloned<slice::Iter<'a, SocketAddr>>;

    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        ::std::net::ToSocketAddrs::to_socket_addrs(self)
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    type Iter = T::Iter;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<T::Iter> {
        (**self).to_socket_addrs()
    }
}

impl ToSocketAddrs for (&str, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<vec::IntoIter<SocketAddr>> {
        look_up(Some(self.0), caller(), || {
            ::std::net::ToSocketAddrs::to_socket_addrs(self)
        })
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<vec::IntoIter<SocketAddr>> {
        (&*self.0, self.1).to_socket_addrs()
    }
}

impl ToSocketAddrs for str {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<vec::IntoIter<SocketAddr>> {
        look_up(host(self), caller(), || {
            ::std::net::ToSocketAddrs::to_socket_addrs(self)
        })
    }
}

impl ToSocketAddrs for String {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<vec::IntoIter<SocketAddr>> {
        (**self).to_socket_addrs()
    }
}

/// The host of `host:port`; `None` when std refuses the text before it looks anything up.
fn host(text: &str) -> Option<&str> {
    let (host, port) = text.rsplit_once(':')?;
    port.parse::<u16>().is_ok().then_some(host)
}

/// Tries `call` with each address that `addr` stands for until one succeeds, as std does.
#[track_caller]
pub(super) fn each<A: ToSocketAddrs, T>(
    addr: A,
    mut call: impl FnMut(&SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut last = None;
    for addr in addr.to_socket_addrs()? {
        match call(&addr) {
            Ok(value) => return Ok(value),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| {
        let none: &[SocketAddr] = &[];
        ::std::net::TcpListener::bind(none).expect_err("there is no address to bind to")
    }))
}

/// What a lookup fails with when the seed decides that it does.
const ERRORS: &[&str] = &["EAI_AGAIN", "EAI_FAIL"];

/// Looks `name` up by `call`, or lets that fail, as the run decides. Without a name of another machine there is nothing to do.
pub(super) fn look_up(
    name: Option<&str>,
    caller: Caller,
    call: impl FnOnce() -> io::Result<vec::IntoIter<SocketAddr>>,
) -> io::Result<vec::IntoIter<SocketAddr>> {
    let mode = network::mode();
    let is_seen = |name: &&str| mode != NetworkMode::Off && is_remote(name);
    let Some(name) = name.filter(is_seen) else {
        return call();
    };
    let begun = network::begin("getaddrinfo", name.to_owned(), None, caller);
    let is_open = || network::is_allowed(name);
    let refused = match mode {
        NetworkMode::Block if !is_open() => Some(("EAI_AGAIN", "EAI_AGAIN".to_owned())),
        NetworkMode::Fault if !is_open() => {
            fault::drawn(&model::NETWORK_RESOLVE, ERRORS, || caller)
                .map(|code| (code, fault::injected(code)))
        }
        _ => None,
    };
    if let Some((code, recorded)) = refused {
        operation::end(begun, NetworkOutcome::Failed(recorded));
        return Err(error::of_lookup(code));
    }
    let result = operation::unseen(call);
    let outcome = match &result {
        Ok(found) => {
            for addr in found.as_slice() {
                target::remember(addr.ip(), name);
            }
            NetworkOutcome::Answered
        }
        Err(error) => NetworkOutcome::Failed(error::lookup_name(error).to_owned()),
    };
    operation::end(begun, outcome);
    result
}

/// Whether a lookup of this name says anything about the network.
fn is_remote(name: &str) -> bool {
    let bare = name.strip_suffix('.').unwrap_or(name);
    target::is_remote_name(name) && !own_name().eq_ignore_ascii_case(bare)
}

/// This machine's own name, empty where std has no way to it.
fn own_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let _pause = pause();
        let found = if cfg!(windows) {
            env::var("COMPUTERNAME").ok()
        } else {
            fs::read_to_string("/proc/sys/kernel/hostname").ok()
        };
        found.unwrap_or_default().trim().to_owned()
    })
}

#[cfg(test)]
mod tests;
