//! What is recorded of the network: operations on other machines, and how they ended.
//!
//! Local targets (the loopback, unix sockets) are not recorded, except when the loopback itself
//! does not work. An operation is recorded when it begins and again when its end is known, so that
//! one which never ends is known too.

pub mod fold;
pub mod meaning;

use crate::json;

use super::site::Frame;

/// What is done about the network while a test runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkMode {
    /// Nothing: it is not looked at.
    Off,
    /// What really happens is observed.
    #[default]
    Observe,
    /// Every operation beyond the loopback fails at once as if offline.
    Block,
    /// Single operations beyond the loopback fail, drawn from the seed.
    Fault,
}

json::words!(NetworkMode { Off = "off", Observe = "observe", Block = "block", Fault = "fault" });

/// What is done about the network, and for which hosts nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// See [`NetworkMode::Off`].
    Off,
    /// See [`NetworkMode::Observe`].
    #[default]
    Observe,
    /// See [`NetworkMode::Block`]; these hosts are reached: names, `*.` with a domain, or
    /// addresses.
    Block(Vec<String>),
    /// See [`NetworkMode::Fault`]; operations on these hosts do not fail.
    Fault(Vec<String>),
}

json::variants!(Network {
    Off = "off",
    Observe = "observe",
    Block(allowed) = "block",
    Fault(allowed) = "fault",
});

impl Network {
    /// The mode, with these hosts where some operations are to fail.
    pub fn new(mode: NetworkMode, allowed: &[String]) -> Self {
        match mode {
            NetworkMode::Off => Network::Off,
            NetworkMode::Observe => Network::Observe,
            NetworkMode::Block => Network::Block(allowed.to_vec()),
            NetworkMode::Fault => Network::Fault(allowed.to_vec()),
        }
    }

    /// The mode.
    pub const fn mode(&self) -> NetworkMode {
        match self {
            Network::Off => NetworkMode::Off,
            Network::Observe => NetworkMode::Observe,
            Network::Block(_) => NetworkMode::Block,
            Network::Fault(_) => NetworkMode::Fault,
        }
    }

    /// The hosts that are reached all the same.
    pub fn allowed(&self) -> &[String] {
        match self {
            Network::Off | Network::Observe => &[],
            Network::Block(allowed) | Network::Fault(allowed) => allowed,
        }
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetworkOutcome {
    /// With this error: the name of an `errno` or of an `EAI_` code.
    Failed(String),
    /// Not before the run did: it was waiting for an answer. Of a datagram: who asked for an answer
    /// learned that there is none yet.
    Pending,
    /// It is a datagram, and somebody was waiting for an answer when last seen.
    Awaited,
    /// It is a datagram, and nobody was seen to wait for an answer.
    Unawaited,
    /// It succeeded.
    Answered,
}

json::variants!(NetworkOutcome {
    Failed(error) = "failed",
    Pending = "pending",
    Awaited = "awaited",
    Unawaited = "unawaited",
    Answered = "answered",
});

/// The operation of a program that cannot be observed and has the name of another machine in its
/// arguments. It ends as the program does: with `exit status N` or `signal N`, or answered when it
/// succeeded.
pub const CHILD: &str = "child";

/// The operation of all functions that send.
pub const SEND: &str = "send";

/// The operation of connecting a socket of datagrams. Nothing is sent: it only looks for a route.
pub const ROUTE: &str = "connect (datagram)";

impl NetworkOutcome {
    /// The name of the error, or what is in place of one.
    pub fn text(&self) -> &str {
        match self {
            NetworkOutcome::Failed(error) => error,
            NetworkOutcome::Pending | NetworkOutcome::Awaited => "no answer",
            NetworkOutcome::Unawaited => "no answer was waited for",
            NetworkOutcome::Answered => "answered",
        }
    }

    /// Whether the operation has ended.
    pub const fn has_ended(&self) -> bool {
        matches!(self, NetworkOutcome::Failed(_) | NetworkOutcome::Answered)
    }

    /// How much is known: what one process knows of an operation does not make another one's
    /// knowledge undone.
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            NetworkOutcome::Unawaited => 0,
            NetworkOutcome::Awaited => 1,
            NetworkOutcome::Pending => 2,
            NetworkOutcome::Failed(_) | NetworkOutcome::Answered => 3,
        }
    }
}

/// Operations on other machines that are alike in all that is known of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetworkRecord {
    /// The function of libc, [`SEND`] for every one that sends, [`ROUTE`], or [`CHILD`].
    pub operation: String,
    /// The address with its port, or the host name that was to be resolved. Of a [`CHILD`] the name
    /// of the program.
    pub target: String,
    /// The host name that the address was resolved from, when that was seen. Of a [`CHILD`] the
    /// host in its arguments.
    pub host: Option<String>,
    /// How it ended.
    pub outcome: NetworkOutcome,
    /// The logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// The caller's place in the source, or its stack as one word: the same for the same binary on
    /// every run.
    pub site: String,
    /// How many there were.
    pub count: u64,
    /// How long the longest of them took, in milliseconds; 0 while it has not ended. The only thing
    /// in a record that differs between runs of one spec.
    pub elapsed_ms: u64,
    /// The caller's stack, innermost frame first, when the test failed and could still say so; else
    /// its place alone, where that is known.
    pub stack: Vec<Frame>,
}

json::object!(NetworkRecord {
    operation,
    target,
    host = optional,
    outcome,
    thread,
    site,
    count,
    elapsed_ms = defaulted,
    stack = optional,
});

impl NetworkRecord {
    /// Whether all that is known is how a program ended that cannot be observed.
    pub fn is_child(&self) -> bool {
        self.operation == CHILD
    }

    /// Whether it is a datagram that has no answer yet: it may be lost for another reason than that
    /// the network is not there.
    pub fn is_unanswered(&self) -> bool {
        self.operation == SEND && !self.outcome.has_ended()
    }

    /// The machine it was about: the host name where known, else the address without its port.
    pub fn machine(&self) -> &str {
        self.host.as_deref().unwrap_or_else(|| {
            let address = self.target.rsplit_once(':');
            match address {
                Some((address, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => address
                    .strip_prefix('[')
                    .and_then(|address| address.strip_suffix(']'))
                    .unwrap_or(address),
                _ => &self.target,
            }
        })
    }

    /// Whether the same was tried again in this run, or at another address of the same host, and
    /// succeeded.
    pub fn is_superseded(&self, run: &[NetworkRecord]) -> bool {
        run.iter().any(|other| {
            other.outcome == NetworkOutcome::Answered
                && other.operation == self.operation
                && other.machine() == self.machine()
        })
    }

    /// Everything but the count, the time and the stack.
    pub(super) fn identity(&self) -> (&str, &str, Option<&str>, &NetworkOutcome, &str, &str) {
        (
            &self.operation,
            &self.target,
            self.host.as_deref(),
            &self.outcome,
            &self.thread,
            &self.site,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of one `connect`, for the tests of this folder.
    pub(super) fn record(target: &str, outcome: NetworkOutcome) -> NetworkRecord {
        NetworkRecord {
            operation: "connect".to_owned(),
            target: target.to_owned(),
            host: None,
            outcome,
            thread: "0".to_owned(),
            site: "stack:1".to_owned(),
            count: 1,
            elapsed_ms: 0,
            stack: Vec::new(),
        }
    }

    #[test]
    fn a_machine_is_its_name_or_its_address_without_the_port() {
        for (target, machine) in [
            ("192.0.2.1:80", "192.0.2.1"),
            ("[2001:db8::1]:80", "2001:db8::1"),
            ("example.com", "example.com"),
        ] {
            assert_eq!(record(target, NetworkOutcome::Pending).machine(), machine);
        }
    }
}
