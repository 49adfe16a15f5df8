//! A sanitiser of operations that fail with certain errors: a port in use, a missing program, a read-only disk.

use globset::GlobMatcher;
use nondex_core::{NetworkOutcome, Observed, OperationRecord};

use super::{Sanitiser, Want};
use crate::campaign::evidence::Run;

/// Explains failures during which one of `operations` failed with one of `errors`.
#[derive(Clone, Debug)]
pub struct OperationSanitiser {
    /// The name.
    pub name: String,
    /// What the machine is in want of, a sentence.
    pub reason: String,
    /// Some of [`OPERATIONS`](nondex_core::protocol::operation::OPERATIONS).
    pub operations: Vec<String>,
    /// Some of [`ERRORS`](nondex_core::protocol::operation::ERRORS).
    pub errors: Vec<String>,
    /// What the target must match, when it does not matter to be any: an address with its port, a path, or a program.
    pub target: Option<GlobMatcher>,
}

impl OperationSanitiser {
    fn covers(&self, operation: &str, target: &str, error: &str) -> bool {
        self.operations.iter().any(|known| known == operation)
            && self.errors.iter().any(|known| known == error)
            && self
                .target
                .as_ref()
                .is_none_or(|glob| glob.is_match(target))
    }
}

impl Sanitiser for OperationSanitiser {
    fn name(&self) -> &str {
        &self.name
    }

    fn reason(&self) -> &str {
        &self.reason
    }

    fn observes(&self) -> Vec<Observed> {
        let pairs = self.operations.iter().flat_map(|operation| {
            self.errors.iter().map(|error| Observed {
                operation: operation.clone(),
                error: error.clone(),
            })
        });
        pairs.collect()
    }

    fn explain(&self, failed: &Run, passing: &[&Run]) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        let covered = wants_of(failed);
        for want in covered.filter(|w| self.covers(&w.operation, &w.target, &w.error)) {
            let is_same = |other: &Want| {
                (&other.operation, &other.target, &other.error)
                    == (&want.operation, &want.target, &want.error)
            };
            let is_met = passing.iter().any(|run| wants_of(run).any(|o| is_same(&o)));
            match wants.iter_mut().find(|known| is_same(known)) {
                _ if is_met => {}
                // Of several threads, the one whose place is known.
                Some(known) if known.stack.is_empty() => known.stack = want.stack,
                Some(_) => {}
                None => wants.push(want),
            }
        }
        wants
    }
}

/// Everything that failed in a run: on this machine, and connections to others.
fn wants_of(run: &Run) -> impl Iterator<Item = Want> {
    let local = run
        .failed_operations
        .iter()
        .map(|record: &OperationRecord| Want {
            operation: record.operation.clone(),
            target: record.target.clone(),
            error: record.error.clone(),
            stack: record.stack.clone(),
        });
    let remote = run
        .network
        .iter()
        .filter_map(|record| match &record.outcome {
            NetworkOutcome::Failed(error) => Some(Want {
                operation: record.operation.clone(),
                target: record.target.clone(),
                error: error.clone(),
                stack: record.stack.clone(),
            }),
            _ => None,
        });
    local.chain(remote)
}
