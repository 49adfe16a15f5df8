//! Recognises failures that only concern the machine: no network, no free port, a missing program.
//!
//! A [`Prerequisite`] is something that tests need from a machine. It decides, as a pure function
//! of the record of a failed run, whether the run failed because the prerequisite is missing. The
//! [`NetworkPrerequisite`] is built in, and an entry `[[sanitise]]` of the configuration file is an
//! [`Operations`]. Users of the library add their own to
//! [`Options::prerequisites`](super::Options::prerequisites).

mod canary;
mod limit;
mod network;
mod operation;
mod policy;

use std::fmt::Debug;
use std::sync::Arc;

use nondex_core::{Frame, Observed};

use super::evidence::Evidence;
use super::run::Run;

pub use self::canary::Canary;
pub use self::limit::SanitisedLimit;
pub use self::network::{NetworkPrerequisite, NetworkUse, seen};
pub use self::operation::Operations;
pub use self::policy::NetworkPolicy;

/// Something that tests need from a machine.
pub trait Prerequisite: Debug + Send + Sync {
    /// Returns the unique name.
    fn name(&self) -> &str;

    /// Returns a sentence that states what the machine lacks.
    fn reason(&self) -> &str;

    /// Returns the failures that must be recorded while tests run.
    fn observes(&self) -> Vec<Observed> {
        Vec::new()
    }

    /// Returns the operations of a failed run that explain its failure by the missing prerequisite;
    /// none if they do not. `passing` are all runs of the test that passed: an operation that fails
    /// there too explains nothing.
    fn explain(&self, failed: &Run, passing: &[&Run]) -> Vec<FailedOperation>;
}

/// Operation whose failure explains that of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedOperation {
    /// Name of the operation, such as `exec`.
    pub operation: String,
    /// Target of the operation; for another machine its name and address.
    pub target: String,
    /// Error of the operation.
    pub error: String,
    /// Thread, if known.
    pub thread: String,
    /// Duration in milliseconds, if known.
    pub elapsed_ms: Option<u64>,
    /// Stack of the call, innermost frame first, if known.
    pub stack: Vec<Frame>,
    /// Sentence that states why the explanation is only likely, if it is.
    pub reservation: Option<String>,
}

impl FailedOperation {
    /// Returns whether the other operation is the same, possibly in another run or thread.
    fn is_same(&self, other: &Self) -> bool {
        (&self.operation, &self.target, &self.error)
            == (&other.operation, &other.target, &other.error)
    }
}

/// Explanation of all failed runs of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Name of the prerequisite that explains the first failed run.
    pub name: String,
    /// Sentence that states what the machine lacks.
    pub reason: String,
    /// Operations, without duplicates.
    pub operations: Vec<FailedOperation>,
    /// Sentences that state why the explanation is less certain than others.
    pub reservations: Vec<String>,
}

impl Explanation {
    /// Returns whether the network is missing.
    pub fn is_of_network(&self) -> bool {
        self.name == NetworkPrerequisite::NAME
    }
}

/// Returns the explanation of every failed run by the network alone. Returns `None` if a run is not
/// explained, or none failed.
pub fn explained_by_network(evidence: &Evidence, policy: &NetworkPolicy) -> Option<Explanation> {
    explain(evidence, policy, &[]).filter(Explanation::is_of_network)
}

/// Returns the explanation of every failed run by one of `own`, where the network may explain some
/// of the runs. An explanation by the network alone has a separate verdict.
pub fn explained_by(
    evidence: &Evidence,
    policy: &NetworkPolicy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    explain(evidence, policy, own).filter(|found| !found.is_of_network())
}

/// Returns whether these runs are all explained by the network, or by `own` and the network. All of
/// them must have failed, and no run of the test may have passed.
pub fn explains_all(runs: &[Run], policy: &NetworkPolicy, own: &[Arc<dyn Prerequisite>]) -> bool {
    explain_runs(runs.iter(), &[], policy, own).is_some()
}

/// Returns the explanation of one failed run, without other runs of the test.
pub(super) fn explained_run(
    run: &Run,
    policy: &NetworkPolicy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    explain_runs(std::iter::once(run), &[], policy, own)
}

fn explain(
    evidence: &Evidence,
    policy: &NetworkPolicy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    let runs = || evidence.all().map(|(_, run)| run);
    let passing: Vec<&Run> = runs().filter(|run| run.passed()).collect();
    explain_runs(runs().filter(|run| !run.passed()), &passing, policy, own)
}

/// Explains all failed runs. The first of `own` that explains a run gives its name to the
/// explanation; without one it is the network.
fn explain_runs<'r>(
    failed: impl Iterator<Item = &'r Run>,
    passing: &[&Run],
    policy: &NetworkPolicy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    if !policy.sanitise {
        return None;
    }
    let network = NetworkPrerequisite::new(policy);
    let mut by_network = Explained::new(&network);
    let mut by_own: Option<Explained<'_>> = None;
    for run in failed {
        let found = own.iter().map(AsRef::as_ref).find_map(|one| {
            let operations = one.explain(run, passing);
            (!operations.is_empty()).then_some((one, operations))
        });
        match found {
            Some((one, operations)) => {
                by_own.get_or_insert_with(|| Explained::new(one)).add(operations);
            }
            None => match network.explain(run, passing) {
                operations if operations.is_empty() => return None,
                operations => by_network.add(operations),
            },
        }
    }
    by_own.or((by_network.runs > 0).then_some(by_network)).map(Explained::explanation)
}

/// Explanation of the runs until now.
struct Explained<'a> {
    by: &'a dyn Prerequisite,
    runs: usize,
    operations: Vec<FailedOperation>,
    /// Operations that only make the explanation likely, of runs that no other operation explains.
    uncertain: Vec<FailedOperation>,
}

impl<'a> Explained<'a> {
    fn new(by: &'a dyn Prerequisite) -> Self {
        Explained { by, runs: 0, operations: Vec::new(), uncertain: Vec::new() }
    }

    /// Adds the operations that explain one more run.
    fn add(&mut self, operations: Vec<FailedOperation>) {
        self.runs += 1;
        let is_likely = operations.iter().all(|one| one.reservation.is_some());
        for operation in operations {
            if is_likely {
                add(&mut self.uncertain, operation.clone());
            }
            add(&mut self.operations, operation);
        }
    }

    fn explanation(mut self) -> Explanation {
        if self.by.name() == NetworkPrerequisite::NAME {
            self.operations.sort();
            self.uncertain.sort();
        }
        let reservations = self.uncertain.into_iter().filter_map(|one| one.reservation);
        Explanation {
            name: self.by.name().to_owned(),
            reason: self.by.reason().to_owned(),
            operations: self.operations,
            reservations: reservations.collect(),
        }
    }
}

/// Adds an operation unless it is known.
fn add(known: &mut Vec<FailedOperation>, operation: FailedOperation) {
    if !known.iter().any(|one| one.is_same(&operation)) {
        known.push(operation);
    }
}

#[cfg(test)]
mod tests;
