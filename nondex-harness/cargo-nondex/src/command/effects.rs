//! Effects of a change: the tests that it may affect.

mod between;
mod lock;
mod page;
mod purpose;
mod removed;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use self::page::ChangedText;
pub(super) use self::purpose::outside;
use self::removed::Removed;
use crate::cli::filterset::WorkspaceMembers;
use crate::project::blocks::FileLine;
use crate::report::{Line, TestReport, plural};
use crate::repository::Reach;

/// Effect of one changed line.
#[derive(Debug)]
struct Effect {
    file: Utf8PathBuf,
    line: u32,
    reach: Reach,
    /// Package that contains the line; `None` if the line affects all packages.
    package: Option<String>,
    /// Target that alone contains the line, if there is one.
    target: Option<String>,
}

/// Changed file that a test may read.
#[derive(Debug)]
pub(super) struct DataFile {
    /// Path in the repository.
    pub(super) name: String,
    /// Absolute path.
    pub(super) path: Utf8PathBuf,
    /// Whether listing its folder shows a difference, because the file is new or deleted.
    pub(super) is_listed: bool,
    /// Whether the file is deleted.
    pub(super) is_gone: bool,
    /// Packages whose build scripts may read it.
    pub(super) for_build: BTreeSet<String>,
    /// Whether the file is a source, a build file or text for people. Such a file is known to be
    /// read only by a test that opens it, unless a source names it.
    pub(super) is_note: bool,
    /// Whether a source names the file outside of documentation.
    pub(super) is_named: bool,
}

/// Effects of a change.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Root of the workspace, without symbolic links.
    root: Utf8PathBuf,
    effects: Vec<Effect>,
    /// Changed lines.
    changed: BTreeSet<FileLine>,
    /// Lines of sources that were deleted or moved to another file.
    removed: Removed,
    /// Dependencies between packages.
    graph: WorkspaceMembers,
    /// Changed files that a test may read.
    pub(super) data: Vec<DataFile>,
    /// Changed sources and pages, by their paths. Their comments may contain doctests.
    pages: BTreeMap<Utf8PathBuf, ChangedText>,
    /// Changed files, by their paths in the repository.
    files: BTreeMap<String, Presence>,
}

/// Existence of a changed file before and after the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// Exists before and after the change.
    Both,
    /// Exists only after the change.
    New,
    /// Exists only before the change.
    Gone,
}

impl Effects {
    /// Returns whether a changed file is among these opened files and folders of the repository.
    /// For a new or deleted file, opening its folder counts too.
    pub(super) fn are_opened<'a>(&self, opened: impl Iterator<Item = &'a String>) -> bool {
        let opened: BTreeSet<&str> = opened.map(String::as_str).collect();
        self.files.iter().any(|(file, presence)| {
            let folder = Utf8Path::new(file).parent().filter(|_| *presence != Presence::Both);
            opened.contains(file.as_str())
                || folder.is_some_and(|folder| opened.contains(folder.as_str()))
        })
    }

    /// Returns whether the change may affect any test, regardless of what the test ran.
    pub(super) fn is_everything(&self) -> bool {
        self.data.iter().any(|file| !file.is_note || file.is_named)
    }

    /// Returns whether the change affects a part of the test's executable.
    pub(super) fn are_in(&self, test: &TestReport) -> bool {
        let mut effects = self.effects.iter();
        self.is_everything() || effects.any(|effect| self.is_made_of(test, effect))
    }

    /// Returns a summary such as `4 changed files, 12 places in code`.
    pub(super) fn summary(&self) -> String {
        format!(
            "{}, {} in code",
            plural(self.files.len(), "changed file"),
            plural(self.effects.len(), "place")
        )
    }

    /// Returns the changed lines that affect a test that ran the lines `ran`. Lines that it ran
    /// come first, then lines that affect its whole executable.
    pub(super) fn met_by(
        &self,
        test: &TestReport,
        ran: &BTreeSet<FileLine>,
        compiled: &BTreeSet<FileLine>,
    ) -> Vec<Line> {
        let has = |lines: &BTreeSet<FileLine>, file: &Utf8PathBuf, first: u32, last: u32| {
            lines.range((file.clone(), first)..=(file.clone(), last)).next().is_some()
        };
        let met = self.effects.iter().filter(|effect| match effect.reach {
            Reach::Lines((first, last), (begin, end)) => {
                // The compiler may generate no code for the lines. Then the lines of the function
                // that contains them show whether it ran.
                if has(compiled, &effect.file, first, last) {
                    has(ran, &effect.file, first, last)
                } else {
                    has(ran, &effect.file, begin, end)
                }
            }
            Reach::Crate => self.is_made_of(test, effect),
        });
        let (far, near): (Vec<&Effect>, Vec<&Effect>) =
            met.partition(|effect| effect.reach == Reach::Crate);
        let places = |effects: Vec<&Effect>| -> BTreeSet<(String, u32)> {
            effects.into_iter().map(|effect| (self.shown(&effect.file), effect.line)).collect()
        };
        let mut near = places(near);
        near.extend(self.own_change(test));
        let far: Vec<_> = places(far).difference(&near).cloned().collect();
        near.into_iter().chain(far).map(|(file, line)| Line { file, line }).collect()
    }

    /// Returns whether the test's executable contains the crate that `effect` changes.
    fn is_made_of(&self, test: &TestReport, effect: &Effect) -> bool {
        let Some(package) = &effect.package else { return true };
        let is_target = |target: &String| {
            let own = test.binary.split_once("::");
            own.is_some_and(|(_, own)| own == target)
        };
        self.is_made_of_any(test, &BTreeSet::from([package.clone()]))
            && effect.target.as_ref().is_none_or(is_target)
    }

    /// Returns whether one of these packages is part of the test's executable, or may be.
    pub(super) fn is_made_of_any(&self, test: &TestReport, packages: &BTreeSet<String>) -> bool {
        let parts = self.graph.dependencies(&BTreeSet::from([test.package.clone()]));
        // The dependencies of a package outside of the workspace are unknown.
        parts.is_empty() || !parts.is_disjoint(packages)
    }

    /// Returns a path relative to the workspace, if it is inside.
    fn shown(&self, file: &Utf8Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).to_string()
    }

    /// Returns whether a line of a workspace file was changed. A line that moved from another file
    /// was not changed.
    pub(super) fn has_changed(&self, file: &str, line: u32) -> bool {
        self.changed.contains(&(self.root.join(file), line)) && !self.has_moved(file, line)
    }

    /// Returns whether a line of a workspace file moved there from another file.
    pub(super) fn has_moved(&self, file: &str, line: u32) -> bool {
        let text = std::fs::read_to_string(self.root.join(file));
        text.is_ok_and(|text| self.removed.contains(&text, line))
    }

    /// Returns the changed lines that were compiled and that no test ran.
    pub(super) fn uncovered(
        &self,
        compiled: &BTreeSet<FileLine>,
        ran: &BTreeSet<FileLine>,
    ) -> Vec<Line> {
        let uncovered =
            self.changed.iter().filter(|line| compiled.contains(*line) && !ran.contains(*line));
        uncovered.map(|(file, line)| Line { file: self.shown(file), line: *line }).collect()
    }
}
