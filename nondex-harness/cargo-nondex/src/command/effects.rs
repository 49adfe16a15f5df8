//! What a change acts on.

mod asked;
mod kind;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::Metadata;

pub(super) use self::kind::outside;
use self::kind::{Kind, Packages, resolved};
use crate::cli::filterset::Workspace;
use nondex_harness::error::Result;
use nondex_harness::project::blocks::SourceLine;
use nondex_harness::project::doctest::{block, same};
use nondex_harness::report::TestReport;
use nondex_harness::report::schema::Line;
use nondex_harness::repository::{
    Additions, Changes, FileChange, Git, Reach, Snapshots, Tracked, additions, since, tracked,
};

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
    /// Its text before.
    before: String,
    package: Option<String>,
}

/// What one changed line acts on.
#[derive(Debug)]
struct Effect {
    file: Utf8PathBuf,
    line: u32,
    reach: Reach,
    /// The folder of the modules below the file.
    below: Option<Utf8PathBuf>,
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
    /// Whether a build script may read it.
    pub(super) is_for_build: bool,
    /// Whether it is for people. One that no source names is read by nobody who does not open it.
    pub(super) is_note: bool,
    /// Whether a source names it, but for where it is documentation.
    pub(super) is_named: bool,
}

/// What a change acts on.
#[derive(Debug)]
pub(super) struct Effects {
    root: Utf8PathBuf,
    effects: Vec<Effect>,
    changed: BTreeSet<SourceLine>,
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

/// A changed source or page, whose texts are read when a doctest asks for them.
#[derive(Debug)]
struct Page {
    git: Git,
    base: String,
    file: String,
    /// The texts before the change and after it.
    texts: OnceCell<[String; 2]>,
}

impl Page {
    fn texts(&self) -> &[String; 2] {
        self.texts.get_or_init(|| {
            let before = self.git.text(&self.base, &self.file);
            let after = std::fs::read_to_string(self.git.root().join(&self.file));
            [before.unwrap_or_default(), after.unwrap_or_default()]
        })
    }
}

impl Effects {
    /// None yet of a change in these files; which ones are there before it, and which ones after it.
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
            graph: Workspace::new(metadata),
            data: Vec::new(),
            pages: BTreeMap::new(),
            files: files.map(|file| (file.clone(), presence(file))).collect(),
        }
    }

    /// What is different between a commit and the working tree acts on. `metadata` has the graph of dependencies.
    pub(super) fn of(git: &Git, base: &str, metadata: &Metadata) -> Result<Self> {
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
                Kind::Code(ref package) => {
                    let target = packages.only_target(&link, git);
                    let source = Source {
                        path: &path,
                        change,
                        before: git.text(base, file).unwrap_or_default(),
                        package: package.clone(),
                    };
                    let own: BTreeSet<String> = package.iter().cloned().collect();
                    let dependents = found.graph.dependents(&own);
                    let folders = packages.folders(&link, &dependents);
                    let names = |name: &str| git.mentions(base, &[name], &folders);
                    let first = found.effects.len();
                    found.code(&source, packages.is_root(&path), &names);
                    let asks = || git.mentions(base, &LINES, &[git.root()]);
                    if let Some(moved) = change.moved.filter(|_| *asks_for_lines.get_or_init(asks))
                    {
                        let reach = Reach::Lines(moved, u32::MAX);
                        found.effect(&path, moved, reach, package.clone());
                    }
                    for effect in &mut found.effects[first..] {
                        effect.target.clone_from(&target);
                    }
                }
                Kind::Data | Kind::Note => {}
            }
            // A test may also read a source.
            found.data(&packages, &path, file);
            if let (Kind::Code(_) | Kind::Build(_) | Kind::Note, Some(data)) =
                (kind, found.data.last_mut())
            {
                data.is_note = true;
                data.is_named = !matches!(path.extension(), Some("rs"))
                    && git.is_named(path.file_name().unwrap_or_default());
            }
            if let Some("rs" | "md") = path.extension() {
                let page = Page {
                    git: git.clone(),
                    base: base.to_owned(),
                    file: file.clone(),
                    texts: OnceCell::new(),
                };
                found.pages.insert(path, page);
            }
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
                match kind {
                    Kind::Build(package) => found.distant(&path, 1, package),
                    Kind::Data => found.data(&packages, &path, file),
                    Kind::Note if is_named() => found.data(&packages, &path, file),
                    Kind::Note | Kind::Code(_) => {}
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
                let deletions = change.deletions.iter().map(|line| FileChange {
                    deletions: BTreeSet::from([*line]),
                    ..FileChange::default()
                });
                let inside = deletions
                    .flat_map(|deletion| tracked(&text, &after, &deletion))
                    // What was added elsewhere is judged by what it is.
                    .filter(|tracked| tracked.reach != Reach::Crate);
                let mut change = change.clone();
                change.deletions.clear();
                let changed = tracked(&text, &after, &change);
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
                if let Some(moved) = change.moved.filter(|_| *asks_for_lines.get_or_init(asks)) {
                    let reach = Reach::Lines(moved, u32::MAX);
                    found.effect(&path, moved, reach, package.clone());
                }
                for effect in &mut found.effects[first..] {
                    effect.target.clone_from(&target);
                }
            } else if target.is_some() {
                // It is an executable of its own.
                continue;
            }
            let [gains, losses] = [gains, losses].map(Option::unwrap_or_default);
            let mut modules = gains.modules.difference(&losses.modules);
            let only = |of: &Additions, not: &Additions| {
                let names = of.names.difference(&not.names);
                names.cloned().collect::<Vec<String>>()
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

    /// Whether what was changed was opened, of these files and folders of the repository: of what is new or gone, also its folder.
    pub(super) fn are_opened<'a>(&self, opened: impl Iterator<Item = &'a String>) -> bool {
        let opened: BTreeSet<&str> = opened.map(String::as_str).collect();
        self.files.iter().any(|(file, presence)| {
            let folder = Utf8Path::new(file).parent();
            let folder = folder.filter(|_| *presence != Presence::Both);
            opened.contains(file.as_str())
                || folder.is_some_and(|folder| opened.contains(folder.as_str()))
        })
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
            below: None,
            package,
            target: None,
        });
    }

    /// An import in a source with this text, which may be the root of a crate: the modules below it have it, too.
    fn import(
        &mut self,
        path: &Utf8Path,
        line: u32,
        text: &str,
        (package, is_root): (&Option<String>, bool),
    ) {
        let reach = match is_root || text.contains("#[path") || text.contains("include!") {
            true => Reach::Crate,
            false => Reach::File,
        };
        self.effect(path, line, reach, package.clone());
        if let Some(effect) = self.effects.last_mut() {
            effect.below = Some(match path.file_name() {
                Some("mod.rs") => path.with_file_name(""),
                _ => path.with_extension(""),
            });
        }
    }

    fn data(&mut self, packages: &Packages<'_>, path: &Utf8Path, file: &str) {
        self.data.push(Data {
            name: file.to_owned(),
            path: path.to_owned(),
            is_listed: self.files.get(file) != Some(&Presence::Both),
            is_gone: self.files.get(file) == Some(&Presence::Gone),
            is_for_build: packages.may_be_read_by_script(path),
            is_note: false,
            is_named: false,
        });
    }

    fn distant(&mut self, file: &Utf8Path, line: u32, package: Option<String>) {
        self.effect(file, line, Reach::Crate, package);
    }

    /// Adds what is different in a source, which may be the root of a crate; `names` is whether there was something of a name before.
    fn code(&mut self, source: &Source<'_>, is_root: bool, names: &dyn Fn(&str) -> bool) {
        let Source {
            path,
            change,
            before,
            package,
        } = source;
        let Ok(text) = std::fs::read_to_string(path) else {
            self.distant(path, change.first(), package.clone());
            return;
        };
        for Tracked { line, reach } in tracked(&text, before, change) {
            let reach = match reach {
                Reach::File => {
                    self.import(path, line, &text, (package, is_root));
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

    /// `4 changed files, 12 places in code`.
    pub(super) fn summary(&self) -> String {
        format!(
            "{} changed files, {} places in code",
            self.files.len(),
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
            Reach::File => {
                let is_below = |below: &Utf8PathBuf| {
                    let mut lines = ran.range((below.clone(), 0)..);
                    lines
                        .next()
                        .is_some_and(|(file, _)| file.starts_with(below))
                };
                has(ran, &effect.file, 0, u32::MAX) || effect.below.as_ref().is_some_and(is_below)
            }
            Reach::Crate | Reach::Named(_) | Reach::Module(_) => self.is_made_of(test, effect),
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
        let (path, page) = self.pages.get_key_value(&path)?;
        Some((path, line, page.texts()))
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
            && self.pages.keys().any(is_page)
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
        effect.target.as_ref().is_none_or(|target| {
            let own = test.binary.split_once("::");
            own.is_some_and(|(_, own)| own == target)
        })
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
