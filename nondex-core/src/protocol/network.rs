//! The network record: operations on other machines, and their outcomes.
//!
//! Operations on local targets (the loopback, Unix sockets) are not recorded, unless the loopback
//! itself does not work. An operation is recorded when it begins, and again when it ends, so that
//! an operation without an end is known too.

pub mod fold;
pub mod meaning;

use crate::json;

use super::site::Frame;

/// How the network is treated while a test runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkMode {
    /// The network is not observed.
    Off,
    /// The network is observed and not changed.
    #[default]
    Observe,
    /// Every operation beyond the loopback fails at once, as if the machine were offline.
    Block,
    /// Single operations beyond the loopback fail, as drawn from the seed.
    Fault,
}

json::words!(NetworkMode { Off = "off", Observe = "observe", Block = "block", Fault = "fault" });

/// How the network is treated, and the hosts that are exempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// See [`NetworkMode::Off`].
    Off,
    /// See [`NetworkMode::Observe`].
    #[default]
    Observe,
    /// See [`NetworkMode::Block`]. These hosts stay reachable: names, `*.` with a domain, or
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
    /// Returns the network in this mode. The hosts matter only for modes in which operations fail.
    pub fn new(mode: NetworkMode, allowed: &[String]) -> Self {
        match mode {
            NetworkMode::Off => Network::Off,
            NetworkMode::Observe => Network::Observe,
            NetworkMode::Block => Network::Block(allowed.to_vec()),
            NetworkMode::Fault => Network::Fault(allowed.to_vec()),
        }
    }

    /// Returns the mode.
    pub const fn mode(&self) -> NetworkMode {
        match self {
            Network::Off => NetworkMode::Off,
            Network::Observe => NetworkMode::Observe,
            Network::Block(_) => NetworkMode::Block,
            Network::Fault(_) => NetworkMode::Fault,
        }
    }

    /// Returns the hosts that stay reachable.
    pub fn allowed(&self) -> &[String] {
        match self {
            Network::Off | Network::Observe => &[],
            Network::Block(allowed) | Network::Fault(allowed) => allowed,
        }
    }
}

/// Outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetworkOutcome {
    /// The operation failed with this error: the name of an `errno` or of an `EAI_` code.
    Failed(String),
    /// The run ended while the operation waited for an answer. For a datagram: the program tried to
    /// receive an answer, and there was none yet.
    Pending,
    /// A datagram for whose answer the program was waiting at the last observation.
    Awaited,
    /// A datagram for whose answer the program was never observed to wait.
    Unawaited,
    /// The operation succeeded.
    Answered,
}

json::variants!(NetworkOutcome {
    Failed(error) = "failed",
    Pending = "pending",
    Awaited = "awaited",
    Unawaited = "unawaited",
    Answered = "answered",
});

/// Operation of a program that cannot be observed and has the name of another machine in its
/// arguments. Its outcome is that of the program: `exit status N`, `signal N`, or answered if it
/// succeeded.
pub const CHILD: &str = "child";

/// Operation of all functions that send.
pub const SEND: &str = "send";

/// Operation of connecting a datagram socket, which sends nothing and only looks up a route.
pub const ROUTE: &str = "connect (datagram)";

impl NetworkOutcome {
    /// Returns the name of the error, or a text in place of one.
    pub fn text(&self) -> &str {
        match self {
            NetworkOutcome::Failed(error) => error,
            NetworkOutcome::Pending | NetworkOutcome::Awaited => "no answer",
            NetworkOutcome::Unawaited => "no answer was waited for",
            NetworkOutcome::Answered => "answered",
        }
    }

    /// Returns whether the operation has ended.
    pub const fn has_ended(&self) -> bool {
        matches!(self, NetworkOutcome::Failed(_) | NetworkOutcome::Answered)
    }

    /// Returns how informative the outcome is. An outcome that one process observed is not replaced
    /// by a lower one of another process.
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            NetworkOutcome::Unawaited => 0,
            NetworkOutcome::Awaited => 1,
            NetworkOutcome::Pending => 2,
            NetworkOutcome::Failed(_) | NetworkOutcome::Answered => 3,
        }
    }
}

/// Equal network operations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetworkRecord {
    /// Function of libc, [`SEND`] for all functions that send, [`ROUTE`], or [`CHILD`].
    pub operation: String,
    /// Address with its port, or host name to resolve. For a [`CHILD`], the name of the program.
    pub target: String,
    /// Host name from which the address was resolved, if that was observed. For a [`CHILD`], the
    /// host in its arguments.
    pub host: Option<String>,
    /// Outcome of the operations.
    pub outcome: NetworkOutcome,
    /// Logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// Place of the caller in the source, or its stack as one word: the same in every run of one
    /// binary.
    pub site: String,
    /// Number of these operations.
    pub count: u64,
    /// Duration of the longest operation, in milliseconds; 0 if it has not ended. It is the only
    /// part of a record that differs between runs of one spec.
    pub elapsed_ms: u64,
    /// Stack of the caller, innermost frame first, if the test failed and could still report it. If
    /// not, the place of the caller alone, where it is known.
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
    /// Returns whether the record only states how an unobservable program ended.
    pub fn is_child(&self) -> bool {
        self.operation == CHILD
    }

    /// Returns whether it is a datagram without an answer so far. It may be lost for other reasons
    /// than a missing network.
    pub fn is_unanswered(&self) -> bool {
        self.operation == SEND && !self.outcome.has_ended()
    }

    /// Returns the target machine: the host name if known, or the address without its port.
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

    /// Returns whether an equal operation succeeded in this run, on the same machine, possibly at
    /// another address.
    pub fn is_superseded(&self, run: &[NetworkRecord]) -> bool {
        run.iter().any(|other| {
            other.outcome == NetworkOutcome::Answered
                && other.operation == self.operation
                && other.machine() == self.machine()
        })
    }

    /// Returns all fields except the count, the time and the stack.
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

    /// Returns a record of one `connect`, for the tests of this folder.
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
