//! State that tests share: its name, and the lines that change and use it.

use super::diagnostic::Diagnostic;
use crate::report::{SharedState, TestReport, first};

/// Maximum number of tests that are named as users of a part of the state.
const NAMED: usize = 3;

/// Marks the lines at which the state is changed, and used by `test`.
pub(super) fn lines(diagnostic: &mut Diagnostic<'_>, state: &SharedState, test: &str) {
    if let Some(written) = &state.written {
        let label = format!("`{}` changes {} here", written.test, named(&state.kind, &state.name));
        diagnostic.secondary((&written.file, written.line, None), label);
    }
    if let Some(read) = &state.read {
        let label = format!("`{test}` uses it here");
        diagnostic.secondary((&read.file, read.line, None), label);
    }
}

/// Describes a part of the state that a test leaves changed.
pub(super) fn left(state: &SharedState) -> String {
    let certain = match (state.confirmed, state.joint) {
        (true, false) => "restoring only this gives the outcome of a run alone",
        (true, true) => "restoring only the state named here gives the outcome of a run alone",
        (false, _) => "it is left changed, but not proven to decide the outcome",
    };
    format!("{}: {certain}", named(&state.kind, &state.name))
}

/// Describes a part of the state that two tests use concurrently.
pub(super) fn raced_for(state: &SharedState) -> String {
    let certain = if state.confirmed {
        "the test passes when only this has its value from before the other test"
    } else {
        "both use it, but it is not proven to decide the outcome"
    };
    format!("{}: {certain}", named(&state.kind, &state.name))
}

/// Describes each part of the state that a test leaves changed and others use, although no test is
/// known to fail because of it.
pub(super) fn leaves(test: &TestReport) -> impl Iterator<Item = String> {
    test.leaves.iter().map(|left| {
        format!(
            "left changed: {} leaves {} changed, which {} {}; none is known to fail because of it",
            test.id,
            named(&left.kind, &left.name),
            first(&left.users, NAMED),
            if left.users.len() == 1 { "uses" } else { "use" },
        )
    })
}

/// Describes a part of the state: the static `NAME`, the variable `NAME`.
pub fn named(kind: &str, name: &str) -> String {
    match kind {
        "env" => format!("the variable `{name}`"),
        "cwd" => "the current folder".to_owned(),
        "umask" => "the umask".to_owned(),
        "descriptor" => format!("an open descriptor of `{name}`"),
        "child" => format!("the child process `{name}`"),
        kind => format!("the {} `{name}`", kind.replace('_', "-")),
    }
}
