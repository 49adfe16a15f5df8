//! Whether this machine is offline as a whole.

use std::net::{ToSocketAddrs, UdpSocket};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Addresses that represent the rest of the world: of the networks set aside for documentation (RFC
/// 5737, RFC 3849).
const ELSEWHERE: [(&str, &str); 2] = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];

/// A name that has existed since 1992 and will not go away (RFC 2606).
const NAME: &str = "example.com:80";

/// How long the lookup of the name may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Answers whether this machine is offline, once, when it is first asked.
#[derive(Debug)]
pub struct Canary {
    machine: OnceLock<bool>,
    /// Whether the tests are offline whatever the machine is.
    is_blocked: bool,
}

impl Canary {
    /// A canary that looks for itself. First at the routing table, for which no packet is sent:
    /// without a route to anywhere the machine is offline. With one, it looks up `example.com`, for
    /// three seconds at most.
    pub const fn new() -> Self {
        Canary { machine: OnceLock::new(), is_blocked: false }
    }

    /// A canary that knows the answer.
    pub fn known(offline: bool) -> Self {
        Canary { machine: offline.into(), is_blocked: false }
    }

    /// The canary of a run that blocks the network: its tests are offline, whatever the machine is.
    #[must_use]
    pub fn blocked(self) -> Self {
        Canary { is_blocked: true, ..self }
    }

    /// Whether what tests do is offline. Takes up to three seconds when first asked, and nothing in
    /// a run that blocks the network.
    pub fn is_offline(&self) -> bool {
        self.is_blocked || self.is_machine_offline()
    }

    /// Whether the machine is offline, for what no run can block. Takes up to three seconds when
    /// first asked.
    pub fn is_machine_offline(&self) -> bool {
        *self.machine.get_or_init(|| !has_route() || !resolves())
    }
}

impl Default for Canary {
    fn default() -> Self {
        Canary::new()
    }
}

/// Whether there is a route to another network. Connecting a datagram socket only chooses one.
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
