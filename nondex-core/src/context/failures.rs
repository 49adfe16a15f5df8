//! The failed operations of a run, with their stacks.

use super::stack::Stack;
use crate::fork_lock::ForkLock;
use crate::hidden::{self, Text};
use crate::json::Object;
use crate::protocol::site::Caller;

/// An operation that failed: what an [`OperationRecord`](crate::OperationRecord) has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) operation: &'static str,
    pub(crate) target: Text,
    pub(crate) error: &'static str,
    pub(crate) thread: Text,
    /// Who called, on request.
    pub(crate) caller: Option<Caller>,
}

impl Failure {
    /// Writes the field of its event.
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

/// How many failures are kept; a test with more has seen enough.
const MAX_FAILURES: usize = 64;

/// How many of them have their stacks kept.
const MAX_STACKS: usize = 16;

impl Failures {
    /// Keeps a failure; whether it is new.
    pub(crate) fn note(&self, failure: &Failure) -> bool {
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

    /// Forgets all. When the test `failed`, gives those that have stacks to `record`, with them.
    pub(crate) fn read(&self, failed: bool, mut record: impl FnMut(&Failure, &Stack)) {
        let kept = self.0.lock();
        let kept = kept.map(|mut kept| std::mem::replace(&mut *kept, hidden::vec()));
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
