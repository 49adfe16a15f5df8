//! What is kept, unread, of failed operations until a test fails: reading stacks takes long.

use super::stack::Stack;
use crate::fork_lock::ForkLock;
use crate::protocol::event::Event;
use crate::protocol::network::{NetworkOutcome, NetworkRecord};

/// The stacks of operations, kept unread until a test fails: reading them takes long.
#[derive(Debug)]
pub(crate) struct Stacks(ForkLock<Vec<(u64, NetworkRecord, Stack)>>);

impl Default for Stacks {
    fn default() -> Self {
        Stacks(ForkLock::new(Vec::new))
    }
}

/// How many stacks are kept.
const MAX_STACKS: usize = 16;

impl Stacks {
    /// Keeps the stack of an operation, or what became of it.
    pub(crate) fn note(&self, event: &Event) {
        let Event::Network { id, network, .. } = event else {
            return;
        };
        let network = network.clone();
        let is_wanted = self.0.lock().is_some_and(|mut kept| {
            if let Some(known) = kept.iter_mut().find(|(known, ..)| known == id) {
                known.1 = network.clone();
                return false;
            }
            kept.len() < MAX_STACKS && kept.iter().all(|(_, r, _)| r.site != network.site)
        });
        if is_wanted {
            let stack = Stack::capture();
            if let Some(mut kept) = self.0.lock() {
                kept.push((*id, network, stack));
            }
        }
    }

    /// Forgets all. When the test `failed`, the operations that did not succeed, with their stacks.
    pub(crate) fn read(&self, failed: bool) -> Vec<(u64, NetworkRecord)> {
        let kept = self.0.lock().map(|mut kept| std::mem::take(&mut *kept));
        kept.unwrap_or_default()
            .into_iter()
            .filter(|(_, record, _)| failed && record.outcome != NetworkOutcome::Answered)
            .map(|(id, mut record, stack)| {
                let stack = stack.frames();
                if !stack.is_empty() {
                    record.stack = stack;
                }
                (id, record)
            })
            .collect()
    }
}
