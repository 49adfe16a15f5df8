//! Project whose tests are built.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use cargo_metadata::Metadata;

use super::drawn::Drawn;
use super::folder::BuildFolder;
use super::scratch::Scratch;
use super::suite::Suite;
use crate::exit_code::ExitCode;

/// Project whose tests are built and listed.
#[derive(Debug)]
pub struct Project {
    /// All test executables with their tests, sorted by id.
    pub suites: Vec<Suite>,
    /// Target directory of the project. This tool's folder in it is `nondex`.
    pub target_dir: Utf8PathBuf,
    /// Root of the workspace.
    pub workspace_root: Utf8PathBuf,
    /// Version text of the toolchain (`rustc -vV`).
    pub toolchain: String,
    /// Cargo's metadata of the workspace, without its dependencies.
    pub metadata: Metadata,
    /// Notes for the user on this build, one sentence each: what is not covered, and why.
    pub notes: Vec<String>,
    /// Notes on binaries whose tests run on the host's own std, by id.
    pub(super) on_host: BTreeMap<String, String>,
    /// Whether the runtime's maps and sets may have another order than those of this toolchain's
    /// std. One of the notes gives the reason.
    pub is_order_unknown: bool,
    /// Ids of doctests that do not compile. The id of a binary represents all of its doctests.
    /// Rustdoc's messages have been printed.
    pub unbuilt: Vec<String>,
    /// Build scripts and proc macros that took random bytes, or read data that no seed controls,
    /// when they last ran.
    pub drawn: Vec<Drawn>,
    /// Other built files that tests may start or load: programs and dynamic libraries.
    pub(super) needed: Vec<Utf8PathBuf>,
    /// Folder of the doctests, kept as long as the project.
    pub(super) _doctests: Option<Scratch>,
    /// Folder of the executables, locked against removal as long as the project exists.
    pub(super) folder: BuildFolder,
}

impl Project {
    /// Returns the notes for a user who runs tests of these binaries.
    pub fn notes_on<'b>(&self, binaries: impl IntoIterator<Item = &'b str>) -> Vec<String> {
        self.notes.iter().chain(notes_of(&self.on_host, binaries)).cloned().collect()
    }

    /// Returns the exit code of a command that ran all built tests. It is a failure if some tests
    /// could not be built.
    pub const fn exit_code(&self) -> ExitCode {
        if self.unbuilt.is_empty() { ExitCode::Ok } else { ExitCode::BuildFailed }
    }
}

/// Returns the notes on these binaries.
fn notes_of<'n, 'b>(
    notes: &'n BTreeMap<String, String>,
    binaries: impl IntoIterator<Item = &'b str>,
) -> impl Iterator<Item = &'n String> {
    let binaries: BTreeSet<&str> = binaries.into_iter().collect();
    notes.iter().filter(move |(id, _)| binaries.contains(id.as_str())).map(|(_, note)| note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_noted_on_a_binary_whose_tests_do_not_run() {
        let notes = ["derive", "macros"].map(|id| (id.to_owned(), format!("`{id}`")));
        let notes = BTreeMap::from(notes);
        let on = |binaries: &[&'static str]| notes_of(&notes, binaries.iter().copied()).count();
        assert_eq!([on(&[]), on(&["lib"]), on(&["lib", "derive", "derive"])], [0, 0, 1]);
    }
}
