//! Formats the schedule of a replay as text, one operation per line.

use std::fmt::Write;

use nondex_core::{Trace, TracedOperation};

use crate::report::{Workspace, trace};

/// Maximum number of recorded operations. The last ones are kept.
pub(super) const MOST: u64 = 1_000_000;

/// Returns the operations in execution order. Each line has the virtual time in microseconds, the
/// thread, the operation, its object, and the nearest line of the user's code.
pub(super) fn text(trace: &Trace, workspace: &Workspace) -> String {
    let mut text = String::from("schedule: µs, thread, operation, object, line\n");
    if trace.skipped > 0 {
        let _ = writeln!(text, "    {} operations are left out", trace.skipped);
    }
    let mut objects: Vec<u64> = Vec::new();
    for operation in &trace.operations {
        let thread = trace::thread(trace, operation.thread);
        let path = thread.map_or("", |thread| &thread.path);
        let name = thread
            .and_then(|thread| thread.name.as_deref())
            .map_or_else(String::new, |name| format!(" `{name}`"));
        let (whole, rest) = (operation.time / 1_000, operation.time % 1_000);
        let _ = write!(text, "{whole:>8}.{rest:03}  {path}{name}: {}", operation.operation);
        if let Some(object) = object(trace, operation, &mut objects) {
            let _ = write!(text, " {object}");
        }
        match (operation.found, operation.left) {
            (Some(found), Some(left)) => {
                let _ = write!(text, ", {found} -> {left}");
            }
            (Some(value), None) | (None, Some(value)) => {
                let _ = write!(text, ", {value}");
            }
            (None, None) => {}
        }
        if let Some(length) = operation.length {
            let _ = write!(text, ", {length} ns");
        }
        let frames = trace::frames(trace, operation);
        if let Some((file, line)) = workspace.nearest(frames) {
            let _ = write!(text, ", at {file}:{line}");
        }
        text.push('\n');
    }
    text
}

/// Returns the object of an operation. Memory locations are numbered in the order of their first
/// use.
fn object(trace: &Trace, operation: &TracedOperation, known: &mut Vec<u64>) -> Option<String> {
    let other = operation.other;
    if let Some(other) = other.and_then(|other| trace::thread(trace, other)) {
        return Some(format!("thread {}", other.path));
    }
    if let Some(name) = trace::name(trace, operation) {
        return Some(name.to_owned());
    }
    let address = operation.address?;
    let number = known.iter().position(|known| *known == address).unwrap_or_else(|| {
        known.push(address);
        known.len() - 1
    });
    Some(format!("#{}", number + 1))
}

#[cfg(test)]
mod tests {
    use nondex_core::{TracedStack, TracedThread};

    use super::*;

    #[test]
    fn each_operation_is_a_line_with_its_time_thread_object_and_values() {
        let operation = |operation: &str, time| TracedOperation {
            operation: operation.to_owned(),
            time,
            ..TracedOperation::default()
        };
        let trace = Trace {
            threads: vec![TracedThread { path: "0.1".to_owned(), name: Some("worker".to_owned()) }],
            stacks: vec![TracedStack::default()],
            names: vec!["file:config".to_owned()],
            operations: vec![
                TracedOperation {
                    address: Some(0x10),
                    found: Some(1),
                    left: Some(2),
                    ..operation("fetch_add", 1_200)
                },
                TracedOperation { name: Some(0), ..operation("change", 3_200) },
                TracedOperation { length: Some(300), ..operation("held back", 3_200) },
                TracedOperation { address: Some(0x10), ..operation("futex wait", 12_003_400) },
            ],
            skipped: 2,
        };
        let workspace = Workspace::new("/nowhere".into());
        assert_eq!(
            text(&trace, &workspace),
            "schedule: µs, thread, operation, object, line\n    \
                 2 operations are left out\n       \
                    1.200  0.1 `worker`: fetch_add #1, 1 -> 2\n       \
                    3.200  0.1 `worker`: change file:config\n       \
                    3.200  0.1 `worker`: held back, 300 ns\n   \
                12003.400  0.1 `worker`: futex wait #1\n"
        );
    }
}
