//! What the difference between two trees acts on: a commit and the working tree, or two in which
//! tests ran.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::error::Result;
use crate::repository::{
    Additions, Changes, FileChange, Git, Reach, Snapshots, Tracked, additions, since, tracked,
};
use camino::Utf8Path;
use cargo_metadata::Metadata;

use super::kind::{Kind, Packages, resolved};
use super::lock::{Locked, locked};
use super::page::Page;
use super::removed::Removed;
use super::{Data, Effect, Effects, Presence};
use crate::cli::filterset::Workspace;

/// By what a source asks on which line it is.
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

/// A changed source.
struct Source<'a> {
    path: &'a Utf8Path,
    change: &'a FileChange,
    /// Its text now, unless it cannot be read.
    after: Option<String>,
    /// Its text before.
    before: String,
    package: Option<String>,
}

impl Effects {
    /// None yet of a change in these files; which ones are there before it, and which ones after
    /// it.
    fn none(
        metadata: &Metadata,
        changes: &Changes,
        before: &BTreeSet<String>,
        is_there: impl Fn(&str) -> bool,
    ) -> Self {
        let presence = |file: &String| match (before.contains(file), is_there(file)) {
            (false, _) => Presence::New,
            (true, false) => Presence::Gone,
            (true, true) => Presence::Both,
        };
        let files = changes.files.keys();
        Effects {
            root: resolved(&metadata.workspace_root),
            effects: Vec::new(),
            changed: BTreeSet::new(),
            removed: Removed::default(),
            graph: Workspace::new(metadata),
            data: Vec::new(),
            pages: BTreeMap::new(),
            files: files.map(|file| (file.clone(), presence(file))).collect(),
        }
    }

    /// What is different between a commit and the working tree acts on. `metadata` has the graph of
    /// dependencies.
    pub(in crate::command) fn of(git: &Git, base: &str, metadata: &Metadata) -> Result<Self> {
        let changes = since(git, base)?;
        let packages = Packages::of(metadata);
        let is_there = |file: &str| git.root().join(file).exists();
        let mut found = Effects::none(metadata, &changes, &git.files(base)?, is_there);
        let asks_for_lines = OnceCell::new();
        for (file, change) in &changes.files {
            let link = git.root().join(file);
            let path = resolved(&link);
            let changed = change.lines.iter().map(|line| (path.clone(), *line));
            found.changed.extend(changed);
            let kind = packages.kind(&link, file);
            match kind {
                Kind::Build(ref package) => {
                    found.distant(&path, change.first(), package.clone());
                }
                Kind::Vendored(ref packages) => {
                    found.vendored(&path, change.first(), packages);
                }
                Kind::Lock => {
                    let before = git.text(base, file).unwrap_or_default();
                    let after = std::fs::read_to_string(&path).unwrap_or_default();
                    found.lock(&path, &before, &after);
                }
                Kind::Code(ref package) => {
                    let target = packages.only_target(&link, git);
                    let before = git.text(base, file).unwrap_or_default();
                    let after = std::fs::read_to_string(&path).ok();
                    let stays = after.as_deref().unwrap_or_default();
                    found.removed.add(&before, stays);
                    let source =
                        Source { path: &path, change, after, before, package: package.clone() };
                    let own: BTreeSet<String> = package.iter().cloned().collect();
                    let dependents = found.graph.dependents(&own);
                    let folders = packages.folders(&link, &dependents);
                    let names = |name: &str| git.mentions(base, &[name], &folders);
                    let first = found.effects.len();
                    found.code(&source, packages.is_root(&path), &names);
                    let asks = || git.mentions(base, &LINES, &[git.root()]);
                    if change.moved.is_some() && *asks_for_lines.get_or_init(asks) {
                        found.moved(&path, change, package.clone());
                    }
                    found.only_in(target.as_ref(), first);
                }
                Kind::Data | Kind::Note => {}
            }
            // A test may also read a source.
            found.data(&packages, &path, file);
            if let (false, Some(data)) = (kind == Kind::Data, found.data.last_mut()) {
                data.is_note = true;
                data.is_named = !matches!(path.extension(), Some("rs"))
                    && git.is_named(path.file_name().unwrap_or_default());
            }
            if let Some("rs" | "md") = path.extension() {
                found.pages.insert(path, Page::new(git, base, file));
            }
        }
        Ok(found)
    }

    /// What is different between a tree in which tests ran and another one acts on, as lines of the
    /// one in which they ran: whoever ran none of them runs the same code in both.
    pub(in crate::command) fn after(
        snapshots: &Snapshots,
        ran: &str,
        other: &str,
        metadata: &Metadata,
    ) -> Result<Self> {
        let forth = snapshots.changes(ran, other)?;
        let back = snapshots.changes(other, ran)?;
        let packages = Packages::of(metadata);
        let [before, after] = [ran, other].map(|tree| snapshots.git().files(tree));
        let after = after?;
        let is_there = |file: &str| after.contains(file);
        let mut found = Effects::none(metadata, &back, &before?, is_there);
        let asks_for_lines = OnceCell::new();
        let nothing = FileChange::default();
        for (file, change) in &back.files {
            let link = snapshots.git().root().join(file);
            let path = resolved(&link);
            let kind = packages.kind(&link, file);
            let Kind::Code(package) = kind else {
                let is_named = || {
                    let name = [path.file_name().unwrap_or_default().to_owned()];
                    snapshots.mentions(ran, &name) || snapshots.mentions(other, &name)
                };
                if kind == Kind::Lock {
                    let [before, after] =
                        [ran, other].map(|tree| snapshots.text(tree, file).unwrap_or_default());
                    found.lock(&path, &before, &after);
                }
                match kind {
                    Kind::Build(package) => found.distant(&path, 1, package),
                    Kind::Vendored(packages) => found.vendored(&path, 1, &packages),
                    Kind::Data => found.data(&packages, &path, file),
                    Kind::Note | Kind::Lock if is_named() => found.data(&packages, &path, file),
                    Kind::Note | Kind::Lock | Kind::Code(_) => {}
                }
                continue;
            };
            let [before, after] = [ran, other].map(|tree| snapshots.text(tree, file));
            let new = forth.files.get(file).unwrap_or(&nothing);
            let gains = after.as_ref().map(|text| additions(text, new));
            let losses = before.as_ref().map(|text| additions(text, change));
            let target = packages.only_target(&link, snapshots.git());
            let after = after.unwrap_or_default();
            if let Some(text) = before {
                let mut rest = change.clone();
                let deletions = FileChange {
                    deletions: mem::take(&mut rest.deletions),
                    ..FileChange::default()
                };
                let inside = tracked(&text, &after, &deletions).into_iter();
                // What was added in other files is judged by what it is.
                let inside = inside.filter(|tracked| tracked.reach != Reach::Crate);
                let changed = tracked(&text, &after, &rest);
                let first = found.effects.len();
                for Tracked { line, reach } in changed.into_iter().chain(inside) {
                    match reach {
                        // What names it is judged below.
                        Reach::Named(_) | Reach::Module(_) => {}
                        Reach::File => {
                            found.import(&path, line, &text, (&package, packages.is_root(&path)));
                        }
                        reach => found.effect(&path, line, reach, package.clone()),
                    }
                }
                let asks = || snapshots.mentions(ran, &LINES);
                if change.moved.is_some() && *asks_for_lines.get_or_init(asks) {
                    found.moved(&path, change, package.clone());
                }
                found.only_in(target.as_ref(), first);
            } else if target.is_some() {
                // It is a separate executable.
                continue;
            }
            let [gains, losses] = [gains, losses].map(Option::unwrap_or_default);
            let mut modules = gains.modules.difference(&losses.modules);
            let only = |of: &Additions, not: &Additions| {
                of.names.difference(&not.names).cloned().collect::<Vec<String>>()
            };
            if gains.is_distant
                || losses.is_distant
                || modules.any(|name| !found.is_new_module(name))
                || snapshots.mentions(ran, &only(&gains, &losses))
                || snapshots.mentions(other, &only(&losses, &gains))
            {
                found.distant(&path, 1, package);
            } else if gains.has_imports || losses.has_imports {
                let is_root = packages.is_root(&path);
                found.import(&path, 1, &after, (&package, is_root));
            }
        }
        Ok(found)
    }

    /// Whether a file of a module of this name is new.
    fn is_new_module(&self, name: &str) -> bool {
        self.files.iter().any(|(file, presence)| {
            let file = Utf8Path::new(file);
            let folder = file.parent().and_then(Utf8Path::file_name);
            let is_it = file.file_stem() == Some(name)
                || file.file_name() == Some("mod.rs") && folder == Some(name);
            *presence == Presence::New && is_it && file.extension() == Some("rs")
        })
    }

    fn effect(&mut self, file: &Utf8Path, line: u32, reach: Reach, package: Option<String>) {
        self.effects.push(Effect {
            file: file.to_owned(),
            line,
            reach,
            below: None,
            package,
            target: None,
        });
    }

    /// An import in a source with this text, which may be the root of a crate: the modules below it
    /// have it, too.
    fn import(
        &mut self,
        path: &Utf8Path,
        line: u32,
        text: &str,
        (package, is_root): (&Option<String>, bool),
    ) {
        let reach = if is_root || text.contains("#[path") || text.contains("include!") {
            Reach::Crate
        } else {
            Reach::File
        };
        self.effect(path, line, reach, package.clone());
        if let Some(effect) = self.effects.last_mut() {
            effect.below = Some(match path.file_name() {
                Some("mod.rs") => path.with_file_name(""),
                _ => path.with_extension(""),
            });
        }
    }

    /// The lines of a source that have other numbers now, where a source asks for them.
    fn moved(&mut self, path: &Utf8Path, change: &FileChange, package: Option<String>) {
        if let Some(moved) = change.moved {
            self.effect(path, moved, Reach::Lines(moved, u32::MAX), package);
        }
    }

    /// Says of the effects from this one on that they are in this target alone, if there is one.
    fn only_in(&mut self, target: Option<&String>, first: usize) {
        for effect in &mut self.effects[first..] {
            effect.target = target.cloned();
        }
    }

    fn data(&mut self, packages: &Packages<'_>, path: &Utf8Path, file: &str) {
        self.data.push(Data {
            name: file.to_owned(),
            path: path.to_owned(),
            is_listed: self.files.get(file) != Some(&Presence::Both),
            is_gone: self.files.get(file) == Some(&Presence::Gone),
            for_build: packages.whose_script_may_read(path),
            is_note: false,
            is_named: false,
        });
    }

    fn distant(&mut self, file: &Utf8Path, line: u32, package: Option<String>) {
        self.effect(file, line, Reach::Crate, package);
    }

    /// Adds a line of a dependency, with which these packages are built.
    fn vendored(&mut self, file: &Utf8Path, line: u32, packages: &[String]) {
        packages.iter().for_each(|package| self.distant(file, line, Some(package.clone())));
    }

    /// Adds what is different in the lock file, which has these texts.
    fn lock(&mut self, path: &Utf8Path, before: &str, after: &str) {
        match locked(before, after) {
            None => self.distant(path, 1, None),
            Some(found) => {
                for Locked { package, line } in found {
                    self.distant(path, line, Some(package));
                }
            }
        }
    }

    /// Adds what is different in a source, which may be the root of a crate; `names` is whether
    /// there was something of a name before.
    fn code(&mut self, source: &Source<'_>, is_root: bool, names: &dyn Fn(&str) -> bool) {
        let Source { path, change, after, before, package } = source;
        let Some(text) = after else {
            self.distant(path, change.first(), package.clone());
            return;
        };
        for Tracked { line, reach } in tracked(text, before, change) {
            let reach = match reach {
                Reach::File => {
                    self.import(path, line, text, (package, is_root));
                    continue;
                }
                Reach::Named(name) if names(&name) => Reach::Crate,
                Reach::Module(name) if !self.is_new_module(&name) => Reach::Crate,
                Reach::Named(_) | Reach::Module(_) => continue,
                reach => reach,
            };
            self.effect(path, line, reach, package.clone());
        }
    }
}
