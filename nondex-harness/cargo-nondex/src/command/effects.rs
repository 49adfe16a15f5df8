//! What a change acts on.

mod between;
mod kind;
mod lock;
mod page;
mod removed;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

pub(super) use self::kind::outside;
use self::page::Page;
use self::removed::Removed;
use crate::cli::filterset::Workspace;
use crate::project::blocks::SourceLine;
use crate::report::TestReport;
use crate::report::listing::plural;
use crate::report::schema::Line;
use crate::repository::Reach;

/// What one changed line acts on.
#[derive(Debug)]
struct Effect {
    file: Utf8PathBuf,
    line: u32,
    reach: Reach,
    /// The package that it is in; none for what acts on all.
    package: Option<String>,
    /// The target that it is in alone, if it is.
    target: Option<String>,
}

/// A changed file, which a test may read.
#[derive(Debug)]
pub(super) struct Data {
    /// Its path in the repository.
    pub(super) name: String,
    /// Its path.
    pub(super) path: Utf8PathBuf,
    /// Whether who lists its folder sees something else: it was not there before, or is not now.
    pub(super) is_listed: bool,
    /// Whether it is not there now.
    pub(super) is_gone: bool,
    /// The packages whose build scripts may read it.
    pub(super) for_build: BTreeSet<String>,
    /// Whether it is for people. One that no source names is read by nobody who does not open it.
    pub(super) is_note: bool,
    /// Whether a source names it, but for where it is documentation.
    pub(super) is_named: bool,
}

/// What a change acts on.
#[derive(Debug, Default)]
pub(super) struct Effects {
    root: Utf8PathBuf,
    effects: Vec<Effect>,
    changed: BTreeSet<SourceLine>,
    /// Lines of sources that are gone, or moved to another file.
    removed: Removed,
    /// Which packages depend on which.
    graph: Workspace,
    /// Changed files, which a test may read.
    pub(super) data: Vec<Data>,
    /// Changed sources and pages, by their paths: doctests stand in comments of them.
    pages: BTreeMap<Utf8PathBuf, Page>,
    /// What was changed, by its path in the repository.
    files: BTreeMap<String, Presence>,
}

/// Where a changed file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// Before the change and after it.
    Both,
    New,
    Gone,
}

impl Effects {
    /// Whether what was changed was opened, of these files and folders of the repository: of what
    /// is new or gone, also its folder.
    pub(super) fn are_opened<'a>(&self, opened: impl Iterator<Item = &'a String>) -> bool {
        let opened: BTreeSet<&str> = opened.map(String::as_str).collect();
        self.files.iter().any(|(file, presence)| {
            let folder = Utf8Path::new(file).parent().filter(|_| *presence != Presence::Both);
            opened.contains(file.as_str())
                || folder.is_some_and(|folder| opened.contains(folder.as_str()))
        })
    }

    /// Whether all that is different may act on a test, whatever it ran.
    pub(super) fn is_everything(&self) -> bool {
        self.data.iter().any(|file| !file.is_note || file.is_named)
    }

    /// Whether something that is different is a part of the executable of a test.
    pub(super) fn are_in(&self, test: &TestReport) -> bool {
        let mut effects = self.effects.iter();
        self.is_everything() || effects.any(|effect| self.is_made_of(test, effect))
    }

    /// `4 changed files, 12 places in code`.
    pub(super) fn summary(&self) -> String {
        format!(
            "{}, {} in code",
            plural(self.files.len(), "changed file"),
            plural(self.effects.len(), "place")
        )
    }

    /// The changed lines that a test met, of those that act on it, when it ran these: first those
    /// that it ran, then those that act on its whole executable.
    pub(super) fn met_by(
        &self,
        test: &TestReport,
        ran: &BTreeSet<SourceLine>,
        compiled: &BTreeSet<SourceLine>,
    ) -> Vec<Line> {
        let has = |lines: &BTreeSet<SourceLine>, file: &Utf8PathBuf, first: u32, last: u32| {
            lines.range((file.clone(), first)..=(file.clone(), last)).next().is_some()
        };
        let met = self.effects.iter().filter(|effect| match effect.reach {
            Reach::Lines((first, last), (begin, end)) => {
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

    /// Whether the executable of a test contains the crate of what affects a whole crate.
    fn is_made_of(&self, test: &TestReport, effect: &Effect) -> bool {
        let Some(package) = &effect.package else { return true };
        let parts = self.graph.dependencies(&BTreeSet::from([test.package.clone()]));
        // Nothing is known of a package that is no member.
        if !parts.is_empty() && !parts.contains(package) {
            return false;
        }
        effect.target.as_ref().is_none_or(|target| {
            let own = test.binary.split_once("::");
            own.is_some_and(|(_, own)| own == target)
        })
    }

    /// Whether the executable of a test is made of one of these packages, or may be.
    pub(super) fn is_made_of_any(&self, test: &TestReport, packages: &BTreeSet<String>) -> bool {
        let own = BTreeSet::from([test.package.clone()]);
        let parts = self.graph.dependencies(&own);
        parts.is_empty() || !parts.is_disjoint(packages)
    }

    fn shown(&self, file: &Utf8Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).to_string()
    }

    /// Whether a line, of a file in the workspace, was changed. One that only moved there from
    /// another file was not.
    pub(super) fn has_changed(&self, file: &str, line: u32) -> bool {
        self.changed.contains(&(self.root.join(file), line)) && !self.has_moved(file, line)
    }

    /// Whether a line, of a file in the workspace, moved there from another file.
    pub(super) fn has_moved(&self, file: &str, line: u32) -> bool {
        let text = std::fs::read_to_string(self.root.join(file));
        text.is_ok_and(|text| self.removed.contains(&text, line))
    }

    /// The changed lines that were compiled and that no test ran.
    pub(super) fn uncovered(
        &self,
        compiled: &BTreeSet<SourceLine>,
        ran: &BTreeSet<SourceLine>,
    ) -> Vec<Line> {
        let uncovered =
            self.changed.iter().filter(|line| compiled.contains(*line) && !ran.contains(*line));
        uncovered.map(|(file, line)| Line { file: self.shown(file), line: *line }).collect()
    }
}
