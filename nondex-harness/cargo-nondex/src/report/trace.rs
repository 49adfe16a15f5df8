//! Resolves the numbers in the operations of a trace.

use nondex_core::{Frame, Trace, TracedOperation, TracedThread};

fn at<T>(items: &[T], number: u64) -> Option<&T> {
    items.get(usize::try_from(number).ok()?)
}

/// Returns the thread with this number.
pub fn thread(trace: &Trace, number: u64) -> Option<&TracedThread> {
    at(&trace.threads, number)
}

/// Returns the file, variable or channel of an operation.
pub fn name<'t>(trace: &'t Trace, operation: &TracedOperation) -> Option<&'t str> {
    at(&trace.names, operation.name?).map(String::as_str)
}

/// Returns the stack of an operation.
pub fn frames<'t>(trace: &'t Trace, operation: &TracedOperation) -> &'t [Frame] {
    at(&trace.stacks, operation.stack).map_or(&[], |stack| &stack.frames)
}
