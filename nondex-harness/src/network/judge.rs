//! Whether a failed run is explained by the network's absence: a pure function of records and the [`Canary`]'s answer.
//!
//! What counts is the target and the error. The message counts for one thing only: whether a route that was not found, for
//! which nothing is sent, is what the failure speaks of. The runtime records operations on other machines only, so that the
//! loopback is out of it already, unless it is down.

use nondex_core::NetworkRecord;
use nondex_core::protocol::network::meaning::{Ending, Meaning};

use super::Canary;

/// The operations of a failed run, which ended so, that explain its failure; none when the network is not to blame. `passing`
/// are the operations of every run of the test that passed.
#[must_use]
pub fn reason<'a>(
    failing: &'a [NetworkRecord],
    ending: Ending<'_>,
    passing: &[&[NetworkRecord]],
    canary: &Canary,
) -> Vec<&'a NetworkRecord> {
    let counts = |record: &&NetworkRecord| {
        !record.is_superseded(failing)
            && !passing.iter().any(|passed| is_met_by(record, passed))
            && match record.meaning(ending) {
                Meaning::Absent => true,
                Meaning::AbsentIfOffline => canary.is_offline(),
                Meaning::AbsentIfMachineOffline => canary.is_machine_offline(),
                Meaning::Other => false,
            }
    };
    failing.iter().filter(counts).collect()
}

/// Whether a run that passed met the same error, and did not reach the machine otherwise, at another of its addresses.
fn is_met_by(record: &NetworkRecord, passed: &[NetworkRecord]) -> bool {
    passed.iter().any(|other| {
        other.outcome == record.outcome
            && other.operation == record.operation
            && other.machine() == record.machine()
            && !other.is_superseded(passed)
    })
}

#[cfg(test)]
mod tests;
