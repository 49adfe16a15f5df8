//! A network operation and its outcome, as an interposed call knows it: without the program's
//! allocator.

use std::time::Instant;

use super::stack::Stack;
use crate::hidden::Text;
use crate::json::Object;
#[cfg(doc)]
use crate::protocol::network::NetworkOutcome;
use crate::protocol::site::{Caller, portable_path};

/// Outcome of an operation: a [`NetworkOutcome`], as an interposed call knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The operation failed with this error.
    Failed(Text),
    /// See [`NetworkOutcome::Pending`].
    Pending,
    /// See [`NetworkOutcome::Awaited`].
    Awaited,
    /// See [`NetworkOutcome::Unawaited`].
    Unawaited,
    /// The operation succeeded.
    Answered,
}

impl End {
    const fn has_ended(&self) -> bool {
        matches!(self, End::Failed(_) | End::Answered)
    }

    /// Returns how informative this outcome is; see [`NetworkOutcome::rank`].
    const fn rank(&self) -> u8 {
        match self {
            End::Unawaited => 0,
            End::Awaited => 1,
            End::Pending => 2,
            End::Failed(_) | End::Answered => 3,
        }
    }
}

/// An operation in progress, recorded again once its outcome is known.
#[derive(Clone, Debug)]
pub struct NetworkOperation {
    pub(super) id: u64,
    pub(super) begun: Instant,
    pub(super) socket: Option<u64>,
    pub(super) name: &'static str,
    pub(super) target: Text,
    pub(super) host: Option<Text>,
    pub(super) end: End,
    pub(super) thread: Text,
    pub(super) caller: Caller,
    pub(super) elapsed_ms: u64,
}

impl NetworkOperation {
    /// Notes a new outcome without recording it, and returns whether it is more than was known. The
    /// outcome is the end of the operation, or the state of a datagram: the program
    /// [waits](NetworkOutcome::Awaited) for an answer, or [got none](NetworkOutcome::Pending).
    pub fn learn(&mut self, end: End) -> bool {
        let is_new = end.rank() > self.end.rank();
        if is_new {
            if end.has_ended() {
                let elapsed = self.begun.elapsed().as_millis();
                self.elapsed_ms = u64::try_from(elapsed).unwrap_or(u64::MAX);
            }
            self.end = end;
        }
        is_new
    }

    /// Returns whether the operation goes to this target.
    pub fn is_to(&self, target: &str) -> bool {
        *self.target == *target
    }

    /// Writes the fields of the event. If `stack` is empty, the place of the caller is the stack.
    pub(super) fn fields(&self, stack: &Stack, event: &mut Object<'_>) {
        event
            .number("id", self.id)
            .optional_number("socket", self.socket)
            .object("network", |object| self.record(stack, object));
    }

    fn record(&self, stack: &Stack, object: &mut Object<'_>) {
        object
            .string("operation", self.name)
            .string("target", &self.target)
            .optional_string("host", self.host.as_deref());
        match &self.end {
            End::Failed(error) => _ = object.object("outcome", |of| _ = of.string("failed", error)),
            End::Pending => _ = object.string("outcome", "pending"),
            End::Awaited => _ = object.string("outcome", "awaited"),
            End::Unawaited => _ = object.string("outcome", "unawaited"),
            End::Answered => _ = object.string("outcome", "answered"),
        }
        object.string("thread", &self.thread);
        // A caller without a line number is known by its stack and has no place in the source.
        let Caller { file, line, column } = self.caller;
        let place = (line > 0).then(|| portable_path(file));
        match place {
            Some(file) => object.shown("site", format_args!("{file}:{line}:{column}")),
            None => object.string("site", file),
        };
        object.number("count", 1).number("elapsed_ms", self.elapsed_ms);
        if place.is_some() && stack.is_empty() {
            Stack::at(self.caller).write("stack", object);
        } else {
            stack.write("stack", object);
        }
    }
}
