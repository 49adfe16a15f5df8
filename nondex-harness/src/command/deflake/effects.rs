//! What a change acts on.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Metadata, TargetKind};

use crate::cli::filterset::Workspace;
use crate::error::Result;
use crate::project::coverage::SourceLine;
use crate::report::TestReport;
use crate::report::schema::Line;
use crate::repository::{FileChange, Git, Reach, Tracked, since, tracked};

/// What one changed line acts on.
#[derive(Debug)]
struct Effect {
    file: Utf8PathBuf,
    line: u32,
    reach: Reach,
    /// The package that it is in; none for what acts on all.
    package: Option<String>,
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
    pub(super) data: Vec<String>,
    files: usize,
}

impl Effects {
    /// What is different between a commit and the working tree acts on. `metadata` has the graph of dependencies.
    pub(super) fn of(git: &Git, base: &str, metadata: &Metadata) -> Result<Self> {
        let changes = since(git, base)?;
        let mut found = Effects {
            root: metadata.workspace_root.clone(),
            effects: Vec::new(),
            changed: BTreeSet::new(),
            graph: Workspace::new(metadata),
            data: Vec::new(),
            files: changes.files.len(),
        };
        for (file, change) in &changes.files {
            let path = git.root().join(file);
            let changed = change.lines.iter().map(|line| (path.clone(), *line));
            found.changed.extend(changed);
            found.add(&path, file, change, metadata);
        }
        Ok(found)
    }

    fn add(&mut self, path: &Utf8Path, file: &str, change: &FileChange, metadata: &Metadata) {
        let packages = metadata.workspace_packages().into_iter();
        let folder = |package: &&cargo_metadata::Package| {
            package.manifest_path.parent().map(Utf8Path::to_owned)
        };
        let package = packages
            .filter(|package| folder(package).is_some_and(|folder| path.starts_with(folder)))
            .max_by_key(|package| package.manifest_path.as_str().len());
        let name = path.file_name().unwrap_or_default();
        let first = change.lines.iter().chain(&change.deletions).min().copied();
        let first = first.unwrap_or(1);
        let mut effect = |line, reach, package: Option<&cargo_metadata::Package>| {
            self.effects.push(Effect {
                file: path.to_owned(),
                line,
                reach,
                package: package.map(|package| package.name.to_string()),
            });
        };
        let is_for_all = ["Cargo.lock", "rust-toolchain", "rust-toolchain.toml"].contains(&name)
            || path.components().any(|part| part.as_str() == ".cargo")
            || name == "Cargo.toml" && package.is_none_or(|package| package.manifest_path != path);
        let is_note = path.extension() == Some("md")
            || name.starts_with(['.', '_'])
            || name.starts_with("LICENSE")
            || file.starts_with('.');
        if is_for_all {
            effect(first, Reach::Crate, None);
        } else if name == "Cargo.toml" {
            effect(first, Reach::Crate, package);
        } else if path.extension() == Some("rs") {
            let targets = package.iter().flat_map(|package| &package.targets);
            let runs_at_build = |target: &&cargo_metadata::Target| {
                let kinds = [TargetKind::ProcMacro, TargetKind::CustomBuild];
                target.kind.iter().any(|kind| kinds.contains(kind))
                    && (target.src_path == path || target.is_proc_macro())
            };
            let is_host = targets.filter(runs_at_build).count() > 0;
            match std::fs::read_to_string(path) {
                Ok(text) if !is_host => {
                    for Tracked { line, reach } in
                        tracked(&text, &change.lines, &change.added, &change.deletions)
                    {
                        effect(line, reach, package);
                    }
                }
                // It is gone, or runs while others are compiled.
                _ => effect(first, Reach::Crate, package),
            }
        } else if !is_note {
            self.data.push(file.to_owned());
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
    pub(super) fn met_by(&self, test: &TestReport, ran: &BTreeSet<SourceLine>) -> Vec<Line> {
        let in_file = |file: &Utf8PathBuf, first: u32, last: u32| {
            ran.range((file.clone(), first)..=(file.clone(), last))
                .next()
                .is_some()
        };
        let met = self.effects.iter().filter(|effect| match effect.reach {
            Reach::Lines(first, last) => in_file(&effect.file, first, last),
            Reach::File => in_file(&effect.file, 0, u32::MAX),
            Reach::Crate => self.is_made_of(test, effect),
        });
        let lines: BTreeSet<(String, u32)> = met
            .map(|effect| (self.shown(&effect.file), effect.line))
            .collect();
        lines
            .into_iter()
            .map(|(file, line)| Line { file, line })
            .collect()
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
