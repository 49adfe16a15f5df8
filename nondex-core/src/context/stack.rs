//! The stack of a call, for the few sites that a spec asks about.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::thread;

use super::harness::has_harness;
use crate::protocol::site::{Frame, portable_path};

thread_local! {
    static IS_IN_HOOK: Cell<bool> = const { Cell::new(false) };
}

/// Lets this thread say what it panicked with: meanwhile it has std's lock of backtraces, and no
/// stack of it can be captured.
pub fn in_hook(say: impl FnOnce()) {
    let was = IS_IN_HOOK.replace(true);
    say();
    IS_IN_HOOK.set(was);
}

/// Whether this thread may have std's lock of backtraces. Without a harness of ours nobody has said
/// so.
fn may_have_lock() -> bool {
    IS_IN_HOOK.get() || !has_harness() && thread::panicking()
}

/// A stack that was captured and not read yet; none in a thread that would wait for itself.
#[derive(Debug)]
pub struct Stack(Option<Backtrace>);

impl Stack {
    /// The stack of the current thread. Costs microseconds.
    #[must_use]
    pub fn capture() -> Self {
        Stack((!may_have_lock()).then(Backtrace::force_capture))
    }

    /// Its frames: see [`capture`].
    #[must_use]
    pub fn frames(&self) -> Vec<Frame> {
        let text = self.0.as_ref().map(|stack| format!("{stack:#}"));
        text.map_or_else(Vec::new, |text| parse(&text))
    }
}

/// The frames of the current thread that have a source line, innermost first. Costs milliseconds:
/// it reads the debug information of the executable. Frames of the engine are left out; paths are
/// absolute where rustc knew them so.
pub fn capture() -> Vec<Frame> {
    Stack::capture().frames()
}

/// Reads the full text of a [`Backtrace`](std::backtrace::Backtrace):
/// `  4:     0x1234 - path::of::function` (later inlined functions have no number and address)
/// followed by `             at file:line:column`.
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
    fn no_stack_is_captured_of_a_thread_that_says_what_it_panicked_with() {
        in_hook(|| assert!(capture().is_empty()));
        assert!(Stack::capture().0.is_some());
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
