//! The failed operations of a run, with their stacks.

use super::stack::Stack;
use crate::fork_lock::ForkLock;
use crate::protocol::operation::{OperationRecord, is_alike};

/// The failures of a run so far, with their stacks, kept unread until the test fails: reading them
/// takes long.
#[derive(Debug)]
pub(crate) struct Failures(ForkLock<Vec<(OperationRecord, Option<Stack>)>>);

impl Default for Failures {
    fn default() -> Self {
        Failures(ForkLock::new(Vec::new))
    }
}

/// How many failures are kept; a test that meets more has been told enough.
const MAX_FAILURES: usize = 64;

/// How many of them have their stacks kept.
const MAX_STACKS: usize = 16;

impl Failures {
    /// Keeps a failure; whether it is new.
    pub(crate) fn note(&self, record: &OperationRecord) -> bool {
        let Some(mut kept) = self.0.lock() else {
            return true;
        };
        if kept.len() >= MAX_FAILURES || kept.iter().any(|(known, _)| is_alike(known, record)) {
            return false;
        }
        let has_stack = !record.site.is_empty() && kept.len() < MAX_STACKS;
        let stack = has_stack.then(Stack::capture);
        kept.push((record.clone(), stack));
        true
    }

    /// Forgets all. When the test `failed`, those that have stacks, with them.
    pub(crate) fn read(&self, failed: bool) -> Vec<OperationRecord> {
        let kept = self.0.lock().map(|mut kept| std::mem::take(&mut *kept));
        kept.unwrap_or_default()
            .into_iter()
            .filter_map(|(record, stack)| Some((record, stack?)))
            .filter(|_| failed)
            .map(|(mut record, stack)| {
                record.stack = stack.frames();
                record
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(target: &str) -> OperationRecord {
        OperationRecord {
            operation: "open".to_owned(),
            target: target.to_owned(),
            error: "EROFS".to_owned(),
            thread: "0".to_owned(),
            site: "stack:1".to_owned(),
            stack: Vec::new(),
        }
    }

    #[test]
    fn so_many_failures_are_kept_and_no_more() {
        let failures = Failures::default();
        assert!(failures.note(&record("/a")));
        assert!(!failures.note(&record("/a")), "known");
        let new = (0..1000).filter(|n| failures.note(&record(&n.to_string())));
        assert_eq!(new.count(), MAX_FAILURES - 1);
        let read = failures.read(true);
        assert_eq!(read.len(), MAX_STACKS);
        assert!(failures.read(true).is_empty());
    }
}
