//! Checks whether this machine is offline.

use std::net::{ToSocketAddrs, UdpSocket};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Addresses that represent the rest of the world, from the networks reserved for documentation
/// (RFC 5737, RFC 3849).
const ELSEWHERE: [(&str, &str); 2] = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];

/// Name that is reserved and will keep existing (RFC 2606).
const NAME: &str = "example.com:80";

/// Time limit for the lookup of the name.
const PATIENCE: Duration = Duration::from_secs(3);

/// Checks once, on the first request, whether this machine is offline.
#[derive(Debug)]
pub struct Canary {
    machine: OnceLock<bool>,
    /// Whether the tests are offline whatever the machine is.
    is_blocked: bool,
}

impl Canary {
    /// Returns a canary that checks the machine. It first looks at the routing table, which sends
    /// no packet: without any route the machine is offline. With one, it looks up `example.com` for
    /// at most three seconds.
    pub const fn new() -> Self {
        Canary { machine: OnceLock::new(), is_blocked: false }
    }

    /// Returns a canary with a known answer.
    pub fn known(offline: bool) -> Self {
        Canary { machine: offline.into(), is_blocked: false }
    }

    /// Returns the canary of a run that blocks the network: its tests are offline whatever the
    /// machine is.
    #[must_use]
    pub fn blocked(self) -> Self {
        Canary { is_blocked: true, ..self }
    }

    /// Returns whether the tests are offline. The first call takes up to three seconds, or no time
    /// if the run blocks the network.
    pub fn is_offline(&self) -> bool {
        self.is_blocked || self.is_machine_offline()
    }

    /// Returns whether the machine itself is offline, for operations that no run can block. The
    /// first call takes up to three seconds.
    pub fn is_machine_offline(&self) -> bool {
        *self.machine.get_or_init(|| !has_route() || !resolves())
    }
}

impl Default for Canary {
    fn default() -> Self {
        Canary::new()
    }
}

/// Returns whether there is a route to another network. Connecting a datagram socket only selects
/// the route.
fn has_route() -> bool {
    ELSEWHERE
        .into_iter()
        .any(|(own, other)| UdpSocket::bind(own).and_then(|socket| socket.connect(other)).is_ok())
}

fn resolves() -> bool {
    let (sender, receiver) = mpsc::channel();
    // The system's resolver cannot be interrupted: its thread keeps running.
    thread::spawn(move || sender.send(NAME.to_socket_addrs().is_ok()));
    receiver.recv_timeout(PATIENCE).unwrap_or(false)
}
