//! Paths that contain the number of the process, which differs between runs. [`NUMBER`] replaces it
//! in names, so that the same file has the same name in two runs.

use crate::hidden::Text;
use crate::protocol::state::{StateId, StateKind};

/// Placeholder for the number of the process.
const NUMBER: &str = "$PID";

/// Returns the name, valid in every run, of a part of the state. `name` is its name in the process
/// with the number `process`.
pub(super) fn name(kind: StateKind, name: &str, process: u32) -> Text {
    if !is_path(kind) {
        return Text::from(name);
    }
    let number = Text::of(format_args!("{process}"));
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut named = Text::new();
    let mut done = 0;
    for (start, number) in name.match_indices(&*number) {
        let end = start + number.len();
        if !name[..start].ends_with(is_digit) && !name[end..].starts_with(is_digit) {
            named.push_str(&name[done..start]);
            named.push_str(NUMBER);
            done = end;
        }
    }
    named.push_str(&name[done..]);
    named
}

/// Replaces the placeholder in the name of a part of the state by the number `process`.
#[expect(clippy::disallowed_methods, reason = "before the first test")]
pub(super) fn place(state: &mut StateId, process: u32) {
    if is_path(state.kind) && state.name.contains(NUMBER) {
        state.name = state.name.replace(NUMBER, &process.to_string());
    }
}

/// Returns whether the name of this kind of state is a path.
const fn is_path(kind: StateKind) -> bool {
    matches!(kind, StateKind::File | StateKind::Descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_called_after_its_process_has_the_same_name_in_every_process() {
        let named = |path: &str| name(StateKind::File, path, 42).to_string();
        assert_eq!(named("/tmp/a-42/b.42.lock"), "/tmp/a-$PID/b.$PID.lock");
        assert_eq!(named("42"), "$PID");
        assert_eq!(named("/tmp/142/420/4242"), "/tmp/142/420/4242");
        assert_eq!(&*name(StateKind::Port, "[::1]:42", 42), "[::1]:42");
    }

    #[test]
    fn a_name_is_the_path_of_the_file_in_another_process() {
        let placed = |kind, name: &str| {
            let name = name.to_owned();
            let mut state = StateId { kind, name };
            place(&mut state, 7);
            state.name
        };
        assert_eq!(placed(StateKind::File, "/tmp/a-$PID/b"), "/tmp/a-7/b");
        assert_eq!(placed(StateKind::Env, "$PID"), "$PID");
    }
}
