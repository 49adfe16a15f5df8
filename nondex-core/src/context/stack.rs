//! The stack of a call, for the few sites that a spec asks about.

use std::backtrace::Backtrace;

use crate::protocol::site::{Frame, portable_path};

/// A stack that was captured and not read yet.
#[derive(Debug)]
pub struct Stack(Backtrace);

impl Stack {
    /// The stack of the current thread. Costs microseconds.
    #[must_use]
    pub fn capture() -> Self {
        Stack(Backtrace::force_capture())
    }

    /// Its frames: see [`capture`].
    #[must_use]
    pub fn frames(&self) -> Vec<Frame> {
        parse(&format!("{:#}", self.0))
    }
}

/// The frames of the current thread that have a source line, innermost first. Costs milliseconds: it reads the debug
/// information of the executable. Frames of the engine are left out; paths are absolute where rustc knew them so.
pub fn capture() -> Vec<Frame> {
    Stack::capture().frames()
}

/// Reads the full text of a [`Backtrace`](std::backtrace::Backtrace): `  4:     0x1234 - path::of::function` (later
/// inlined functions have no number and address) followed by `             at file:line:column`.
fn parse(text: &str) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut function = "";
    for line in text.lines().map(str::trim_start) {
        if let Some(place) = line.strip_prefix("at ") {
            let mut parts = place.rsplitn(3, ':');
            let (_column, number, file) = (parts.next(), parts.next(), parts.next());
            if let (Some(line), Some(file)) = (number.and_then(|n| n.parse().ok()), file) {
                frames.push(Frame {
                    function: function.to_owned(),
                    file: portable_path(file).to_owned(),
                    line,
                });
            }
        } else if let Some((_, name)) = line.split_once(" - ") {
            function = name;
        } else {
            function = line;
        }
    }
    frames.retain(|frame| {
        let own = ["nondex_core", "nondex_interpose"];
        !own.iter().any(|own| frame.function.contains(own))
    });
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_with_inlined_functions_and_without_our_own() {
        let text = "   0:     0x55d0 - nondex_core::context::stack::capture\n             at /w/src/stack.rs:11:5\n   \
                    1:     0x55d1 - mine::test\n             at /w/src/lib.rs:7:9\n                    \
                    mine::outer\n             at /w/src/lib.rs:3:1\n   2:     0x55d2 - no_debug_info\n";
        let frame = |function: &str, line| Frame {
            function: function.into(),
            file: "/w/src/lib.rs".into(),
            line,
        };
        assert_eq!(
            parse(text),
            [frame("mine::test", 7), frame("mine::outer", 3)]
        );
    }

    #[test]
    fn a_captured_stack_leaves_the_engine_out() {
        assert!(
            capture()
                .iter()
                .all(|frame| !frame.function.contains("nondex_core"))
        );
    }
}
