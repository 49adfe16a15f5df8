//! The stacks of network operations, which are recorded when a test fails.

use super::attempt::{End, NetworkOperation};
use super::stack::Stack;
use crate::fork_lock::ForkLock;
use crate::hidden;

/// The network operations of a run until now, with their stacks.
#[derive(Debug)]
pub(crate) struct Stacks(ForkLock<hidden::Vec<(NetworkOperation, Stack)>>);

impl Default for Stacks {
    fn default() -> Self {
        Stacks(ForkLock::new(hidden::vec))
    }
}

/// Maximum number of stacks kept.
const MAX_STACKS: usize = 16;

impl Stacks {
    /// Keeps the stack of an operation, or updates its outcome.
    pub(crate) fn note(&self, operation: &NetworkOperation) {
        let is_wanted = self.0.lock().is_some_and(|mut kept| {
            if let Some((known, _)) = kept.iter_mut().find(|(known, _)| known.id == operation.id) {
                known.clone_from(operation);
                return false;
            }
            kept.len() < MAX_STACKS
                && kept.iter().all(|(known, _)| known.caller != operation.caller)
        });
        if is_wanted {
            // The stack is captured without the lock, which must be held only briefly.
            let stack = Stack::capture();
            if let Some(mut kept) = self.0.lock() {
                kept.push((operation.clone(), stack));
            }
        }
    }

    /// Forgets all operations. If the test `failed`, first passes those that did not succeed, with
    /// their stacks, to `record`.
    pub(crate) fn read(&self, failed: bool, mut record: impl FnMut(&NetworkOperation, &Stack)) {
        let kept = self.0.lock().map(|mut kept| std::mem::replace(&mut *kept, hidden::vec()));
        for (operation, stack) in kept.iter().flatten() {
            if failed && operation.end != End::Answered {
                record(operation, stack);
            }
        }
    }
}
