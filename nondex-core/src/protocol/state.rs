//! The state that tests of one process share: one test leaves it changed, another one uses it.

use std::path::{Path, PathBuf};

use crate::json;

use super::site::Frame;

/// Kind of a part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKind {
    /// Bytes of the executable's writable segments.
    Static,
    /// An environment variable.
    Env,
    /// The current directory.
    Cwd,
    /// The file mode creation mask.
    Umask,
    /// The disposition of a signal.
    Signal,
    /// A resource limit.
    Limit,
    /// A file or a folder below the current or the temporary directory.
    File,
    /// A port that the process listens on.
    Port,
    /// An open file, or another object with a descriptor.
    Descriptor,
    /// A child that is running or was not waited for.
    Child,
    /// A thread that is running.
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
    /// Returns whether it is a resource that a process holds outside of its memory. Nearly any
    /// other change of a test may come with such resources.
    pub const fn is_held(self) -> bool {
        matches!(self, StateKind::Descriptor | StateKind::Child | StateKind::Thread)
    }
}

/// One part of the state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId {
    /// Kind of the part.
    pub kind: StateKind,
    /// Name within its kind: a variable, a path, the number of a signal; empty if there is only
    /// one. For bytes, `0x4f010+0x18`: the offset in the image of the executable, and the number of
    /// bytes.
    pub name: String,
}

json::object!(strict StateId { kind, name });

/// Suffix of the name of bytes that are to be set to zero.
const CLEARED: &str = "=0";

impl StateId {
    /// Returns the identifier of all state of a kind. Watching it records accesses to any part of
    /// that kind.
    pub const fn every(kind: StateKind) -> Self {
        StateId { kind, name: String::new() }
    }

    /// Returns the identifier of these bytes that represents setting them to zero, instead of
    /// restoring them.
    pub fn cleared(&self) -> Self {
        StateId { kind: self.kind, name: format!("{}{CLEARED}", self.name) }
    }

    /// Returns whether the bytes are to be set to zero.
    pub fn is_cleared(&self) -> bool {
        self.name.ends_with(CLEARED)
    }

    /// Returns the name of `length` bytes at `offset`.
    pub fn name_of_bytes(offset: usize, length: usize) -> String {
        format!("{offset:#x}+{length:#x}")
    }

    /// Returns the offset and the number of bytes, for the kinds that are bytes.
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
    /// Part that changed.
    pub state: StateId,
    /// Value before the test; `None` if the part did not exist. Text, or hexadecimal digits for
    /// bytes. Long values are truncated.
    pub before: Option<String>,
    /// Value after the test.
    pub after: Option<String>,
}

json::object!(StateChange { state, before = optional, after = optional });

/// An access to a watched part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRecord {
    /// Part that was accessed.
    pub state: StateId,
    /// Whether it was changed, rather than only read.
    pub writes: bool,
    /// Stack of the access, innermost frame first.
    pub stack: Vec<Frame>,
    /// Whether this is a note that accesses to the part cannot be observed on this machine, instead
    /// of an access.
    pub unseen: bool,
    /// Whether the test's own thread made the access, rather than a thread that it started.
    pub own: bool,
    /// Whether the thread was interrupted at this access.
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

/// Returns the folder that cargo provides for the files of integration tests
/// (`CARGO_TARGET_TMPDIR`). It is next to the profile's folder, whose `deps` contains this test
/// executable. Returns `None` for other executables.
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
