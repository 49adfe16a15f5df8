//! What the runtime sees of the network: operations on other machines, and how they ended.
//!
//! Local targets (the loopback, unix sockets) are not recorded, except when the loopback itself does not work. An
//! operation is recorded when it begins and again when its end is known, so that one which never ends is known too.

pub mod fault;
pub mod target;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::context;
use crate::json;
use crate::record::{Event, Frame};
use crate::site::{Caller, portable_path};
use crate::spec::RunSpec;
use crate::stack::Stack;

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

json::words!(NetworkMode);

impl NetworkMode {
    /// Every mode.
    pub const ALL: [NetworkMode; 4] = [
        NetworkMode::Off,
        NetworkMode::Observe,
        NetworkMode::Block,
        NetworkMode::Fault,
    ];

    /// The name on the command line and in a spec.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            NetworkMode::Off => "off",
            NetworkMode::Observe => "observe",
            NetworkMode::Block => "block",
            NetworkMode::Fault => "fault",
        }
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetworkOutcome {
    /// With this error: the name of an `errno` or of an `EAI_` code.
    Failed(String),
    /// Not before the run did: it was waiting for an answer.
    Pending,
    /// It succeeded.
    Answered,
}

json::variants!(NetworkOutcome {
    Failed(error) = "failed",
    Pending = "pending",
    Answered = "answered",
});

/// The operation of a program that cannot be observed and was told of another machine in its arguments. It ends as the
/// program does: with `exit status N` or `signal N`, or answered when it succeeded.
pub const CHILD: &str = "child";

/// What the end of an operation says about the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The network was not there.
    Absent,
    /// The network was not there, if this machine is offline as a whole; else it is an answer.
    AbsentIfOffline,
    /// A program that cannot be observed did not succeed: likely for want of the network, if this machine really is offline.
    /// That the run blocks the network does not matter, as such a program is not blocked.
    AbsentIfMachineOffline,
    /// Something else.
    Other,
}

impl NetworkOutcome {
    /// The name of the error, or what is said in place of one.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            NetworkOutcome::Failed(error) => error,
            NetworkOutcome::Pending => "no answer",
            NetworkOutcome::Answered => "answered",
        }
    }

    fn meaning(&self) -> Meaning {
        let error = match self {
            NetworkOutcome::Answered => return Meaning::Other,
            NetworkOutcome::Pending => return Meaning::Absent,
            NetworkOutcome::Failed(error) => error.as_str(),
        };
        match error {
            "EAI_AGAIN" | "EAI_FAIL" | "EAI_SYSTEM" => Meaning::Absent,
            "EAI_NONAME" | "EAI_NODATA" => Meaning::AbsentIfOffline,
            "ENETUNREACH" | "EHOSTUNREACH" | "ENETDOWN" | "ETIMEDOUT" | "EADDRNOTAVAIL"
            | "EACCES" | "EPERM" => Meaning::Absent,
            "ECONNREFUSED" | "ECONNRESET" => Meaning::AbsentIfOffline,
            _ => Meaning::Other,
        }
    }
}

/// Operations on other machines that are alike in all that is known of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetworkRecord {
    /// The function of libc, `send` for every one that sends, or [`CHILD`].
    pub operation: String,
    /// The address with its port, or the host name that was to be resolved. Of a [`CHILD`] the name of the program.
    pub target: String,
    /// The host name that the address was resolved from, when that was seen. Of a [`CHILD`] the host that it was told of.
    pub host: Option<String>,
    /// How it ended.
    pub outcome: NetworkOutcome,
    /// The logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// The caller's place in the source, or its stack as one word: the same for the same binary on every run.
    pub site: String,
    /// How many there were.
    pub count: u64,
    /// How long the longest of them took, in milliseconds; 0 while it has not ended. The only thing in a record that differs between
    /// runs of one spec.
    pub elapsed_ms: u64,
    /// The caller's stack, innermost frame first, when the test failed and could still say so; else its place alone, where
    /// that is known.
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
    #[must_use]
    pub fn is_child(&self) -> bool {
        self.operation == CHILD
    }

    /// What it says about the network.
    #[must_use]
    pub fn meaning(&self) -> Meaning {
        match self.outcome {
            NetworkOutcome::Failed(_) | NetworkOutcome::Pending if self.is_child() => {
                Meaning::AbsentIfMachineOffline
            }
            _ => self.outcome.meaning(),
        }
    }

    /// The machine it was about: the host name where known, else the address without its port.
    #[must_use]
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

    /// Whether the same was tried again in this run, or at another address of the same host, and succeeded.
    #[must_use]
    pub fn is_superseded(&self, run: &[NetworkRecord]) -> bool {
        run.iter().any(|other| {
            other.outcome == NetworkOutcome::Answered
                && other.operation == self.operation
                && other.machine() == self.machine()
        })
    }

    /// Everything but the count, the time and the stack.
    fn identity(&self) -> (&str, &str, Option<&str>, &NetworkOutcome, &str, &str) {
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

/// Adds up what is alike, in a fixed order. Of the same `id` the last one counts.
#[must_use]
pub fn fold(events: impl IntoIterator<Item = (u64, NetworkRecord)>) -> Vec<NetworkRecord> {
    let mut last = std::collections::BTreeMap::new();
    for (id, event) in events {
        last.insert(id, event);
    }
    let mut records: Vec<NetworkRecord> = last.into_values().collect();
    records.sort_by(|a, b| {
        a.identity()
            .cmp(&b.identity())
            .then_with(|| b.stack.len().cmp(&a.stack.len()))
    });
    records.dedup_by(|next, kept| {
        let alike = next.identity() == kept.identity();
        if alike {
            kept.count += next.count;
            kept.elapsed_ms = kept.elapsed_ms.max(next.elapsed_ms);
        }
        alike
    });
    records
}

/// What is done about the network on this thread; [`NetworkMode::Off`] outside a test and while the tool's own code
/// runs. Costs a thread-local lookup.
#[must_use]
pub fn mode() -> NetworkMode {
    context::network_spec(|spec| spec.network).unwrap_or(NetworkMode::Off)
}

/// Whether a host, by name or address, was allowed although the network is blocked.
#[must_use]
pub fn is_allowed(host: &str) -> bool {
    context::network_spec(|spec| allows(spec, host)).unwrap_or(true)
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
#[derive(Debug)]
pub struct Operation {
    id: u64,
    begun: Instant,
    /// What is known of it. [`Pending`](NetworkOutcome::Pending) until [`Operation::end`].
    pub record: NetworkRecord,
}

/// Records the begin of an operation by this thread; `None` outside a test. Costs an append to a file.
#[must_use]
pub fn begin(
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
        outcome: NetworkOutcome::Pending,
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
    record.thread = context::record_network(|test, thread| Event::Network {
        test,
        id,
        network: NetworkRecord {
            thread,
            ..record.clone()
        },
    })?;
    Some(Operation {
        id,
        begun: Instant::now(),
        record,
    })
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
        if self.record.outcome == outcome {
            return;
        }
        self.record.outcome = outcome;
        self.record.elapsed_ms =
            u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let event = |test, _| Event::Network {
            test,
            id: self.id,
            network: self.record.clone(),
        };
        let _ = context::record_network(event);
    }
}

/// The stacks of operations, kept unread until a test fails: reading them takes long.
#[derive(Debug, Default)]
pub(crate) struct Stacks(Mutex<Vec<(u64, NetworkRecord, Stack)>>);

/// How many stacks are kept.
const MAX_STACKS: usize = 16;

impl Stacks {
    /// Keeps the stack of an operation, or what became of it.
    pub(crate) fn note(&self, event: &Event) {
        let Event::Network { id, network, .. } = event else {
            return;
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter_mut().find(|(known, ..)| known == id) {
            known.1 = network.clone();
        } else if kept.len() < MAX_STACKS && kept.iter().all(|(_, r, _)| r.site != network.site) {
            kept.push((*id, network.clone(), Stack::capture()));
        }
    }

    /// Forgets all. When the test `failed`, the operations that did not succeed, with their stacks.
    pub(crate) fn read(&self, failed: bool) -> Vec<(u64, NetworkRecord)> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = std::mem::take(&mut *kept);
        kept.into_iter()
            .filter(|(_, record, _)| failed && record.outcome != NetworkOutcome::Answered)
            .map(|(id, mut record, stack)| {
                let stack = stack.frames();
                if !stack.is_empty() {
                    record.stack = stack;
                }
                (id, record)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(target: &str, outcome: NetworkOutcome) -> NetworkRecord {
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
    fn the_last_event_of_an_operation_counts_and_alike_ones_are_added_up() {
        let failed = || NetworkOutcome::Failed("ENETUNREACH".to_owned());
        let folded = fold([
            (1, record("192.0.2.1:80", NetworkOutcome::Pending)),
            (2, record("192.0.2.1:80", NetworkOutcome::Pending)),
            (3, record("192.0.2.2:80", NetworkOutcome::Pending)),
            (2, record("192.0.2.1:80", failed())),
            (1, record("192.0.2.1:80", failed())),
        ]);
        let both = NetworkRecord {
            count: 2,
            ..record("192.0.2.1:80", failed())
        };
        assert_eq!(
            folded,
            [both, record("192.0.2.2:80", NetworkOutcome::Pending)]
        );
    }

    #[test]
    fn of_alike_records_the_longest_stack_is_kept() {
        let failed = |lines: &[u32]| NetworkRecord {
            stack: lines.iter().map(|&line| frame(line)).collect(),
            ..record("192.0.2.1:80", NetworkOutcome::Pending)
        };
        let folded = fold([(1, failed(&[3])), (2, failed(&[3, 9])), (3, failed(&[]))]);
        assert_eq!(folded.len(), 1);
        assert_eq!(folded[0].stack, [frame(3), frame(9)]);
    }

    fn frame(line: u32) -> Frame {
        Frame {
            function: String::new(),
            file: "src/lib.rs".to_owned(),
            line,
        }
    }

    #[test]
    fn an_operation_by_a_caller_with_a_place_names_that_place() {
        let context = context::Context::new(RunSpec::clean("t"));
        let test = context::enter(&context, "t");
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
    fn a_machine_is_its_name_or_its_address_without_the_port() {
        for (target, machine) in [
            ("192.0.2.1:80", "192.0.2.1"),
            ("[2001:db8::1]:80", "2001:db8::1"),
            ("example.com", "example.com"),
        ] {
            assert_eq!(record(target, NetworkOutcome::Pending).machine(), machine);
        }
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
