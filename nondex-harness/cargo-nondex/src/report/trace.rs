//! What the operations of a trace refer to by numbers.

use nondex_core::{Frame, Trace, TracedOperation, TracedThread};

fn at<T>(items: &[T], number: u64) -> Option<&T> {
    items.get(usize::try_from(number).ok()?)
}

/// A thread.
pub fn thread(trace: &Trace, number: u64) -> Option<&TracedThread> {
    at(&trace.threads, number)
}

/// The file, variable or channel that an operation is on.
pub fn name<'t>(trace: &'t Trace, operation: &TracedOperation) -> Option<&'t str> {
    at(&trace.names, operation.name?).map(String::as_str)
}

/// The stack of an operation.
pub fn frames<'t>(trace: &'t Trace, operation: &TracedOperation) -> &'t [Frame] {
    at(&trace.stacks, operation.stack).map_or(&[], |stack| &stack.frames)
}
