//! The stacks of operations on other machines, which are recorded when a test fails.

use super::attempt::{End, NetworkOperation};
use super::stack::Stack;
use crate::fork_lock::ForkLock;
use crate::hidden;

/// The operations of a run until now, with their stacks.
#[derive(Debug)]
pub(crate) struct Stacks(ForkLock<hidden::Vec<(NetworkOperation, Stack)>>);

impl Default for Stacks {
    fn default() -> Self {
        Stacks(ForkLock::new(hidden::vec))
    }
}

/// How many stacks are kept.
const MAX_STACKS: usize = 16;

impl Stacks {
    /// Keeps the stack of an operation, or what became of it.
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
            let stack = Stack::capture();
            if let Some(mut kept) = self.0.lock() {
                kept.push((operation.clone(), stack));
            }
        }
    }

    /// Forgets all. When the test `failed`, gives the operations that did not succeed to `record`,
    /// with their stacks.
    pub(crate) fn read(&self, failed: bool, mut record: impl FnMut(&NetworkOperation, &Stack)) {
        let kept = self.0.lock();
        let kept = kept.map(|mut kept| std::mem::replace(&mut *kept, hidden::vec()));
        for (operation, stack) in kept.iter().flatten() {
            if failed && operation.end != End::Answered {
                record(operation, stack);
            }
        }
    }
}
