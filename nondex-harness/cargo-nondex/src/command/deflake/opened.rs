//! Which changed files a test opens, itself or by a program that it starts: the system reports
//! every file that is watched.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use nix::sys::inotify::{AddWatchFlags, Inotify, WatchDescriptor};
use nondex_core::{AccessRecord, StateId, StateKind};

use crate::command::effects::Data;
use crate::command::watch;
use crate::project::Project;

/// The files that are watched.
#[derive(Debug)]
pub(super) struct Watched {
    /// `None` where the system cannot watch.
    inotify: Option<Inotify>,
    files: BTreeMap<WatchDescriptor, Vec<String>>,
    /// The names of the changed files that are no sources, by their paths.
    paths: BTreeMap<Utf8PathBuf, String>,
    /// Files of which nobody sees whether a test has to do with them: those that are gone, that the
    /// compiler or a build script may have read, or that cannot be watched.
    unseen: Vec<Unseen>,
}

/// A file that may have been read unseen.
#[derive(Clone, Debug)]
pub(super) struct Unseen {
    pub(super) name: String,
    /// The packages that are made of it; any, where that is not known.
    pub(super) packages: Option<BTreeSet<String>>,
}

/// What was opened since the last call.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// The changed files.
    pub(super) files: BTreeSet<String>,
    /// Those that may have been read unseen.
    pub(super) unseen: Vec<Unseen>,
}

impl Watched {
    /// Watches the changed files.
    pub(super) fn new(data: &[Data], project: &Project) -> Self {
        let mut watched = Watched {
            inotify: watch::begin(),
            files: BTreeMap::new(),
            paths: BTreeMap::new(),
            unseen: Vec::new(),
        };
        let compiled =
            if data.is_empty() { Some(BTreeMap::new()) } else { read_by_compilers(project) };
        for file in data {
            let real = real(&file.path);
            let is_compiled = compiled.as_ref().is_none_or(|compiled| compiled.contains_key(&real));
            let is_watched = watched.add(file).is_some();
            let is_source = file.path.extension() == Some("rs");
            if !is_source {
                let (path, name) = (file.path.clone(), file.name.clone());
                watched.paths.insert(path, name);
            }
            // Nobody sees which program asks for what is not there; what a source that is gone acts
            // on is known otherwise.
            let may_be_read = !file.is_note || file.is_named || file.is_gone && !is_source;
            let is_for_build = !file.for_build.is_empty() && !file.is_note;
            if may_be_read && (is_for_build || is_compiled || !is_watched) {
                let compiled = compiled.as_ref().filter(|_| is_watched);
                let packages = compiled.and_then(|compiled| {
                    let crates = compiled.get(&real).into_iter().flatten();
                    let of_crates = packages(project, crates)?;
                    Some(&of_crates | &file.for_build)
                });
                watched.unseen.push(Unseen { name: file.name.clone(), packages });
            }
        }
        watched
    }

    /// Watches a file; of one that is new or gone also who lists its folder.
    fn add(&mut self, file: &Data) -> Option<()> {
        let inotify = self.inotify.as_ref()?;
        let folder = file.path.parent().filter(|_| file.is_listed);
        let listed = AddWatchFlags::IN_OPEN | AddWatchFlags::IN_ONLYDIR;
        let folder = folder.map(|folder| (folder, listed));
        let own = (file.path.as_path(), AddWatchFlags::IN_OPEN);
        let watches = folder.into_iter().chain([own]).map(|(path, flags)| {
            let watch = inotify.add_watch(path.as_std_path(), flags).ok()?;
            self.files.entry(watch).or_default().push(file.name.clone());
            Some(())
        });
        // All that can be watched, is.
        let watched: Vec<Option<()>> = watches.collect();
        watched.into_iter().collect()
    }

    /// What a run is to watch, so that it is seen whether the test reads the metadata of a changed
    /// file without opening it.
    pub(super) fn states(&self) -> Vec<StateId> {
        let states =
            self.paths.keys().map(|path| StateId { kind: StateKind::File, name: path.to_string() });
        states.collect()
    }

    /// The changed files among those that a test asked for.
    pub(super) fn asked(&self, accesses: &[AccessRecord]) -> impl Iterator<Item = String> {
        let paths = accesses.iter().map(|access| access.state.name.as_str());
        paths.filter_map(|path| self.paths.get(Utf8Path::new(path)).cloned())
    }

    /// What was opened since the last call.
    pub(super) fn opened(&self) -> Opened {
        let mut opened = Opened { unseen: self.unseen.clone(), ..Opened::default() };
        for event in self.inotify.iter().flat_map(watch::events) {
            if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                let all = self.files.values().flatten().cloned();
                opened.unseen.extend(all.map(|name| Unseen { name, packages: None }));
            }
            // Of a folder, only that it was opened itself.
            let files = self.files.get(&event.wd).filter(|_| event.name.is_none());
            opened.files.extend(files.into_iter().flatten().cloned());
        }
        opened
    }
}

/// Every file that a compiler read for the executables of a project, as it wrote it down, and the
/// crates that it was read for; `None` when that is not found.
fn read_by_compilers(project: &Project) -> Option<BTreeMap<Utf8PathBuf, BTreeSet<String>>> {
    let executables = project.suites.iter().map(|suite| &suite.binary.executable);
    let folders = executables.filter_map(|executable| executable.parent());
    let folders: BTreeSet<&Utf8Path> =
        folders.filter(|folder| folder.file_name() == Some("deps")).collect();
    // Procedural macros are compiled for the machine that compiles, next to the folder of the
    // target.
    let of_host = folders.iter().filter_map(|folder| {
        let profile = folder.parent()?;
        Some(profile.parent()?.parent()?.join(profile.file_name()?).join("deps"))
    });
    let of_host: BTreeSet<Utf8PathBuf> = of_host.filter(|folder| folder.is_dir()).collect();
    let mut found: BTreeMap<Utf8PathBuf, BTreeSet<String>> = BTreeMap::new();
    let mut is_known = false;
    let of_host = of_host.iter().map(Utf8PathBuf::as_path);
    for folder in folders.iter().copied().chain(of_host) {
        for entry in folder.read_dir_utf8().ok()?.flatten() {
            if entry.path().extension() != Some("d") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).ok()?;
            is_known = true;
            let stem = entry.path().file_stem().unwrap_or_default();
            let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
            let text = text.replace("\\ ", "\0");
            let paths = text.split_whitespace().map(|path| path.replace('\0', " "));
            for path in paths.map(|path| real(&project.workspace_root.join(path))) {
                found.entry(path).or_default().insert(name.to_owned());
            }
        }
    }
    is_known.then_some(found)
}

/// The packages that have crates with these names; `None` where one of them is of none that is
/// known.
fn packages<'c>(
    project: &Project,
    crates: impl Iterator<Item = &'c String>,
) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for name in crates {
        let own = project.metadata.packages.iter().filter(|package| {
            package.targets.iter().any(|target| target.name.replace('-', "_") == *name)
        });
        let own: Vec<String> = own.map(|package| package.name.to_string()).collect();
        if own.is_empty() {
            return None;
        }
        found.extend(own);
    }
    Some(found)
}

/// A path by which a file is the same however it was named: without links, as far as it exists,
/// and without `.` and `..`. A link may lead to the workspace, and git's paths do not have it.
fn real(path: &Utf8Path) -> Utf8PathBuf {
    let of_folder = || Some(path.parent()?.canonicalize_utf8().ok()?.join(path.file_name()?));
    path.canonicalize_utf8().ok().or_else(of_folder).unwrap_or_else(|| normal(path))
}

/// A path without `.` and `..`.
fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut found = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => drop(found.pop()),
            part => found.push(part),
        }
    }
    found
}
