//! The network: whether a failed run is explained by its absence, a pure function of records and
//! the [`Canary`]'s answer.
//!
//! What counts is the target and the error. The message counts for one thing only: whether a route
//! that was not found, for which nothing is sent, is what the failure speaks of. The runtime
//! records operations on other machines only, so that the loopback is out of it already, unless it
//! is down.

use std::collections::BTreeSet;

use nondex_core::protocol::network::meaning::{Ending, Meaning};
use nondex_core::{NetworkOutcome, NetworkRecord};

use super::{Canary, FailedOperation, Policy, Prerequisite, add};
use crate::evidence::Evidence;
use crate::run::Run;

/// The network as a prerequisite.
#[derive(Clone, Copy, Debug)]
pub struct Network<'a> {
    canary: &'a Canary,
}

impl<'a> Network<'a> {
    /// The name.
    pub const NAME: &'static str = "network";
    /// The reason.
    pub const REASON: &'static str = "there is no network";

    /// The network of runs with this policy.
    pub fn new(policy: &'a Policy) -> Self {
        Network { canary: &policy.canary }
    }
}

impl Prerequisite for Network<'_> {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn reason(&self) -> &str {
        Self::REASON
    }

    fn explain(&self, failed: &Run, passing: &[&Run]) -> Vec<FailedOperation> {
        let passing: Vec<&[NetworkRecord]> = passing.iter().map(|run| &*run.network).collect();
        let reasons = reason(&failed.network, failed.ending(), &passing, self.canary);
        reasons.into_iter().map(operation).collect()
    }
}

/// What the runs of a test show of the network, whether it explains all their failures or not.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The operations that explain failures, each once, in a fixed order.
    pub operations: Vec<FailedOperation>,
    /// The machines that the test asked for, by name or address, whether it reached them or not.
    pub hosts: BTreeSet<String>,
    /// Whether a run passed although an operation on another machine failed.
    pub is_ignored: bool,
}

/// What the runs of a test show of the network.
pub fn seen(evidence: &Evidence, policy: &Policy) -> Seen {
    let runs = || evidence.all().map(|(_, run)| run);
    let passing: Vec<&Run> = runs().filter(|run| run.passed()).collect();
    let mut passed = passing.iter().flat_map(|run| &*run.network);
    let mut seen = Seen { is_ignored: passed.any(has_failed), ..Seen::default() };
    let network = Network::new(policy);
    for run in runs() {
        let hosts = run.network.iter().map(NetworkRecord::machine);
        seen.hosts.extend(hosts.map(str::to_owned));
        if !run.passed() {
            for operation in network.explain(run, &passing) {
                add(&mut seen.operations, operation);
            }
        }
    }
    seen.operations.sort();
    seen
}

/// Whether an operation failed on another machine: what is only known of a program is that it
/// failed, and of a datagram that nobody asked for an answer.
fn has_failed(record: &NetworkRecord) -> bool {
    !record.is_child()
        && !matches!(
            record.outcome,
            NetworkOutcome::Answered | NetworkOutcome::Awaited | NetworkOutcome::Unawaited
        )
}

fn operation(record: &NetworkRecord) -> FailedOperation {
    FailedOperation {
        operation: record.operation.clone(),
        target: match &record.host {
            Some(host) => format!("{host} ({})", record.target),
            None => record.target.clone(),
        },
        error: record.outcome.text().to_owned(),
        thread: record.thread.clone(),
        elapsed_ms: record.outcome.has_ended().then_some(record.elapsed_ms),
        stack: record.stack.clone(),
        reservation: reservation(record),
    }
}

/// Why an operation makes the network's absence only likely, a sentence.
fn reservation(record: &NetworkRecord) -> Option<String> {
    if record.is_unanswered() {
        let target = &record.target;
        return Some(format!(
            "less certain: what was sent to {target} had no answer, which may have another reason \
             than the network"
        ));
    }
    record.is_child().then(|| {
        let (name, host) = (&record.target, record.machine());
        let end = match &record.outcome {
            NetworkOutcome::Failed(error) => format!("ended with {error}"),
            _ => "had not ended".to_owned(),
        };
        format!("less certain: `{name}` cannot be observed; it was given {host} and {end}")
    })
}

/// The operations of a failed run, which ended so, that explain its failure; none when the network
/// is not to blame. `passing` are the operations of every run of the test that passed.
fn reason<'a>(
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

/// Whether a run that passed met the same error, and did not reach the machine otherwise, at
/// another of its addresses.
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
