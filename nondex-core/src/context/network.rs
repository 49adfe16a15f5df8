//! Operations on other machines by threads of a test, from their begin to their end.

pub mod target;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use super::slot;
use crate::protocol::event::Event;
use crate::protocol::network::{NetworkMode, NetworkOutcome, NetworkRecord, SEND};
use crate::protocol::site::{Caller, Frame, portable_path};
use crate::protocol::spec::RunSpec;

/// What is done about the network on this thread; [`NetworkMode::Off`] outside a test and while the
/// tool's own code runs. Costs a thread-local lookup.
#[must_use]
pub fn mode() -> NetworkMode {
    slot::spec(|spec| spec.network).unwrap_or(NetworkMode::Off)
}

/// Whether a host, by name or address, was allowed although the network is blocked.
#[must_use]
pub fn is_allowed(host: &str) -> bool {
    slot::spec(|spec| allows(spec, host)).unwrap_or(true)
}

fn allows(spec: &RunSpec, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    spec.network_allow.iter().any(|allowed| {
        let (name, subdomains) = match allowed.strip_prefix("*.") {
            Some(domain) => (domain, true),
            None => (allowed.as_str(), false),
        };
        let rest = host.len().checked_sub(name.len());
        let Some((prefix, end)) = rest.and_then(|at| host.split_at_checked(at)) else {
            return false;
        };
        end.eq_ignore_ascii_case(name) && (prefix.is_empty() || subdomains && prefix.ends_with('.'))
    })
}

/// An operation that was begun: what is recorded again when its end is known.
#[derive(Clone, Debug)]
pub struct Operation {
    id: u64,
    begun: Instant,
    socket: Option<u64>,
    /// What is known of it. Not ended until [`Operation::end`].
    pub record: NetworkRecord,
}

/// Records the begin of an operation by this thread; `None` outside a test. Costs an append to a
/// file.
#[must_use]
pub fn begin(
    operation: &str,
    target: String,
    host: Option<String>,
    caller: Caller,
) -> Option<Operation> {
    begin_as(
        NetworkOutcome::Pending,
        None,
        operation,
        target,
        host,
        caller,
    )
}

/// Records that a datagram is sent, through the socket with this number where it has one; as
/// [`begin`] otherwise.
#[must_use]
pub fn begin_datagram(
    socket: Option<u64>,
    target: String,
    host: Option<String>,
    caller: Caller,
) -> Option<Operation> {
    begin_as(
        NetworkOutcome::Unawaited,
        socket,
        SEND,
        target,
        host,
        caller,
    )
}

fn begin_as(
    outcome: NetworkOutcome,
    socket: Option<u64>,
    operation: &str,
    target: String,
    host: Option<String>,
    caller: Caller,
) -> Option<Operation> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let id = u64::from(std::process::id()) << 32 | u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
    let mut record = NetworkRecord {
        operation: operation.to_owned(),
        target,
        host,
        outcome,
        thread: String::new(),
        site: caller.file.to_owned(),
        count: 1,
        elapsed_ms: 0,
        stack: Vec::new(),
    };
    if let Some(place) = place(caller) {
        record.site = format!("{}:{}:{}", place.file, place.line, caller.column);
        record.stack.push(place);
    }
    let begun = Instant::now();
    record.thread = slot::record_network(|test, thread| Event::Network {
        test,
        id,
        socket,
        network: NetworkRecord {
            thread,
            ..record.clone()
        },
    })?;
    Some(Operation {
        id,
        begun,
        socket,
        record,
    })
}

/// Records that something was received through a socket on which this process knows of no
/// operation, but another may.
pub fn received(socket: u64) {
    let _ = slot::record_network(|test, _| Event::Received { test, socket });
}

/// The place of a caller in the source; a caller that is known by its stack has none.
fn place(caller: Caller) -> Option<Frame> {
    (caller.line > 0).then(|| Frame {
        function: String::new(),
        file: portable_path(caller.file).to_owned(),
        line: caller.line,
    })
}

impl Operation {
    /// Records the end, unless it is recorded already.
    pub fn end(&mut self, outcome: NetworkOutcome) {
        if self.learn(outcome) {
            self.write();
        }
    }

    /// Notes what became of it, without recording that yet: its end, or of a datagram that somebody
    /// [waits](NetworkOutcome::Awaited) for an answer, or has done so [in
    /// vain](NetworkOutcome::Pending). Whether that was not known.
    pub fn learn(&mut self, outcome: NetworkOutcome) -> bool {
        let is_new = outcome.rank() > self.record.outcome.rank();
        if is_new {
            if outcome.has_ended() {
                let elapsed = self.begun.elapsed().as_millis();
                self.record.elapsed_ms = u64::try_from(elapsed).unwrap_or(u64::MAX);
            }
            self.record.outcome = outcome;
        }
        is_new
    }

    /// Records what is known of it.
    pub fn write(&self) {
        let event = |test, _| Event::Network {
            test,
            id: self.id,
            socket: self.socket,
            network: self.record.clone(),
        };
        let _ = slot::record_network(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Context, enter};

    fn frame(line: u32) -> Frame {
        Frame {
            function: String::new(),
            file: "src/lib.rs".to_owned(),
            line,
        }
    }

    #[test]
    fn an_operation_by_a_caller_with_a_place_names_that_place() {
        let context = Context::new(RunSpec::clean("t"));
        let test = enter(&context, "t");
        let caller = |file, line| Caller {
            file,
            line,
            column: 9,
        };
        for caller in [caller("src/lib.rs", 3), caller("stack:1", 0)] {
            assert!(begin("connect", "192.0.2.1:80".to_owned(), None, caller).is_some());
        }
        drop(test);
        let found = context.network_of("t");
        let sites: Vec<_> = found.iter().map(|r| (r.site.as_str(), &*r.stack)).collect();
        assert_eq!(
            sites,
            [("src/lib.rs:3:9", &[frame(3)][..]), ("stack:1", &[])]
        );
    }

    #[test]
    fn only_hosts_on_the_list_are_allowed() {
        let spec = RunSpec {
            network_allow: vec!["example.org".to_owned(), "*.example.com".to_owned()],
            ..RunSpec::clean("t")
        };
        for (host, allowed) in [
            ("example.org", true),
            ("EXAMPLE.ORG.", true),
            ("static.example.org", false),
            ("notexample.org", false),
            ("example.com", true),
            ("a.b.example.com", true),
            ("badexample.com", false),
            ("", false),
        ] {
            assert_eq!(allows(&spec, host), allowed, "{host}");
        }
    }
}
