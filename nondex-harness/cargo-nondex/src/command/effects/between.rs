//! Effects of the difference between two states of the sources: the working tree and a commit, or
//! two trees in one of which tests ran.

use std::cell::OnceCell;

use camino::Utf8Path;
use cargo_metadata::Metadata;

use super::lock::locked;
use super::page::ChangedText;
use super::purpose::{FilePurpose, Packages, resolved};
use super::tree::SourceTree;
use super::{DataFile, Effect, Effects, Presence};
use crate::cli::filterset::WorkspaceMembers;
use crate::error::Result;
use crate::repository::{Changes, Git, Reach, Side, Snapshots, Tracked, since, tracked};

/// Texts by which a source reads its own line numbers.
const LINES: [&str; 9] = [
    "line!",
    "column!",
    "Location::caller",
    "panic::Location",
    "Location<'",
    ".location()",
    "PanicInfo",
    "PanicHookInfo",
    "panicked at",
];

impl Effects {
    /// Returns the effects of the difference between a commit and the working tree. `metadata` has
    /// the dependency graph.
    pub(in crate::command) fn of(git: &Git, base: &str, metadata: &Metadata) -> Result<Self> {
        let trees = [SourceTree::of(git, None)?, SourceTree::of(git, Some(base))?];
        Ok(Effects::between(git, &since(git, base)?, trees, metadata))
    }

    /// Returns the effects of the difference between the tree `ran`, in which tests ran, and
    /// another tree. Changed lines are lines of `ran`. A test that ran none of them runs the same
    /// code in both trees.
    pub(in crate::command) fn after(
        snapshots: &Snapshots,
        ran: &str,
        other: &str,
        metadata: &Metadata,
    ) -> Result<Self> {
        let git = snapshots.git();
        let trees = [SourceTree::of(git, Some(ran))?, SourceTree::of(git, Some(other))?];
        Ok(Effects::between(git, &snapshots.changes(other, ran)?, trees, metadata))
    }

    /// Returns the effects of the changes. Lines are those of `ran`.
    fn between(
        git: &Git,
        changes: &Changes,
        [ran, other]: [SourceTree<'_>; 2],
        metadata: &Metadata,
    ) -> Self {
        let presence = |file: &String| match (other.has(file), ran.has(file)) {
            (false, _) => Presence::New,
            (true, false) => Presence::Gone,
            (true, true) => Presence::Both,
        };
        let mut found = Effects {
            root: resolved(&metadata.workspace_root),
            graph: WorkspaceMembers::new(metadata),
            files: changes.files.keys().map(|file| (file.clone(), presence(file))).collect(),
            ..Effects::default()
        };
        let packages = Packages::of(metadata);
        let asks_for_lines = OnceCell::new();
        for (file, change) in &changes.files {
            let link = git.root().join(file);
            let path = resolved(&link);
            found.changed.extend(change.lines.iter().map(|line| (path.clone(), *line)));
            let purpose = packages.purpose(&link, file);
            // A test may read any changed file, also a source.
            found.data(&packages, &path, file, &purpose, &[&ran, &other]);
            let is_page = matches!(path.extension(), Some("rs" | "md"));
            let [after, before] =
                if is_page || matches!(purpose, FilePurpose::Code(_) | FilePurpose::Lock) {
                    [ran.text(file), other.text(file)]
                } else {
                    [None, None]
                };
            let [new, old] = [&after, &before].map(|text| text.as_deref().unwrap_or_default());
            match purpose {
                FilePurpose::Build(package) => found.distant(&path, change.first(), package),
                FilePurpose::Vendored(packages) => {
                    for package in packages {
                        found.distant(&path, change.first(), Some(package));
                    }
                }
                FilePurpose::Lock => found.lock(&path, old, new),
                FilePurpose::Code(package) => {
                    let is_used = |side: Side, name: &str, is_module: bool| {
                        let (tree, comes) = match side {
                            Side::Ran => (&ran, Presence::Gone),
                            Side::Other => (&other, Presence::New),
                        };
                        is_module && !found.has_module(name, comes) || tree.mentions(&[name])
                    };
                    let target = packages.only_target(&link, git);
                    let mut effects =
                        tracked(after.as_deref(), before.as_deref(), change, &is_used);
                    let asks = || ran.mentions(&LINES);
                    // Code after this line moved to other lines. This matters only if some source
                    // reads its line numbers.
                    if let Some(line) = change.moved.filter(|_| *asks_for_lines.get_or_init(asks)) {
                        let moved = (line, u32::MAX);
                        effects.push(Tracked { line, reach: Reach::Lines(moved, moved) });
                    }
                    for Tracked { line, reach } in effects {
                        found.effects.push(Effect {
                            file: path.clone(),
                            line,
                            reach,
                            package: package.clone(),
                            target: target.clone(),
                        });
                    }
                    found.removed.add(old, new);
                }
                FilePurpose::Data | FilePurpose::Note => {}
            }
            if is_page {
                let [before, after] = [before, after].map(Option::unwrap_or_default);
                found.pages.insert(path, ChangedText { before, after });
            }
        }
        found
    }

    /// Returns whether a source file of a module with this name is new, or gone, as `wanted` says.
    fn has_module(&self, name: &str, wanted: Presence) -> bool {
        self.files.iter().any(|(file, presence)| {
            let file = Utf8Path::new(file);
            let folder = file.parent().and_then(Utf8Path::file_name);
            let is_it = file.file_stem() == Some(name)
                || file.file_name() == Some("mod.rs") && folder == Some(name);
            *presence == wanted && is_it && file.extension() == Some("rs")
        })
    }

    /// Adds a changed file that a test may read.
    fn data(
        &mut self,
        packages: &Packages<'_>,
        path: &Utf8Path,
        file: &str,
        purpose: &FilePurpose,
        trees: &[&SourceTree<'_>],
    ) {
        let is_note = *purpose != FilePurpose::Data;
        let is_source = path.extension() == Some("rs");
        self.data.push(DataFile {
            name: file.to_owned(),
            path: path.to_owned(),
            is_listed: self.files.get(file) != Some(&Presence::Both),
            is_gone: self.files.get(file) == Some(&Presence::Gone),
            for_build: packages.whose_script_may_read(path),
            is_note,
            is_named: is_note && !is_source && trees.iter().any(|tree| tree.names_file(file)),
        });
    }

    /// Adds a line that affects a whole package, or all packages.
    fn distant(&mut self, file: &Utf8Path, line: u32, package: Option<String>) {
        let (file, reach) = (file.to_owned(), Reach::Crate);
        self.effects.push(Effect { file, line, reach, package, target: None });
    }

    /// Adds the packages that a change of the lock file affects, from its texts before and after
    /// the change.
    fn lock(&mut self, path: &Utf8Path, before: &str, after: &str) {
        match locked(before, after) {
            None => self.distant(path, 1, None),
            Some(found) => {
                for (package, line) in found {
                    self.distant(path, line, Some(package));
                }
            }
        }
    }
}
