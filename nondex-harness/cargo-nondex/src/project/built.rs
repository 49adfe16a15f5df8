//! A project whose tests are built.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use cargo_metadata::Metadata;

use super::doctest::Folder;
use super::drawn::Drawn;
use super::folder::BuildFolder;
use super::suite::Suite;
use crate::exit_code::ExitCode;

/// A project whose tests are built and listed.
#[derive(Debug)]
pub struct Project {
    /// Every test executable with its tests, in the order of their ids.
    pub suites: Vec<Suite>,
    /// The project's target directory; ours is `nondex` in it.
    pub target_dir: Utf8PathBuf,
    /// The root of the workspace.
    pub workspace_root: Utf8PathBuf,
    /// The version text of the toolchain (`rustc -vV`).
    pub toolchain: String,
    /// What cargo knows of the workspace, without its dependencies.
    pub metadata: Metadata,
    /// What the user should know of this build, a sentence each: what is not covered, and why.
    pub notes: Vec<String>,
    /// The same of binaries whose tests run on the host's own std, by id.
    pub(super) on_host: BTreeMap<String, String>,
    /// Whether the order of the runtime's maps and sets is not known to be that of this
    /// toolchain's std, as one of the notes reports.
    pub is_order_unknown: bool,
    /// Doctests that do not compile, by id; a binary's id means all of them. Rustdoc's messages
    /// have been printed.
    pub unbuilt: Vec<String>,
    /// The build scripts and proc macros that took random bytes, or read what no seed decides, when
    /// they were last run.
    pub drawn: Vec<Drawn>,
    /// What else was built that tests may start or load: programs and dynamic libraries.
    pub(super) needed: Vec<Utf8PathBuf>,
    /// Where the doctests are until the end.
    pub(super) _doctests: Option<Folder>,
    /// Where the executables are, which nobody removes until the end.
    pub(super) folder: BuildFolder,
}

impl Project {
    /// What the user should know of this build who runs tests of these binaries.
    pub fn notes_on<'b>(&self, binaries: impl IntoIterator<Item = &'b str>) -> Vec<String> {
        self.notes.iter().chain(of(&self.on_host, binaries)).cloned().collect()
    }

    /// Exit code of a command that ran all tests that were built: not success when some could not
    /// be built.
    pub const fn exit_code(&self) -> ExitCode {
        if self.unbuilt.is_empty() { ExitCode::Ok } else { ExitCode::BuildFailed }
    }
}

/// Those of these notes that are on one of these binaries.
fn of<'n, 'b>(
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
        let on = |binaries: &[&'static str]| of(&notes, binaries.iter().copied()).count();
        assert_eq!([on(&[]), on(&["lib"]), on(&["lib", "derive", "derive"])], [0, 0, 1]);
    }
}
