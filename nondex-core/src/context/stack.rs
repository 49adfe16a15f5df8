//! The stack of a call, for the few sites that a spec selects.
//!
//! Where functions of libc are interposed, a stack is a list of return addresses. The reader of the
//! record looks them up in the program, because reading debug information needs memory and std's
//! backtrace lock. Elsewhere it is std's backtrace.

#![expect(
    clippy::disallowed_types,
    reason = "std's backtrace is captured where no functions of libc are interposed"
)]

use std::sync::{Arc, OnceLock};

pub use super::backtrace::in_hook;
use super::backtrace::{self, Backtrace};
use crate::hidden;
use crate::json::Object;
use crate::protocol::site::{Caller, Frame, portable_path};

/// Maximum number of return addresses kept of a stack, innermost first.
const MAX_ADDRESSES: usize = 192;

/// Function that writes the return addresses of this thread that are in the program, innermost
/// first, until the buffer is full. They are relative to the program's load address. Returns their
/// number. Does not allocate.
pub type Walk = fn(&mut [u64]) -> usize;

static WALK: OnceLock<(Walk, &'static str)> = OnceLock::new();

/// Registers the function that captures stacks from now on. `program` is the path of this program,
/// or empty in a test's own process.
pub fn walk_by(walk: Walk, program: &'static str) {
    let _ = WALK.set((walk, program));
}

/// A captured stack that is not symbolised yet.
#[derive(Clone, Debug, Default)]
pub struct Stack(Captured);

#[derive(Clone, Debug, Default)]
enum Captured {
    /// No stack, as in a thread that would wait for std's backtrace lock, which it holds itself.
    #[default]
    Nothing,
    /// Return addresses in the program at this path.
    Addresses(&'static str, hidden::Vec<u64>),
    /// Only a place in the source.
    Place(Caller),
    /// Backtrace of std.
    Std(Arc<Backtrace>),
}

impl Stack {
    /// Captures the stack of the current thread. Costs microseconds.
    pub fn capture() -> Self {
        Stack(match WALK.get() {
            Some((walk, program)) => {
                let mut room = [0; MAX_ADDRESSES];
                let len = walk(&mut room);
                Captured::Addresses(program, hidden::copy(&room[..len]))
            }
            None => backtrace::capture().map_or(Captured::Nothing, Captured::Std),
        })
    }

    /// Returns a stack that consists of one place in the source.
    pub const fn at(place: Caller) -> Self {
        Stack(Captured::Place(place))
    }

    /// Returns whether the stack has no frames.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Captured::Nothing => true,
            Captured::Addresses(_, addresses) => addresses.is_empty(),
            Captured::Place(_) | Captured::Std(_) => false,
        }
    }

    /// Writes the frames as a field of `object`, if there are any; return addresses are written
    /// unresolved. Does not use the program's allocator where stacks are return addresses.
    pub fn write(&self, name: &str, object: &mut Object<'_>) {
        match &self.0 {
            Captured::Nothing => {}
            Captured::Addresses(_, addresses) if addresses.is_empty() => {}
            Captured::Addresses(program, addresses) => {
                object.objects(name, addresses, |address, frame| {
                    frame
                        .shown("function", format_args!("{address:#x}"))
                        .string("file", program)
                        .number("line", 0);
                });
            }
            Captured::Place(place) => {
                object.objects(name, [place], |place, frame| {
                    frame
                        .string("function", "")
                        .string("file", portable_path(place.file))
                        .number("line", place.line.into());
                });
            }
            Captured::Std(stack) => {
                let frames = backtrace::frames(stack);
                if !frames.is_empty() {
                    object.objects(name, &frames, Frame::write);
                }
            }
        }
    }
}

impl Frame {
    /// Writes the fields of this frame.
    pub fn write(&self, object: &mut Object<'_>) {
        object
            .string("function", &self.function)
            .string("file", &self.file)
            .number("line", self.line.into());
    }

    /// Returns the return address of a frame that is not looked up yet. Its file is the path of its
    /// program, or empty for the test's own.
    pub fn address(&self) -> Option<u64> {
        let digits = self.function.strip_prefix("0x").filter(|_| self.line == 0)?;
        u64::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stack_is_captured_by_std_of_a_thread_that_says_what_it_panicked_with() {
        in_hook(|| assert!(Stack::capture().is_empty()));
        assert!(!Stack::capture().is_empty());
    }

    #[test]
    fn a_captured_stack_leaves_the_engine_out() {
        let mut text = hidden::Text::new();
        Object::write(&mut text, |object| Stack::capture().write("stack", object));
        assert!(text.contains("line"), "{text:?}");
        assert!(!text.contains("nondex_core"), "{text:?}");
    }

    #[test]
    fn a_return_address_is_known_by_its_form() {
        let frame = |function: &str, line| Frame {
            function: function.to_owned(),
            file: String::new(),
            line,
        };
        assert_eq!(frame("0x1f", 0).address(), Some(31));
        assert_eq!(frame("0x1f", 7).address(), None);
        assert_eq!(frame("f", 0).address(), None);
    }
}
