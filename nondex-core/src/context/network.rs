//! Network operations of a test's threads, from start to end.

pub mod target;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

pub use super::attempt::{End, NetworkOperation};
use super::slot;
use super::stack::Stack;
use crate::hidden::Text;
use crate::process_number;
use crate::protocol::network::{NetworkMode, SEND};
use crate::protocol::site::Caller;
use crate::protocol::spec::RunSpec;

/// Returns the network mode of this thread. That is [`NetworkMode::Off`] outside a test and while
/// code of this tool runs. Costs a thread-local lookup.
pub fn mode() -> NetworkMode {
    slot::spec(|spec| spec.network.mode()).unwrap_or(NetworkMode::Off)
}

/// Returns whether a host, by name or address, is allowed although the network is blocked.
pub fn is_allowed(host: &str) -> bool {
    slot::spec(|spec| allows(spec, host)).unwrap_or(true)
}

fn allows(spec: &RunSpec, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    spec.network.allowed().iter().any(|allowed| {
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

/// Records the start of an operation by this thread. Returns `None` outside a test.
pub fn begin(
    name: &'static str,
    target: Text,
    host: Option<Text>,
    caller: Caller,
) -> Option<NetworkOperation> {
    begin_as(End::Pending, None, name, target, host, caller)
}

/// Records that a datagram is sent, as [`begin`] does for other operations. `socket` is the number
/// of its socket, if it has one.
pub fn begin_datagram(
    socket: Option<u64>,
    target: Text,
    host: Option<Text>,
    caller: Caller,
) -> Option<NetworkOperation> {
    begin_as(End::Unawaited, socket, SEND, target, host, caller)
}

fn begin_as(
    end: End,
    socket: Option<u64>,
    name: &'static str,
    target: Text,
    host: Option<Text>,
    caller: Caller,
) -> Option<NetworkOperation> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let ordinal = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = u64::from(process_number::of_system()) << 32 | u64::from(ordinal);
    let operation = NetworkOperation {
        id,
        begun: Instant::now(),
        socket,
        name,
        target,
        host,
        end,
        thread: slot::path()?,
        caller,
        elapsed_ms: 0,
    };
    operation.write();
    Some(operation)
}

/// Records that data arrived through a socket on which this process started no operation, although
/// another process may have.
pub fn received(socket: u64) {
    slot::record("received", |_, event| {
        event.number("socket", socket);
    });
}

impl NetworkOperation {
    /// Records the end of the operation, unless it is recorded already.
    pub fn end(&mut self, end: End) {
        if self.learn(end) {
            self.write();
        }
    }

    /// Records the current state of the operation.
    pub fn write(&self) {
        slot::keep_stack(self);
        slot::record("network", |_, event| self.fields(&Stack::default(), event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Context, enter};
    use crate::protocol::network::Network;
    use crate::{Frame, NetworkOutcome};

    fn frame(line: u32) -> Frame {
        Frame { function: String::new(), file: "src/lib.rs".to_owned(), line }
    }

    #[test]
    fn an_operation_by_a_caller_with_a_place_names_that_place() {
        let context = Context::new(RunSpec::clean("t"));
        let test = enter(&context, "t");
        let caller = |file, line| Caller { file, line, column: 9 };
        for caller in [caller("src/lib.rs", 3), caller("stack:1", 0)] {
            assert!(begin("connect", Text::from("192.0.2.1:80"), None, caller).is_some());
        }
        drop(test);
        let found = context.network_of("t");
        let sites: Vec<_> = found.iter().map(|r| (r.site.as_str(), &*r.stack)).collect();
        assert_eq!(sites, [("src/lib.rs:3:9", &[frame(3)][..]), ("stack:1", &[])]);
    }

    #[test]
    fn what_is_recorded_of_an_operation_is_what_became_of_it() {
        let context = Context::new(RunSpec::clean("t"));
        let caller = Caller { file: "stack:1", line: 0, column: 0 };
        for (end, outcome) in [
            (End::Awaited, NetworkOutcome::Awaited),
            (End::Pending, NetworkOutcome::Pending),
            (End::Answered, NetworkOutcome::Answered),
            (End::Failed(Text::from("E\"")), NetworkOutcome::Failed("E\"".to_owned())),
        ] {
            let test = enter(&context, "t");
            let host = Some(Text::from("example.com"));
            let target = Text::from("192.0.2.1:80");
            let mut operation = begin_datagram(Some(7), target, host, caller).unwrap();
            operation.end(end);
            drop(test);
            let found = context.network_of("t");
            let _ = context.take_events();
            let [found] = &found[..] else {
                panic!("{found:?}");
            };
            assert_eq!(found.outcome, outcome);
            assert_eq!((&*found.operation, &*found.target), (SEND, "192.0.2.1:80"));
            assert_eq!(found.host.as_deref(), Some("example.com"));
        }
    }

    #[test]
    fn only_hosts_on_the_list_are_allowed() {
        let spec = RunSpec {
            network: Network::Block(vec!["example.org".to_owned(), "*.example.com".to_owned()]),
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
