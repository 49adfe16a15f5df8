//! The stack of a call, for the few sites that a spec asks about.
//!
//! Where functions of libc are interposed, a stack is return addresses, which whoever reads the
//! record looks up in the program: reading debug information takes memory and std's lock of
//! backtraces. Elsewhere it is std's backtrace.

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

/// Number of return addresses that are kept of a stack, the innermost ones.
const MAX_ADDRESSES: usize = 192;

/// Writes the return addresses of this thread that are in the program, relative to where it is
/// loaded, the innermost first, as far as there is room for them; how many there are. Takes no
/// memory.
pub type Walk = fn(&mut [u64]) -> usize;

static WALK: OnceLock<(Walk, &'static str)> = OnceLock::new();

/// Lets stacks be walked so from now on. `program` is the path of this one, or empty for a test's
/// own.
pub fn walk_by(walk: Walk, program: &'static str) {
    let _ = WALK.set((walk, program));
}

/// A stack that was captured and not read yet.
#[derive(Clone, Debug, Default)]
pub struct Stack(Captured);

#[derive(Clone, Debug, Default)]
enum Captured {
    /// None, as in a thread that would wait for std's lock, which it has itself.
    #[default]
    Nothing,
    /// Return addresses in the program at this path.
    Addresses(&'static str, hidden::Vec<u64>),
    /// A place in the source alone.
    Place(Caller),
    /// By std.
    Std(Arc<Backtrace>),
}

impl Stack {
    /// The stack of the current thread. Costs microseconds.
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

    /// A place in the source, of which no more is known.
    pub const fn at(place: Caller) -> Self {
        Stack(Captured::Place(place))
    }

    /// Whether nothing is known of it.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Captured::Nothing => true,
            Captured::Addresses(_, addresses) => addresses.is_empty(),
            Captured::Place(_) | Captured::Std(_) => false,
        }
    }

    /// Writes its frames as a field of an object, if there are any: return addresses as they are.
    /// Takes no memory of the program's where stacks are return addresses.
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

    /// The return address of this frame until it is looked up; the file is then the path of its
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
