//! What the outcome of an operation in a failed run shows about the network.

use super::{NetworkOutcome, NetworkRecord, ROUTE};
use crate::protocol::outcome::{Failure, Outcome};

/// How a run ended, for cases in which the operation alone is not enough.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending<'a> {
    /// Whether the run was killed because it took too long.
    pub is_hang: bool,
    /// Message of the failure.
    pub message: &'a str,
}

impl<'a> Ending<'a> {
    /// Returns the end of a run with this outcome and failure.
    pub fn of(outcome: &Outcome, failure: Option<&'a Failure>) -> Self {
        Ending {
            is_hang: *outcome == Outcome::TimedOut,
            message: failure.map_or("", |failure| &failure.message),
        }
    }

    /// Returns whether the message contains this error, as std or C words it.
    fn names(self, error: &str) -> bool {
        let words = WORDS.iter().find(|(name, _)| *name == error);
        let has = |word: &str| self.message.contains(word);
        has(error) || words.is_some_and(|(_, words)| words.iter().any(|word| has(word)))
    }
}

/// The wording of the errors of a route lookup, by [`std::io::ErrorKind`] and by C.
const WORDS: &[(&str, &[&str])] = &[
    ("ENETUNREACH", &["NetworkUnreachable", "etwork is unreachable", "etwork unreachable"]),
    ("EHOSTUNREACH", &["HostUnreachable", "o route to host", "ost unreachable"]),
    ("ENETDOWN", &["NetworkDown", "etwork is down", "etwork down"]),
    (
        "EADDRNOTAVAIL",
        &["AddrNotAvailable", "annot assign requested address", "ddress not available"],
    ),
    ("EACCES", &["PermissionDenied", "ermission denied"]),
    ("EPERM", &["PermissionDenied", "peration not permitted"]),
];

/// What the outcome of an operation shows about the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The network was not available.
    Absent,
    /// The network was not available, if this whole machine is offline. If it is online, the
    /// outcome is an answer.
    AbsentIfOffline,
    /// An unobservable program failed, likely for lack of a network, if this machine really is
    /// offline. Whether the run blocks the network does not matter, because such a program is not
    /// blocked.
    AbsentIfMachineOffline,
    /// The outcome shows nothing about the network.
    Other,
}

impl NetworkOutcome {
    fn meaning(&self, ending: Ending<'_>) -> Meaning {
        let error = match self {
            NetworkOutcome::Answered | NetworkOutcome::Unawaited => return Meaning::Other,
            // A thread that merely listens may be waiting during any other failure.
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

impl NetworkRecord {
    /// Returns what the record shows about the network in a failed run with this ending.
    pub fn meaning(&self, ending: Ending<'_>) -> Meaning {
        match &self.outcome {
            NetworkOutcome::Failed(_) | NetworkOutcome::Pending if self.is_child() => {
                Meaning::AbsentIfMachineOffline
            }
            // Nothing was sent yet. Many programs only look up their own address, and continue
            // without one.
            NetworkOutcome::Failed(error) if self.operation == ROUTE && !ending.names(error) => {
                Meaning::Other
            }
            outcome => outcome.meaning(ending),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::network::SEND;
    use crate::protocol::network::tests::record;

    #[test]
    fn a_datagram_explains_a_failure_only_if_an_answer_was_waited_for_in_vain() {
        use NetworkOutcome::{Answered, Awaited, Pending, Unawaited};
        let datagram = |outcome| NetworkRecord {
            operation: SEND.to_owned(),
            ..record("192.0.2.1:53", outcome)
        };
        let hang = Ending { is_hang: true, message: "" };
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
        let meaning =
            |error: &str, message: &str| route(error).meaning(Ending { is_hang: false, message });
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
}
