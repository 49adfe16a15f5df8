//! Whether a failed run is explained by the network's absence: a pure function of records and the [`Canary`]'s answer.
//!
//! What counts is the target and the error, never the message. The runtime records operations on other machines only, so
//! that the loopback is out of it already, unless it is down.

use nondex_core::{NetworkOutcome, NetworkRecord};

use super::Canary;

/// What an error says about the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The network was not there.
    Absent,
    /// The network was not there, if this machine is offline as a whole; else it is an answer.
    AbsentIfOffline,
    /// Something else.
    Other,
}

/// The operations of a failed run that explain its failure; none when the network is not to blame. `passing` are the
/// operations of every run of the test that passed.
#[must_use]
pub fn reason<'a>(
    failing: &'a [NetworkRecord],
    passing: &[&[NetworkRecord]],
    canary: &Canary,
) -> Vec<&'a NetworkRecord> {
    let counts = |record: &&NetworkRecord| {
        !is_superseded(record, failing)
            && !passing.iter().any(|passed| is_met_by(record, passed))
            && match meaning(record) {
                Meaning::Absent => true,
                Meaning::AbsentIfOffline => canary.is_offline(),
                Meaning::Other => false,
            }
    };
    failing.iter().filter(counts).collect()
}

fn meaning(record: &NetworkRecord) -> Meaning {
    let error = match &record.outcome {
        NetworkOutcome::Answered => return Meaning::Other,
        NetworkOutcome::Pending => return Meaning::Absent,
        NetworkOutcome::Failed(error) => error.as_str(),
    };
    match error {
        "EAI_AGAIN" | "EAI_FAIL" | "EAI_SYSTEM" => Meaning::Absent,
        "EAI_NONAME" | "EAI_NODATA" => Meaning::AbsentIfOffline,
        "ENETUNREACH" | "EHOSTUNREACH" | "ENETDOWN" | "ETIMEDOUT" | "EADDRNOTAVAIL" | "EACCES"
        | "EPERM" => Meaning::Absent,
        "ECONNREFUSED" | "ECONNRESET" => Meaning::AbsentIfOffline,
        _ => Meaning::Other,
    }
}

/// Whether the same was tried again, or at another address of the same host, and succeeded.
fn is_superseded(record: &NetworkRecord, run: &[NetworkRecord]) -> bool {
    run.iter().any(|other| {
        other.outcome == NetworkOutcome::Answered
            && other.operation == record.operation
            && other.machine() == record.machine()
    })
}

/// Whether a run that passed met the same error, and did not reach the machine otherwise, at another of its addresses.
fn is_met_by(record: &NetworkRecord, passed: &[NetworkRecord]) -> bool {
    passed.iter().any(|other| {
        other.outcome == record.outcome
            && other.operation == record.operation
            && other.machine() == record.machine()
            && !is_superseded(other, passed)
    })
}

#[cfg(test)]
mod tests;
