//! What tests of one process share: parts of its state that one test leaves changed and another one
//! uses.

use std::path::{Path, PathBuf};

use crate::json;

use super::site::Frame;

/// Which kind of state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKind {
    /// Bytes of the executable's writable segments.
    Static,
    /// A variable of the environment.
    Env,
    /// The current directory.
    Cwd,
    /// The mask of the permissions of new files.
    Umask,
    /// What is done about a signal.
    Signal,
    /// A limit of a resource.
    Limit,
    /// A file or a folder below the current or the temporary directory.
    File,
    /// A port that the process listens on.
    Port,
    /// An open file, or something else that has a descriptor.
    Descriptor,
    /// A child that has not ended, or was not waited for.
    Child,
    /// A thread that has not ended.
    Thread,
}

json::words!(StateKind {
    Static = "static",
    Env = "env",
    Cwd = "cwd",
    Umask = "umask",
    Signal = "signal",
    Limit = "limit",
    File = "file",
    Port = "port",
    Descriptor = "descriptor",
    Child = "child",
    Thread = "thread",
});

impl StateKind {
    /// Whether it is what a process holds besides its memory. Nearly everything else that a test
    /// leaves may come with some of it.
    pub const fn is_held(self) -> bool {
        matches!(self, StateKind::Descriptor | StateKind::Child | StateKind::Thread)
    }
}

/// One part of the state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId {
    /// Its kind.
    pub kind: StateKind,
    /// Its name among its kind: a variable, a path, a signal's number; empty where there is only
    /// one. Of bytes: `0x4f010+0x18`, the offset in the image of the executable and how many there
    /// are.
    pub name: String,
}

json::object!(strict StateId { kind, name });

/// What the name of bytes ends with that are to be made zeros.
const CLEARED: &str = "=0";

impl StateId {
    /// All that there is of a kind: what is watched so is every access to any of it.
    pub const fn every(kind: StateKind) -> Self {
        StateId { kind, name: String::new() }
    }

    /// These bytes, to be made zeros instead of what they were before.
    pub fn cleared(&self) -> Self {
        StateId { kind: self.kind, name: format!("{}{CLEARED}", self.name) }
    }

    /// Whether the bytes are to be made zeros.
    pub fn is_cleared(&self) -> bool {
        self.name.ends_with(CLEARED)
    }

    /// The name of a number of bytes from `offset` on.
    pub fn name_of_bytes(offset: usize, length: usize) -> String {
        format!("{offset:#x}+{length:#x}")
    }

    /// The offset and the number of bytes, for the kinds that are bytes.
    pub fn bytes(&self) -> Option<(usize, usize)> {
        let name = self.name.strip_suffix(CLEARED).unwrap_or(&self.name);
        let (offset, length) = name.strip_prefix("0x")?.split_once("+0x")?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some((number(offset)?, number(length)?))
    }
}

/// A part of the state that a test left changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// Which part.
    pub state: StateId,
    /// What it was before the test, `None` when it was not there: text where it is text,
    /// hexadecimal digits of bytes. Cut when long.
    pub before: Option<String>,
    /// What it was after the test.
    pub after: Option<String>,
}

json::object!(StateChange { state, before = optional, after = optional });

/// An access to a part of the state that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRecord {
    /// Which part.
    pub state: StateId,
    /// Whether it was changed, not only read.
    pub writes: bool,
    /// The stack, innermost frame first.
    pub stack: Vec<Frame>,
    /// Whether accesses to it cannot be seen on this machine: then this is that note, and no
    /// access.
    pub unseen: bool,
    /// Whether the test's own thread made it, and none that it started.
    pub own: bool,
    /// Whether that thread was stopped at it.
    pub interrupted: bool,
}

json::object!(AccessRecord {
    state,
    writes,
    stack = optional,
    unseen = optional,
    own = optional,
    interrupted = optional,
});

/// The folder that cargo gives integration tests for their files (`CARGO_TARGET_TMPDIR`): it is
/// next to the profile's folder that has this test executable in its `deps`. `None` of an
/// executable outside of it.
pub fn folder_for_tests(executable: &Path) -> Option<PathBuf> {
    let deps = executable.parent()?;
    let is_cargos = deps.file_name().is_some_and(|name| name == "deps");
    Some(deps.ancestors().nth(2).filter(|_| is_cargos)?.join("tmp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_bytes_says_where_they_are() {
        let state = |name: &str| StateId { kind: StateKind::Static, name: name.to_owned() };
        let name = StateId::name_of_bytes(0x4f010, 24);
        assert_eq!(name, "0x4f010+0x18");
        assert_eq!(state(&name).bytes(), Some((0x4f010, 24)));
        let cleared = state(&name).cleared();
        assert!(cleared.is_cleared() && !state(&name).is_cleared());
        assert_eq!(cleared.bytes(), Some((0x4f010, 24)));
        for other in ["", "4f010+18", "0x4f010", "0x4f010+18", "0xg+0x1"] {
            assert_eq!(state(other).bytes(), None, "{other}");
        }
    }

    #[test]
    fn only_an_executable_in_cargos_folder_has_a_folder_for_tests() {
        let of = |executable| folder_for_tests(Path::new(executable));
        let expected = Some(PathBuf::from("/project/target/tmp"));
        assert_eq!(of("/project/target/debug/deps/it-1f"), expected);
        assert_eq!(of("/project/target/tmp/folder/it"), None);
        assert_eq!(of("it"), None);
    }
}
