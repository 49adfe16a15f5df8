//! What a change acts on.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Metadata, TargetKind};

use crate::cli::filterset::Workspace;
use crate::error::Result;
use crate::project::coverage::SourceLine;
use crate::project::doctest::{block, same};
use crate::report::TestReport;
use crate::report::schema::Line;
use crate::repository::{
    Additions, FileChange, Git, Reach, Snapshots, Tracked, additions, since, tracked,
};

/// What one changed line acts on.
#[derive(Debug)]
struct Effect {
    file: Utf8PathBuf,
    line: u32,
    reach: Reach,
    /// The package that it is in; none for what acts on all.
    package: Option<String>,
}

/// What a file is for.
#[derive(Debug)]
enum Kind {
    /// It decides how the package is built, or everything where there is none: a manifest, a build script, a procedural macro.
    Build(Option<String>),
    /// It is a source of the package.
    Code(Option<String>),
    /// A test may read it.
    Data,
    /// It is there to be read by people.
    Note,
}

impl Kind {
    /// The kind of a file, by its path and its path in the repository.
    fn of(path: &Utf8Path, file: &str, metadata: &Metadata) -> Self {
        let packages = metadata.workspace_packages().into_iter();
        let folder = |package: &&cargo_metadata::Package| {
            package.manifest_path.parent().map(Utf8Path::to_owned)
        };
        let package = packages
            .filter(|package| folder(package).is_some_and(|folder| path.starts_with(folder)))
            .max_by_key(|package| package.manifest_path.as_str().len());
        let name = path.file_name().unwrap_or_default();
        let of_package = package.map(|package| package.name.to_string());
        let is_for_all = ["Cargo.lock", "rust-toolchain", "rust-toolchain.toml"].contains(&name)
            || path.components().any(|part| part.as_str() == ".cargo")
            || name == "Cargo.toml" && package.is_none_or(|package| package.manifest_path != path);
        let is_note = path.extension() == Some("md")
            || name.starts_with(['.', '_'])
            || name.starts_with("LICENSE")
            || file.starts_with('.');
        if is_for_all {
            Kind::Build(None)
        } else if name == "Cargo.toml" {
            Kind::Build(of_package)
        } else if path.extension() == Some("rs") {
            let mut targets = package.iter().flat_map(|package| &package.targets);
            let runs_at_build = |target: &cargo_metadata::Target| {
                let kinds = [TargetKind::ProcMacro, TargetKind::CustomBuild];
                target.kind.iter().any(|kind| kinds.contains(kind))
                    && (target.src_path == path || target.is_proc_macro())
            };
            match targets.any(runs_at_build) {
                true => Kind::Build(of_package),
                false => Kind::Code(of_package),
            }
        } else if is_note {
            Kind::Note
        } else {
            Kind::Data
        }
    }
}

/// A changed file that is no code, and that a test may read.
#[derive(Debug)]
pub(super) struct Data {
    /// Its path in the repository.
    pub(super) name: String,
    /// Its path.
    pub(super) path: Utf8PathBuf,
    /// Whether it was not there before.
    pub(super) is_new: bool,
    /// Whether a build script may read it.
    pub(super) is_for_build: bool,
}

/// What a change acts on.
#[derive(Debug)]
pub(super) struct Effects {
    root: Utf8PathBuf,
    effects: Vec<Effect>,
    changed: BTreeSet<SourceLine>,
    /// Which packages depend on which.
    graph: Workspace,
    /// Changed files that are no code, and that a test may read.
    pub(super) data: Vec<Data>,
    /// The texts of changed sources and pages before the change and after it, by their paths: doctests stand in comments of them.
    texts: BTreeMap<Utf8PathBuf, [String; 2]>,
    files: usize,
}

impl Effects {
    /// None yet of a change in so many files.
    fn none(metadata: &Metadata, files: usize) -> Self {
        Effects {
            root: metadata.workspace_root.clone(),
            effects: Vec::new(),
            changed: BTreeSet::new(),
            graph: Workspace::new(metadata),
            data: Vec::new(),
            texts: BTreeMap::new(),
            files,
        }
    }

    /// What is different between a commit and the working tree acts on. `metadata` has the graph of dependencies.
    pub(super) fn of(git: &Git, base: &str, metadata: &Metadata) -> Result<Self> {
        let changes = since(git, base)?;
        let mut found = Effects::none(metadata, changes.files.len());
        for (file, change) in &changes.files {
            let path = git.root().join(file);
            let changed = change.lines.iter().map(|line| (path.clone(), *line));
            found.changed.extend(changed);
            found.add(&path, file, change, metadata);
            if let Some("rs" | "md") = path.extension() {
                let before = git.text(base, file).unwrap_or_default();
                let after = std::fs::read_to_string(&path).unwrap_or_default();
                found.texts.insert(path, [before, after]);
            }
        }
        for data in &mut found.data {
            data.is_new = git.text(base, &data.name).is_none();
        }
        Ok(found)
    }

    /// What is different between a tree in which tests ran and another one acts on, as lines of the one in which they ran: whoever ran none of
    /// them runs the same code in both.
    pub(super) fn behind(
        snapshots: &Snapshots,
        ran: &str,
        other: &str,
        metadata: &Metadata,
    ) -> Result<Self> {
        let forth = snapshots.changes(ran, other)?;
        let back = snapshots.changes(other, ran)?;
        let mut found = Effects::none(metadata, back.files.len());
        let nothing = FileChange::default();
        for (file, change) in &back.files {
            let path = snapshots.git().root().join(file);
            let kind = Kind::of(&path, file, metadata);
            let Kind::Code(package) = kind else {
                let is_named = || {
                    let name = [path.file_name().unwrap_or_default().to_owned()];
                    snapshots.mentions(ran, &name) || snapshots.mentions(other, &name)
                };
                match kind {
                    Kind::Build(package) => found.distant(&path, 1, package),
                    Kind::Data => found.data(&path, file, metadata),
                    Kind::Note if is_named() => found.data(&path, file, metadata),
                    Kind::Note | Kind::Code(_) => {}
                }
                continue;
            };
            let [before, after] = [ran, other].map(|tree| snapshots.text(tree, file));
            let new = forth.files.get(file).unwrap_or(&nothing);
            let gains = after.map(|text| additions(&text, &new.lines));
            let losses = before.as_ref().map(|text| additions(text, &change.lines));
            let is_executable = path.parent().and_then(Utf8Path::file_name) == Some("tests");
            if let Some(text) = before {
                let deletions = change.deletions.iter().map(|line| BTreeSet::from([*line]));
                let none = BTreeSet::new();
                let inside = deletions
                    .flat_map(|line| tracked(&text, &none, &none, &line))
                    // What was added elsewhere is judged by what it is.
                    .filter(|tracked| tracked.reach != Reach::Crate);
                let changed = tracked(&text, &change.lines, &change.added, &none);
                for Tracked { line, reach } in changed.into_iter().chain(inside) {
                    found.effect(&path, line, reach, package.clone());
                }
            } else if is_executable {
                // It is an executable of its own.
                continue;
            }
            let [gains, losses] = [gains, losses].map(Option::unwrap_or_default);
            let only = |of: &Additions, not: &Additions| {
                let names = of.names.difference(&not.names);
                names.cloned().collect::<Vec<String>>()
            };
            if gains.is_distant
                || losses.is_distant
                || snapshots.mentions(ran, &only(&gains, &losses))
                || snapshots.mentions(other, &only(&losses, &gains))
            {
                found.distant(&path, 1, package);
            } else if gains.has_imports || losses.has_imports {
                found.effect(&path, 1, Reach::File, package);
            }
        }
        Ok(found)
    }

    /// Whether all that is different may act on a test, whatever it ran.
    pub(super) fn is_everything(&self) -> bool {
        !self.data.is_empty()
    }

    /// Whether something that is different is a part of the executable of a test.
    pub(super) fn are_in(&self, test: &TestReport) -> bool {
        let mut effects = self.effects.iter();
        self.is_everything() || effects.any(|effect| self.is_made_of(test, effect))
    }

    fn effect(&mut self, file: &Utf8Path, line: u32, reach: Reach, package: Option<String>) {
        self.effects.push(Effect {
            file: file.to_owned(),
            line,
            reach,
            package,
        });
    }

    fn data(&mut self, path: &Utf8Path, file: &str, metadata: &Metadata) {
        let has_script = |package: &&cargo_metadata::Package| {
            let mut targets = package.targets.iter();
            targets.any(|target| target.kind.contains(&TargetKind::CustomBuild))
        };
        let packages = metadata.workspace_packages().into_iter();
        let mut folders = packages
            .filter(has_script)
            .filter_map(|package| package.manifest_path.parent());
        self.data.push(Data {
            name: file.to_owned(),
            path: path.to_owned(),
            is_new: false,
            is_for_build: folders.any(|folder| path.starts_with(folder)),
        });
    }

    fn distant(&mut self, file: &Utf8Path, line: u32, package: Option<String>) {
        self.effect(file, line, Reach::Crate, package);
    }

    fn add(&mut self, path: &Utf8Path, file: &str, change: &FileChange, metadata: &Metadata) {
        let first = change.lines.iter().chain(&change.deletions).min().copied();
        let first = first.unwrap_or(1);
        match Kind::of(path, file, metadata) {
            Kind::Build(package) => self.distant(path, first, package),
            Kind::Code(package) => match std::fs::read_to_string(path) {
                Ok(text) => {
                    for Tracked { line, reach } in
                        tracked(&text, &change.lines, &change.added, &change.deletions)
                    {
                        self.effect(path, line, reach, package.clone());
                    }
                }
                Err(_) => self.distant(path, first, package),
            },
            Kind::Data => self.data(path, file, metadata),
            Kind::Note => {}
        }
    }

    /// `4 changed files, 12 places in code`.
    pub(super) fn summary(&self) -> String {
        format!(
            "{} changed files, {} places in code",
            self.files,
            self.effects.len()
        )
    }

    /// The changed lines that a test met, of those that act on it, when it ran these.
    pub(super) fn met_by(
        &self,
        test: &TestReport,
        ran: &BTreeSet<SourceLine>,
        compiled: &BTreeSet<SourceLine>,
    ) -> Vec<Line> {
        let has = |lines: &BTreeSet<SourceLine>, file: &Utf8PathBuf, first: u32, last: u32| {
            let mut inside = lines.range((file.clone(), first)..=(file.clone(), last));
            inside.next().is_some()
        };
        let met = self.effects.iter().filter(|effect| match effect.reach {
            Reach::Lines(first, last) => has(ran, &effect.file, first, last),
            Reach::Statement((first, last), (body, end)) => {
                match has(compiled, &effect.file, first, last) {
                    true => has(ran, &effect.file, first, last),
                    false => has(ran, &effect.file, body, end),
                }
            }
            Reach::File => has(ran, &effect.file, 0, u32::MAX),
            Reach::Crate => self.is_made_of(test, effect),
        });
        let lines: BTreeSet<(String, u32)> = met
            .map(|effect| (self.shown(&effect.file), effect.line))
            .chain(self.own_change(test))
            .collect();
        lines
            .into_iter()
            .map(|(file, line)| Line { file, line })
            .collect()
    }

    /// The source of a doctest that is in a changed file, with its line, and with its text before the change and after it.
    fn doctest(&self, test: &TestReport) -> Option<(&Utf8PathBuf, u32, &[String; 2])> {
        let is_doctest = test.binary.contains("::doc/");
        let (file, line) = test.file.as_ref().zip(test.line).filter(|_| is_doctest)?;
        let path = self.root.join(file);
        let (path, texts) = self.texts.get_key_value(&path)?;
        Some((path, line, texts))
    }

    /// Where a doctest is that is not as it was.
    fn own_change(&self, test: &TestReport) -> Option<(String, u32)> {
        let (path, line, [before, after]) = self.doctest(test)?;
        let is_same = !same(before, &block(after, line)).is_empty();
        (!is_same).then(|| (self.shown(path), line))
    }

    /// The names that a test may have had before the change: the name of a doctest has its line.
    pub(super) fn names_before(&self, test: &TestReport) -> Vec<String> {
        let moved = self.doctest(test).map(|(_, line, [before, after])| {
            let lines = same(before, &block(after, line));
            let name = |before: u32| {
                let [before, after] = [before, line].map(|line| format!("(line {line})"));
                test.name.replace(&after, &before)
            };
            lines.into_iter().map(name).collect()
        });
        moved.unwrap_or_else(|| vec![test.name.clone()])
    }

    /// Whether a page was changed that may be a part of the documentation of a crate, and not the one that a doctest is known to be in.
    pub(super) fn may_have_doctest(&self, test: &TestReport) -> bool {
        let is_page = |path: &Utf8PathBuf| path.extension() == Some("md");
        test.binary.contains("::doc/")
            && self.doctest(test).is_none()
            && self.texts.keys().any(is_page)
    }

    /// Whether the executable of a test is made of the crate of what acts at a distance.
    fn is_made_of(&self, test: &TestReport, effect: &Effect) -> bool {
        let Some(package) = &effect.package else {
            return true;
        };
        let parts = self
            .graph
            .dependencies(&BTreeSet::from([test.package.clone()]));
        // Nothing is known of a package that is no member.
        if !parts.is_empty() && !parts.contains(package) {
            return false;
        }
        // `tests/name.rs` is in one executable, and its neighbours are in those of tests only.
        let mut parts = effect.file.components().rev().map(|part| part.as_str());
        let (name, folder) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        match folder {
            "tests" => {
                let target = test
                    .binary
                    .split_once("::")
                    .map_or("", |(_, target)| target);
                target == name.trim_end_matches(".rs")
            }
            _ => true,
        }
    }

    fn shown(&self, file: &Utf8Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).to_string()
    }

    /// Whether a line, of a file in the workspace, was changed.
    pub(super) fn has_changed(&self, file: &str, line: u32) -> bool {
        self.changed.contains(&(self.root.join(file), line))
    }

    /// The changed lines that were compiled and that no test ran.
    pub(super) fn uncovered(
        &self,
        compiled: &BTreeSet<SourceLine>,
        ran: &BTreeSet<SourceLine>,
    ) -> Vec<Line> {
        let uncovered = self
            .changed
            .iter()
            .filter(|line| compiled.contains(*line) && !ran.contains(*line));
        uncovered
            .map(|(file, line)| Line {
                file: self.shown(file),
                line: *line,
            })
            .collect()
    }
}
