//! The failed operations of a run, with their stacks.

use super::stack::Stack;
use crate::fork_lock::ForkLock;
use crate::hidden::{self, Text};
use crate::json::Object;
use crate::protocol::site::Caller;

/// A failed operation: the fields of an [`OperationRecord`](crate::OperationRecord).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) operation: &'static str,
    pub(crate) target: Text,
    pub(crate) error: &'static str,
    pub(crate) thread: Text,
    /// Caller of the operation, on request.
    pub(crate) caller: Option<Caller>,
}

impl Failure {
    /// Writes the field of the event.
    pub(crate) fn write(&self, stack: &Stack, event: &mut Object<'_>) {
        event.object("operation", |object| {
            object
                .string("operation", self.operation)
                .string("target", &self.target)
                .string("error", self.error)
                .string("thread", &self.thread)
                .string("site", self.caller.map_or("", |caller| caller.file));
            stack.write("stack", object);
        });
    }
}

/// The failures of a run until now, with their stacks, which are recorded when the test fails.
#[derive(Debug)]
pub(crate) struct Failures(ForkLock<hidden::Vec<(Failure, Option<Stack>)>>);

impl Default for Failures {
    fn default() -> Self {
        Failures(ForkLock::new(hidden::vec))
    }
}

/// Maximum number of failures kept. More would not help to explain the test.
const MAX_FAILURES: usize = 64;

/// Maximum number of failures that are kept with a stack.
const MAX_STACKS: usize = 16;

impl Failures {
    /// Keeps a failure, and returns whether it is new.
    pub(crate) fn note(&self, failure: &Failure) -> bool {
        // Without the lock, in a signal handler, a duplicate record is better than none.
        let Some(mut kept) = self.0.lock() else { return true };
        if kept.len() >= MAX_FAILURES || kept.iter().any(|(known, _)| known == failure) {
            return false;
        }
        let is_of_caller = failure.caller.is_some_and(|caller| !caller.file.is_empty());
        let has_stack = is_of_caller && kept.len() < MAX_STACKS;
        let stack = has_stack.then(Stack::capture);
        kept.push((failure.clone(), stack));
        true
    }

    /// Forgets all failures. If the test `failed`, first passes those with a stack to `record`.
    pub(crate) fn read(&self, failed: bool, mut record: impl FnMut(&Failure, &Stack)) {
        let kept = self.0.lock().map(|mut kept| std::mem::replace(&mut *kept, hidden::vec()));
        for (failure, stack) in kept.iter().flatten().filter(|_| failed) {
            if let Some(stack) = stack {
                record(failure, stack);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(target: &str) -> Failure {
        Failure {
            operation: "open",
            target: Text::from(target),
            error: "EROFS",
            thread: Text::from("0"),
            caller: Some(Caller { file: "stack:1", line: 0, column: 0 }),
        }
    }

    #[test]
    fn so_many_failures_are_kept_and_no_more() {
        let failures = Failures::default();
        assert!(failures.note(&failure("/a")));
        assert!(!failures.note(&failure("/a")), "known");
        let new = (0..1000).filter(|n| failures.note(&failure(&n.to_string())));
        assert_eq!(new.count(), MAX_FAILURES - 1);
        let mut read = 0;
        failures.read(true, |_, _| read += 1);
        assert_eq!(read, MAX_STACKS);
        failures.read(true, |_, _| panic!("all are forgotten"));
    }
}
