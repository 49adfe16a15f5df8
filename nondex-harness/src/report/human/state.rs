//! What tests share: its name, and the lines that change and meet it.

use super::diagnostic::Diagnostic;
use crate::report::schema::SharedState;

/// Shows the lines at which it is changed, and met by `test`.
pub(super) fn lines<'r>(diagnostic: &mut Diagnostic<'r>, state: &'r SharedState, test: &str) {
    if let Some(written) = &state.written {
        let label = format!("`{}` changes {} here", written.test, named(state));
        diagnostic.secondary((&written.file, written.line, None), label);
    }
    if let Some(read) = &state.read {
        let label = format!("`{test}` meets it here");
        diagnostic.secondary((&read.file, read.line, None), label);
    }
}

/// What is known of a part that a test leaves changed.
pub(super) fn left(state: &SharedState) -> String {
    let certain = match (state.confirmed, state.joint) {
        (true, false) => "with only this put back, the outcome is that of a run alone",
        (true, true) => {
            "with all that is named here put back, and nothing else, the outcome is that of a run alone"
        }
        (false, _) => "it is left changed; that it decides is not proven",
    };
    format!("{}: {certain}", named(state))
}

/// What is known of a part that two tests use at the same time.
pub(super) fn raced_for(state: &SharedState) -> String {
    let certain = match state.confirmed {
        true => "the test passes when it finds only this as if the other one had not changed it",
        false => "both use it; that it decides is not proven",
    };
    format!("{}: {certain}", named(state))
}

/// The static `NAME`, the variable `NAME`.
fn named(state: &SharedState) -> String {
    match state.kind.as_str() {
        "env" => format!("the variable `{}`", state.name),
        "cwd" => "the current folder".to_owned(),
        "umask" => "the mask of new files".to_owned(),
        "descriptor" => format!("`{}`, which stays open", state.name),
        "child" => format!("the child process `{}`", state.name),
        kind => format!("the {} `{}`", kind.replace('_', "-"), state.name),
    }
}
