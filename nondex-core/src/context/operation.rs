//! Operations of a test's threads that failed as the spec asks for.

use super::failures::Failure;
use super::slot;
use super::stack::Stack;
use crate::hidden::Text;
use crate::protocol::site::Caller;

/// Whether failures of `operation` with `error` are requested on this thread. Costs a thread-local
/// lookup.
pub fn is_observed(operation: &str, error: &str) -> bool {
    slot::spec(|spec| {
        let mut asked = spec.observe.iter();
        asked.any(|asked| asked.operation == operation && asked.error == error)
    })
    .unwrap_or(false)
}

/// Records a failure of an operation by this thread, the first that is alike. Without a `caller` it
/// takes no lock but by trying: so it is safe in a child that was forked while other threads ran.
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
