//! Explains failures by operations with certain errors: a port in use, a missing program, a
//! read-only disk.

use globset::GlobMatcher;
use nondex_core::{Frame, NetworkOutcome, Observed, OperationRecord};

use super::{FailedOperation, Prerequisite};
use crate::run::Run;

/// Prerequisite that is missing if one of `operations` fails with one of `errors`.
#[derive(Clone, Debug)]
pub struct Operations {
    /// Name of the prerequisite.
    pub name: String,
    /// Sentence that states what the machine lacks.
    pub reason: String,
    /// Subset of [`OPERATIONS`](nondex_core::protocol::operation::OPERATIONS).
    pub operations: Vec<String>,
    /// Subset of [`ERRORS`](nondex_core::protocol::operation::ERRORS).
    pub errors: Vec<String>,
    /// Pattern that the target must match, if any: an address with its port, a path, or a program.
    pub target: Option<GlobMatcher>,
}

impl Operations {
    fn covers(&self, operation: &str, target: &str, error: &str) -> bool {
        self.operations.iter().any(|known| known == operation)
            && self.errors.iter().any(|known| known == error)
            && self.target.as_ref().is_none_or(|glob| glob.is_match(target))
    }
}

impl Prerequisite for Operations {
    fn name(&self) -> &str {
        &self.name
    }

    fn reason(&self) -> &str {
        &self.reason
    }

    fn observes(&self) -> Vec<Observed> {
        let pairs = self.operations.iter().flat_map(|operation| {
            self.errors
                .iter()
                .map(|error| Observed { operation: operation.clone(), error: error.clone() })
        });
        pairs.collect()
    }

    fn explain(&self, failed: &Run, passing: &[&Run]) -> Vec<FailedOperation> {
        let mut found: Vec<FailedOperation> = Vec::new();
        let covered = |one: &FailedOperation| self.covers(&one.operation, &one.target, &one.error);
        for one in failures_of(failed).filter(covered) {
            let occurs_in_passing =
                passing.iter().any(|run| failures_of(run).any(|other| other.is_same(&one)));
            match found.iter_mut().find(|known| known.is_same(&one)) {
                _ if occurs_in_passing => {}
                // Keep a thread with a known stack.
                Some(known) if known.stack.is_empty() => known.stack = one.stack,
                Some(_) => {}
                None => found.push(one),
            }
        }
        found
    }
}

/// Returns all failures in a run: operations on this machine, and connections to others.
fn failures_of(run: &Run) -> impl Iterator<Item = FailedOperation> {
    let local = run.failed_operations.iter().map(|record: &OperationRecord| {
        failure(&record.operation, &record.target, &record.error, &record.stack)
    });
    let remote = run.network.iter().filter_map(|record| match &record.outcome {
        NetworkOutcome::Failed(error) => {
            Some(failure(&record.operation, &record.target, error, &record.stack))
        }
        _ => None,
    });
    local.chain(remote)
}

fn failure(operation: &str, target: &str, error: &str, stack: &[Frame]) -> FailedOperation {
    FailedOperation {
        operation: operation.to_owned(),
        target: target.to_owned(),
        error: error.to_owned(),
        stack: stack.to_vec(),
        ..FailedOperation::default()
    }
}
