//! Failures that say nothing about the code, only about the machine: no network, no free port, a
//! program that is not there.
//!
//! A [`Prerequisite`] is something that tests need of a machine. It decides from the record of a
//! failed run, as a pure function, whether the run failed because it is not there. The [`Network`]
//! is built in; an [`Operations`] is an entry `[[sanitise]]` of the configuration file; users of
//! the library add their own to [`Options::prerequisites`](super::Options::prerequisites).

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
pub use self::limit::Limit;
pub use self::network::{Network, Seen, seen};
pub use self::operation::Operations;
pub use self::policy::Policy;

/// Something that tests need of a machine.
pub trait Prerequisite: Debug + Send + Sync {
    /// Its name, unique among all.
    fn name(&self) -> &str;

    /// What the machine lacks without it, a sentence.
    fn reason(&self) -> &str;

    /// The failures that are to be recorded while tests run.
    fn observes(&self) -> Vec<Observed> {
        Vec::new()
    }

    /// The operations of a failed run that explain its failure by the prerequisite's absence; none
    /// when they do not. `passing` are all runs of the test that passed: what they use too explains
    /// nothing.
    fn explain(&self, failed: &Run, passing: &[&Run]) -> Vec<FailedOperation>;
}

/// An operation that failed, and so explains a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedOperation {
    /// The operation, such as `exec`.
    pub operation: String,
    /// What it was about; of another machine its name and address.
    pub target: String,
    /// How it failed.
    pub error: String,
    /// The thread, when that is known.
    pub thread: String,
    /// How long it took in milliseconds, when that is known.
    pub elapsed_ms: Option<u64>,
    /// Where it was called, innermost frame first, when that is known.
    pub stack: Vec<Frame>,
    /// Why it makes the explanation only likely, a sentence.
    pub reservation: Option<String>,
}

impl FailedOperation {
    /// Whether it is the same operation, of another run or thread.
    fn is_same(&self, other: &Self) -> bool {
        (&self.operation, &self.target, &self.error)
            == (&other.operation, &other.target, &other.error)
    }
}

/// What explains all failed runs of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The name of the prerequisite that explains the first of them.
    pub name: String,
    /// What the machine lacks.
    pub reason: String,
    /// The operations, each once.
    pub operations: Vec<FailedOperation>,
    /// Why the explanation is less certain than others, a sentence each.
    pub reservations: Vec<String>,
}

impl Explanation {
    /// Whether it is the absence of the network.
    pub fn is_of_network(&self) -> bool {
        self.name == Network::NAME
    }
}

/// What explains every failed run by the network alone; `None` when one is not explained, or none
/// failed.
pub fn explained_by_network(evidence: &Evidence, policy: &Policy) -> Option<Explanation> {
    explain(evidence, policy, &[]).filter(Explanation::is_of_network)
}

/// What explains every failed run by one of `own`; the network only helps, as what it explains
/// alone is a separate verdict.
pub fn explained_by(
    evidence: &Evidence,
    policy: &Policy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    explain(evidence, policy, own).filter(|found| !found.is_of_network())
}

/// Whether these runs, which all failed, are all explained by the network, or else by `own` and the
/// network; no run of the test has passed.
pub fn explains_all(runs: &[Run], policy: &Policy, own: &[Arc<dyn Prerequisite>]) -> bool {
    explain_runs(runs.iter(), &[], policy, own).is_some()
}

/// What explains one failed run by itself.
pub fn explained_run(
    run: &Run,
    policy: &Policy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    explain_runs(std::iter::once(run), &[], policy, own)
}

fn explain(
    evidence: &Evidence,
    policy: &Policy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    let runs = || evidence.all().map(|(_, run)| run);
    let passing: Vec<&Run> = runs().filter(|run| run.passed()).collect();
    explain_runs(runs().filter(|run| !run.passed()), &passing, policy, own)
}

/// The first prerequisite of a run's own that explains it gives the name; the network where it
/// explains them all.
fn explain_runs<'r>(
    failed: impl Iterator<Item = &'r Run>,
    passing: &[&Run],
    policy: &Policy,
    own: &[Arc<dyn Prerequisite>],
) -> Option<Explanation> {
    if !policy.sanitise {
        return None;
    }
    let network = Network::new(policy);
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

/// What explains some runs.
struct Explained<'a> {
    by: &'a dyn Prerequisite,
    runs: usize,
    operations: Vec<FailedOperation>,
    /// Those that alone explain a run, and only make it likely.
    uncertain: Vec<FailedOperation>,
}

impl<'a> Explained<'a> {
    fn new(by: &'a dyn Prerequisite) -> Self {
        Explained { by, runs: 0, operations: Vec::new(), uncertain: Vec::new() }
    }

    /// Adds what explains one more run.
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
        if self.by.name() == Network::NAME {
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

/// Adds an operation that is not known yet.
fn add(known: &mut Vec<FailedOperation>, operation: FailedOperation) {
    if !known.iter().any(|one| one.is_same(&operation)) {
        known.push(operation);
    }
}

#[cfg(test)]
mod tests;
