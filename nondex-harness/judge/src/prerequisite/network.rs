//! Decides whether a missing network explains a failed run. This is a pure function of records and
//! the answer of the [`Canary`].
//!
//! The target and the error of an operation count. The failure's message only counts for a route
//! that was not found, where nothing is sent: it must mention the route. The runtime only records
//! operations on other machines, which excludes the loopback unless it is down.

use std::collections::BTreeSet;

use nondex_core::protocol::network::meaning::{Ending, Meaning};
use nondex_core::{NetworkOutcome, NetworkRecord};

use super::{Canary, FailedOperation, NetworkPolicy, Prerequisite, add};
use crate::evidence::Evidence;
use crate::run::Run;

/// Network as a prerequisite.
#[derive(Clone, Copy, Debug)]
pub struct NetworkPrerequisite<'a> {
    canary: &'a Canary,
}

impl<'a> NetworkPrerequisite<'a> {
    /// Name of this prerequisite.
    pub const NAME: &'static str = "network";
    /// Sentence for a missing network.
    pub const REASON: &'static str = "there is no network";

    /// Returns the network of runs with this policy.
    pub fn new(policy: &'a NetworkPolicy) -> Self {
        NetworkPrerequisite { canary: &policy.canary }
    }
}

impl Prerequisite for NetworkPrerequisite<'_> {
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

/// Use of the network in the runs of a test, whether or not it explains all their failures.
#[derive(Clone, Debug, Default)]
pub struct NetworkUse {
    /// Operations that explain failures, without duplicates, in a fixed order.
    pub operations: Vec<FailedOperation>,
    /// Machines that the test tried to reach, by name or address.
    pub hosts: BTreeSet<String>,
    /// Whether a run passed although an operation on another machine failed.
    pub is_ignored: bool,
}

/// Returns the use of the network in the runs of a test.
pub fn seen(evidence: &Evidence, policy: &NetworkPolicy) -> NetworkUse {
    let runs = || evidence.all().map(|(_, run)| run);
    let passing: Vec<&Run> = runs().filter(|run| run.passed()).collect();
    let mut passed = passing.iter().flat_map(|run| &*run.network);
    let mut seen = NetworkUse { is_ignored: passed.any(has_failed), ..NetworkUse::default() };
    let network = NetworkPrerequisite::new(policy);
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

/// Returns whether an operation on another machine failed. A child does not count: it is only known
/// that the program failed. Nor does a datagram for whose answer the test did not wait, or not
/// until its end.
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

/// Returns a sentence if an operation only makes a missing network likely.
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

/// Returns the operations of a failed run with this ending that explain its failure; none if the
/// network is not to blame. `passing` are the operations of each run of the test that passed.
fn reason<'a>(
    failing: &'a [NetworkRecord],
    ending: Ending<'_>,
    passing: &[&[NetworkRecord]],
    canary: &Canary,
) -> Vec<&'a NetworkRecord> {
    let counts = |record: &&NetworkRecord| {
        !record.is_superseded(failing)
            && !passing.iter().any(|passed| occurs_in(record, passed))
            && match record.meaning(ending) {
                Meaning::Absent => true,
                Meaning::AbsentIfOffline => canary.is_offline(),
                Meaning::AbsentIfMachineOffline => canary.is_machine_offline(),
                Meaning::Other => false,
            }
    };
    failing.iter().filter(counts).collect()
}

/// Returns whether a run that passed had the same error. It must not have reached the machine at
/// another of its addresses.
fn occurs_in(record: &NetworkRecord, passed: &[NetworkRecord]) -> bool {
    passed.iter().any(|other| {
        other.outcome == record.outcome
            && other.operation == record.operation
            && other.machine() == record.machine()
            && !other.is_superseded(passed)
    })
}

#[cfg(test)]
mod tests;
