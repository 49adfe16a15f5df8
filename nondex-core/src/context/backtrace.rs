//! Stacks captured by std, for processes in which no functions of libc are interposed.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "not called where functions of libc are interposed"
)]

pub(super) use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::Arc;
use std::thread;

use super::harness::has_harness;
use crate::protocol::site::{Frame, portable_path};

thread_local! {
    static IS_IN_HOOK: Cell<bool> = const { Cell::new(false) };
}

/// Runs `say`, which reports what this thread panicked with. The thread holds std's backtrace lock
/// meanwhile, so std cannot capture a stack of it.
pub fn in_hook(say: impl FnOnce()) {
    let was = IS_IN_HOOK.replace(true);
    say();
    IS_IN_HOOK.set(was);
}

/// Returns whether this thread may hold std's backtrace lock. Without a harness of this tool, any
/// panicking thread may.
fn may_have_lock() -> bool {
    IS_IN_HOOK.get() || !has_harness() && thread::panicking()
}

/// Captures the stack of this thread. Returns `None` if the thread would wait for std's backtrace
/// lock, which it holds itself.
pub(super) fn capture() -> Option<Arc<Backtrace>> {
    (!may_have_lock()).then(|| Arc::new(Backtrace::force_capture()))
}

/// Returns the frames that have a source line, innermost first, without those of the engine. Costs
/// milliseconds: it reads the debug information of the executable.
pub(super) fn frames(stack: &Backtrace) -> Vec<Frame> {
    parse(&format!("{stack:#}"))
}

/// Parses the full text of a [`Backtrace`](std::backtrace::Backtrace):
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
        let text = "   0:     0x55d0 - nondex_core::context::stack::capture\n             \
            at /w/src/stack.rs:11:5\n   1:     0x55d1 - mine::test\n             \
            at /w/src/lib.rs:7:9\n                    mine::outer\n             \
            at /w/src/lib.rs:3:1\n   2:     0x55d2 - no_debug_info\n";
        let frame = |function: &str, line| Frame {
            function: function.into(),
            file: "/w/src/lib.rs".into(),
            line,
        };
        assert_eq!(parse(text), [frame("mine::test", 7), frame("mine::outer", 3)]);
    }
}
