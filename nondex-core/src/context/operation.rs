//! Failed operations of a test's threads that the spec observes.

use super::failures::Failure;
use super::slot;
use super::stack::Stack;
use crate::hidden::Text;
use crate::protocol::site::Caller;

/// Returns whether the spec observes failures of `operation` with `error`. Costs a thread-local
/// lookup.
pub fn is_observed(operation: &str, error: &str) -> bool {
    slot::spec(|spec| {
        let mut requested = spec.observe.iter();
        requested.any(|failure| failure.operation == operation && failure.error == error)
    })
    .unwrap_or(false)
}

/// Records a failed operation of this thread, unless an equal failure is recorded. Without a
/// `caller`, it only tries locks and never waits. It is then safe in a child that was forked while
/// other threads ran.
pub fn failed(operation: &'static str, error: &'static str, target: Text, caller: Option<Caller>) {
    slot::record_if("operation", |context, thread, event| {
        let failure = Failure { operation, target, error, thread: Text::from(thread), caller };
        failure.write(&Stack::default(), event);
        context.shared.failures.note(&failure)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Context, enter};
    use crate::{Event, OperationRecord, RunSpec};

    #[test]
    fn a_failure_is_recorded_once() {
        let context = Context::new(RunSpec::clean("t"));
        let test = enter(&context, "t");
        let caller = Caller { file: "stack:1", line: 0, column: 0 };
        for _ in 0..2 {
            failed("open", "EROFS", Text::from("/a \"b\""), Some(caller));
        }
        drop(test);
        let operation = OperationRecord {
            operation: "open".to_owned(),
            target: "/a \"b\"".to_owned(),
            error: "EROFS".to_owned(),
            thread: "0".to_owned(),
            site: "stack:1".to_owned(),
            stack: Vec::new(),
        };
        let test = "t".to_owned();
        assert_eq!(context.take_events(), [Event::Operation { test, operation }]);
    }
}
