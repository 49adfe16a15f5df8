//! Operations of a test's threads that failed as the spec asks for.

use super::slot;
use crate::protocol::event::Event;
use crate::protocol::operation::OperationRecord;
use crate::protocol::site::Caller;

/// Whether failures of `operation` with `error` are asked for on this thread. Costs a thread-local
/// lookup.
#[must_use]
pub fn is_observed(operation: &str, error: &str) -> bool {
    slot::spec(|spec| {
        let mut asked = spec.observe.iter();
        asked.any(|asked| asked.operation == operation && asked.error == error)
    })
    .unwrap_or(false)
}

/// Records a failure of an operation by this thread, the first that is alike. Without a `caller` it
/// takes no lock but by trying: so it is safe in a child that was forked while other threads ran.
pub fn failed(operation: &str, error: &str, target: String, caller: Option<Caller>) {
    slot::record_operation(|test, thread| {
        let operation = OperationRecord {
            operation: operation.to_owned(),
            target,
            error: error.to_owned(),
            thread,
            site: caller.map_or_else(String::new, |caller| caller.file.to_owned()),
            stack: Vec::new(),
        };
        Event::Operation { test, operation }
    });
}
