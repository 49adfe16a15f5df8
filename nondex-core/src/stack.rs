//! The stack of a call, for the few sites that a spec asks about.

use crate::record::Frame;
use crate::site::portable_path;

/// The frames of the current thread that have a source line, innermost first. Costs milliseconds: it reads the debug
/// information of the executable. Frames of the engine are left out; paths are absolute where rustc knew them so.
pub fn capture() -> Vec<Frame> {
    parse(&format!("{:#}", std::backtrace::Backtrace::force_capture()))
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
        !frame.function.starts_with("nondex_core::") && !frame.function.contains("<nondex_core::")
    });
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_of_this_test_names_this_test() {
        let text = "   0: nondex_core::stack::capture\n             at ./src/stack.rs:11:5\n   \
                    1: mine::test\n             at ./src/lib.rs:7:9\n   2: no_debug_info\n";
        assert_eq!(
            parse(text),
            [Frame {
                function: "mine::test".into(),
                file: "src/lib.rs".into(),
                line: 7
            }]
        );
    }
}
