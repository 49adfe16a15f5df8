//! What the runtime sees of the network: operations on other machines, and how they ended.
//!
//! Local targets (the loopback, unix sockets) are not recorded, except when the loopback itself does not work. An
//! operation is recorded when it begins and again when its end is known, so that one which never ends is known too.

pub mod fault;
pub mod target;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::context;
use crate::fork_lock::ForkLock;
use crate::json;
use crate::record::{Event, Failure, Frame, Outcome};
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
    /// Not before the run did: it was waiting for an answer. Of a datagram: who asked for an answer was told that there is none
    /// yet.
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

/// The operation of a program that cannot be observed and was told of another machine in its arguments. It ends as the
/// program does: with `exit status N` or `signal N`, or answered when it succeeded.
pub const CHILD: &str = "child";

/// The operation of all functions that send.
pub const SEND: &str = "send";

/// The operation of connecting a socket of datagrams. Nothing is sent: it only looks for a route.
pub const ROUTE: &str = "connect (datagram)";

/// How a run ended: what is asked of it when an operation alone does not say enough.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending<'a> {
    /// Whether it ended by itself, and was not killed because it took too long.
    pub is_hang: bool,
    /// The message of its failure.
    pub message: &'a str,
}

impl<'a> Ending<'a> {
    /// How a run with this outcome and failure ended.
    #[must_use]
    pub fn of(outcome: &Outcome, failure: Option<&'a Failure>) -> Self {
        Ending {
            is_hang: *outcome == Outcome::TimedOut,
            message: failure.map_or("", |failure| &failure.message),
        }
    }

    /// Whether the message has this error in it, in words that std or C have for it.
    fn says(self, error: &str) -> bool {
        let words = WORDS.iter().find(|(name, _)| *name == error);
        let has = |word: &str| self.message.contains(word);
        has(error) || words.is_some_and(|(_, words)| words.iter().any(|word| has(word)))
    }
}

/// How the errors that a search for a route ends with are put into words, by [`std::io::ErrorKind`] and by C.
const WORDS: &[(&str, &[&str])] = &[
    (
        "ENETUNREACH",
        &[
            "NetworkUnreachable",
            "etwork is unreachable",
            "etwork unreachable",
        ],
    ),
    (
        "EHOSTUNREACH",
        &["HostUnreachable", "o route to host", "ost unreachable"],
    ),
    (
        "ENETDOWN",
        &["NetworkDown", "etwork is down", "etwork down"],
    ),
    (
        "EADDRNOTAVAIL",
        &[
            "AddrNotAvailable",
            "annot assign requested address",
            "ddress not available",
        ],
    ),
    ("EACCES", &["PermissionDenied", "ermission denied"]),
    ("EPERM", &["PermissionDenied", "peration not permitted"]),
];

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
            NetworkOutcome::Pending | NetworkOutcome::Awaited => "no answer",
            NetworkOutcome::Unawaited => "no answer was waited for",
            NetworkOutcome::Answered => "answered",
        }
    }

    /// Whether the operation has ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self, NetworkOutcome::Failed(_) | NetworkOutcome::Answered)
    }

    /// How much is known: what one process knows of an operation does not make another one's knowledge undone.
    const fn rank(&self) -> u8 {
        match self {
            NetworkOutcome::Unawaited => 0,
            NetworkOutcome::Awaited => 1,
            NetworkOutcome::Pending => 2,
            NetworkOutcome::Failed(_) | NetworkOutcome::Answered => 3,
        }
    }

    fn meaning(&self, ending: Ending<'_>) -> Meaning {
        let error = match self {
            NetworkOutcome::Answered | NetworkOutcome::Unawaited => return Meaning::Other,
            // A thread that only listens may wait beside any other failure.
            NetworkOutcome::Awaited if !ending.is_hang => return Meaning::Other,
            NetworkOutcome::Pending | NetworkOutcome::Awaited => return Meaning::Absent,
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
    /// The function of libc, [`SEND`] for every one that sends, [`ROUTE`], or [`CHILD`].
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

    /// Whether it is a datagram that has no answer yet: it may be lost for another reason than that the network is not there.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        self.operation == SEND && !self.outcome.has_ended()
    }

    /// What it says about the network, in a run that failed and ended so.
    #[must_use]
    pub fn meaning(&self, ending: Ending<'_>) -> Meaning {
        match &self.outcome {
            NetworkOutcome::Failed(_) | NetworkOutcome::Pending if self.is_child() => {
                Meaning::AbsentIfMachineOffline
            }
            // Nothing was to be sent yet: many a program that only asks for its own address goes on without one.
            NetworkOutcome::Failed(error) if self.operation == ROUTE && !ending.says(error) => {
                Meaning::Other
            }
            outcome => outcome.meaning(ending),
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

/// What a run's record says of an operation, or of a socket.
#[derive(Clone, Debug)]
pub enum Seen {
    /// What was known at some time of the operation with this number, and of which socket it is.
    Operation(u64, Option<u64>, NetworkRecord),
    /// Something was received through this socket, by a process that knows of no operation on it.
    Received(u64),
}

/// Adds up what is alike, in a fixed order. Of the same operation the last counts, unless it knows less than one before:
/// several processes may have one socket, and one of them receives the answer.
#[must_use]
pub fn fold(events: impl IntoIterator<Item = Seen>) -> Vec<NetworkRecord> {
    let mut last: BTreeMap<u64, (Option<u64>, NetworkRecord)> = BTreeMap::new();
    let mut received = BTreeSet::new();
    for event in events {
        match event {
            Seen::Operation(id, socket, record) => match last.entry(id) {
                Entry::Vacant(entry) => {
                    entry.insert((socket, record));
                }
                Entry::Occupied(mut entry) => {
                    let (known_socket, known) = entry.get_mut();
                    *known_socket = known_socket.or(socket);
                    if known.outcome.rank() > record.outcome.rank() {
                        known.stack = record.stack;
                    } else {
                        *known = record;
                    }
                }
            },
            Seen::Received(socket) => {
                received.insert(socket);
            }
        }
    }
    for (socket, record) in last.values_mut() {
        if socket.is_some_and(|socket| received.contains(&socket)) && !record.outcome.has_ended() {
            record.outcome = NetworkOutcome::Answered;
        }
    }
    let mut records: Vec<NetworkRecord> = last.into_values().map(|(_, record)| record).collect();
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
#[derive(Clone, Debug)]
pub struct Operation {
    id: u64,
    begun: Instant,
    socket: Option<u64>,
    /// What is known of it. Not ended until [`Operation::end`].
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
    begin_as(
        NetworkOutcome::Pending,
        None,
        operation,
        target,
        host,
        caller,
    )
}

/// Records that a datagram is sent, through the socket with this number where it has one; as [`begin`] otherwise.
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
    record.thread = context::record_network(|test, thread| Event::Network {
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

/// Records that something was received through a socket on which this process knows of no operation, but another may.
pub fn received(socket: u64) {
    let _ = context::record_network(|test, _| Event::Received { test, socket });
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
    /// [waits](NetworkOutcome::Awaited) for an answer, or has done so [in vain](NetworkOutcome::Pending). Whether that was not
    /// known.
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
        let _ = context::record_network(event);
    }
}

/// The stacks of operations, kept unread until a test fails: reading them takes long.
#[derive(Debug)]
pub(crate) struct Stacks(ForkLock<Vec<(u64, NetworkRecord, Stack)>>);

impl Default for Stacks {
    fn default() -> Self {
        Stacks(ForkLock::new(Vec::new))
    }
}

/// How many stacks are kept.
const MAX_STACKS: usize = 16;

impl Stacks {
    /// Keeps the stack of an operation, or what became of it.
    pub(crate) fn note(&self, event: &Event) {
        let Event::Network { id, network, .. } = event else {
            return;
        };
        let network = network.clone();
        let is_wanted = self.0.lock().is_some_and(|mut kept| {
            if let Some(known) = kept.iter_mut().find(|(known, ..)| known == id) {
                known.1 = network.clone();
                return false;
            }
            kept.len() < MAX_STACKS && kept.iter().all(|(_, r, _)| r.site != network.site)
        });
        if is_wanted {
            let stack = Stack::capture();
            if let Some(mut kept) = self.0.lock() {
                kept.push((*id, network, stack));
            }
        }
    }

    /// Forgets all. When the test `failed`, the operations that did not succeed, with their stacks.
    pub(crate) fn read(&self, failed: bool) -> Vec<(u64, NetworkRecord)> {
        let kept = self.0.lock().map(|mut kept| std::mem::take(&mut *kept));
        kept.unwrap_or_default()
            .into_iter()
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

    fn seen(id: u64, record: NetworkRecord) -> Seen {
        Seen::Operation(id, None, record)
    }

    #[test]
    fn what_another_process_learnt_of_an_operation_is_not_undone_by_one_that_knows_less() {
        let target = "192.0.2.1:53";
        let known = |outcome| seen(1, record(target, outcome));
        let stack = NetworkRecord {
            stack: vec![frame(3)],
            ..record(target, NetworkOutcome::Unawaited)
        };
        for outcome in [NetworkOutcome::Answered, NetworkOutcome::Pending] {
            let folded = fold([
                known(NetworkOutcome::Unawaited),
                known(outcome.clone()),
                known(NetworkOutcome::Awaited),
                seen(1, stack.clone()),
            ]);
            let expected = NetworkRecord {
                outcome,
                ..stack.clone()
            };
            assert_eq!(folded, [expected]);
        }
    }

    #[test]
    fn what_is_received_by_a_process_that_sent_nothing_answers_what_another_sent_through_the_socket()
     {
        let on = |id, socket, outcome| {
            Seen::Operation(id, Some(socket), record("192.0.2.1:53", outcome))
        };
        let outcomes = |events: Vec<Seen>| -> Vec<NetworkOutcome> {
            fold(events)
                .into_iter()
                .map(|record| record.outcome)
                .collect()
        };
        use NetworkOutcome::{Answered, Pending};
        assert_eq!(
            outcomes(vec![on(1, 7, Pending), Seen::Received(7)]),
            [Answered]
        );
        assert_eq!(
            outcomes(vec![on(1, 7, Pending), Seen::Received(8)]),
            [Pending]
        );
        let refused = NetworkOutcome::Failed("ECONNREFUSED".to_owned());
        assert_eq!(
            outcomes(vec![on(1, 7, refused.clone()), Seen::Received(7)]),
            [refused]
        );
    }

    #[test]
    fn a_datagram_explains_a_failure_only_if_an_answer_was_waited_for_in_vain() {
        use NetworkOutcome::{Answered, Awaited, Pending, Unawaited};
        let datagram = |outcome| NetworkRecord {
            operation: SEND.to_owned(),
            ..record("192.0.2.1:53", outcome)
        };
        let hang = Ending {
            is_hang: true,
            message: "",
        };
        for (outcome, otherwise, in_a_hang) in [
            (Unawaited, Meaning::Other, Meaning::Other),
            (Awaited, Meaning::Other, Meaning::Absent),
            (Pending, Meaning::Absent, Meaning::Absent),
            (Answered, Meaning::Other, Meaning::Other),
        ] {
            let record = datagram(outcome);
            assert_eq!(record.meaning(Ending::default()), otherwise, "{record:?}");
            assert_eq!(record.meaning(hang), in_a_hang, "{record:?}");
        }
    }

    #[test]
    fn a_route_that_was_not_found_explains_only_a_failure_that_says_so() {
        let route = |error: &str| NetworkRecord {
            operation: ROUTE.to_owned(),
            ..record("192.0.2.1:53", NetworkOutcome::Failed(error.to_owned()))
        };
        let meaning = |error: &str, message: &str| {
            route(error).meaning(Ending {
                is_hang: false,
                message,
            })
        };
        for (error, code) in [
            ("ENETUNREACH", 101),
            ("EHOSTUNREACH", 113),
            ("EADDRNOTAVAIL", 99),
            ("ENETDOWN", 100),
            ("EACCES", 13),
            ("EPERM", 1),
        ] {
            #[cfg(target_os = "linux")]
            {
                let found = std::io::Error::from_raw_os_error(code);
                for text in [format!("failed: {found}"), format!("{found:?}")] {
                    assert_eq!(meaning(error, &text), Meaning::Absent, "{text}");
                }
                let kind = format!("{:?} {}", found.kind(), found.kind());
                assert_eq!(meaning(error, &kind), Meaning::Absent, "{kind}");
            }
            #[cfg(not(target_os = "linux"))]
            let _ = code;
            assert_eq!(meaning(error, error), Meaning::Absent);
            assert_eq!(meaning(error, "left: 2, right: 3"), Meaning::Other);
        }
    }

    #[test]
    fn the_last_event_of_an_operation_counts_and_alike_ones_are_added_up() {
        let failed = || NetworkOutcome::Failed("ENETUNREACH".to_owned());
        let folded = fold([
            seen(1, record("192.0.2.1:80", NetworkOutcome::Pending)),
            seen(2, record("192.0.2.1:80", NetworkOutcome::Pending)),
            seen(3, record("192.0.2.2:80", NetworkOutcome::Pending)),
            seen(2, record("192.0.2.1:80", failed())),
            seen(1, record("192.0.2.1:80", failed())),
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
        let folded = fold([
            seen(1, failed(&[3])),
            seen(2, failed(&[3, 9])),
            seen(3, failed(&[])),
        ]);
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
