//! Detects which changed files a test or a program that it starts opens. The system reports every
//! access to a watched file (inotify).

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use nix::sys::inotify::{AddWatchFlags, Inotify, WatchDescriptor};
use nondex_core::{AccessRecord, StateId, StateKind};

use crate::command::effects::DataFile;
use crate::command::watch;
use crate::project::Project;

/// Changed files that are watched.
#[derive(Debug)]
pub(super) struct Watched {
    /// `None` if the system cannot watch files.
    inotify: Option<Inotify>,
    /// Names of the changed files of each watch. A folder may represent several.
    files: BTreeMap<WatchDescriptor, Vec<String>>,
    /// Names of the changed files that are not Rust sources, by their paths.
    paths: BTreeMap<Utf8PathBuf, String>,
    /// Files whose use by a test cannot be observed. They are deleted, cannot be watched, or may
    /// have been read by the compiler or a build script.
    unseen: Vec<Unseen>,
}

/// File that may have been read unseen.
#[derive(Clone, Debug)]
pub(super) struct Unseen {
    pub(super) name: String,
    /// Packages that are built from the file; `None` for any package.
    pub(super) packages: Option<BTreeSet<String>>,
}

/// Files that were opened since the last call.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// Changed files that were opened.
    pub(super) files: BTreeSet<String>,
    /// Files that may have been read unseen.
    pub(super) unseen: Vec<Unseen>,
}

impl Watched {
    /// Starts to watch the changed files.
    pub(super) fn new(data: &[DataFile], project: &Project) -> Self {
        let mut watched = Watched {
            inotify: watch::begin(),
            files: BTreeMap::new(),
            paths: BTreeMap::new(),
            unseen: Vec::new(),
        };
        let compiled =
            if data.is_empty() { Some(Compiled::default()) } else { read_by_compilers(project) };
        for file in data {
            let real = real(&file.path);
            let crates = compiled.as_ref().map(|compiled| compiled.crates_of(&real));
            let is_compiled = crates.as_ref().is_none_or(|crates| !crates.is_empty());
            let is_watched = watched.add(file).is_some();
            let is_source = file.path.extension() == Some("rs");
            if !is_source {
                let (path, name) = (file.path.clone(), file.name.clone());
                watched.paths.insert(path, name);
            }
            // The system does not report which program asks for a file that does not exist. The
            // effect of a deleted source is known from its lines.
            let may_be_read = !file.is_note || file.is_named || file.is_gone && !is_source;
            let is_for_build = !file.for_build.is_empty() && !file.is_note;
            if may_be_read && (is_for_build || is_compiled || !is_watched) {
                let packages = crates.filter(|_| is_watched).and_then(|crates| {
                    let of_crates = packages(project, &crates)?;
                    Some(&of_crates | &file.for_build)
                });
                watched.unseen.push(Unseen { name: file.name.clone(), packages });
            }
        }
        watched
    }

    /// Watches a file. For a new or deleted file, also watches its folder, because listing the
    /// folder shows the difference. Returns `None` if a watch failed.
    fn add(&mut self, file: &DataFile) -> Option<()> {
        let inotify = self.inotify.as_ref()?;
        let listed = AddWatchFlags::IN_OPEN | AddWatchFlags::IN_ONLYDIR;
        let folder = file.path.parent().filter(|_| file.is_listed).map(|folder| (folder, listed));
        let own = (file.path.as_path(), AddWatchFlags::IN_OPEN);
        let watches = folder.into_iter().chain([own]).map(|(path, flags)| {
            let watch = inotify.add_watch(path.as_std_path(), flags).ok()?;
            self.files.entry(watch).or_default().push(file.name.clone());
            Some(())
        });
        // Collect first: an early return would leave out the second watch if the first one failed.
        let watched: Vec<Option<()>> = watches.collect();
        watched.into_iter().collect()
    }

    /// Returns the files whose accesses a run must record. This shows whether the test reads the
    /// metadata of a changed file without opening it.
    pub(super) fn states(&self) -> Vec<StateId> {
        let states =
            self.paths.keys().map(|path| StateId { kind: StateKind::File, name: path.to_string() });
        states.collect()
    }

    /// Returns the changed files that a test accessed.
    pub(super) fn asked(&self, accesses: &[AccessRecord]) -> impl Iterator<Item = String> {
        let paths = accesses.iter().map(|access| access.state.name.as_str());
        paths.filter_map(|path| self.paths.get(Utf8Path::new(path)).cloned())
    }

    /// Returns which files were opened since the last call.
    pub(super) fn opened(&self) -> Opened {
        let mut opened = Opened { unseen: self.unseen.clone(), ..Opened::default() };
        for event in self.inotify.iter().flat_map(watch::events) {
            if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                // Events were lost, so any watched file may have been opened.
                let all = self.files.values().flatten().cloned();
                opened.unseen.extend(all.map(|name| Unseen { name, packages: None }));
            }
            // For a folder, only opening the folder itself counts, not opening an entry in it.
            let files = self.files.get(&event.wd).filter(|_| event.name.is_none());
            opened.files.extend(files.into_iter().flatten().cloned());
        }
        opened
    }
}

/// Files that compilers read.
#[derive(Debug, Default)]
struct Compiled {
    /// Crates that each file was read for.
    crates: BTreeMap<Utf8PathBuf, BTreeSet<String>>,
    /// Crates whose files are not known, because their dependency file cannot be read.
    unknown: BTreeSet<String>,
}

impl Compiled {
    /// Adds the files in a dependency file. Paths in it start at `root`.
    fn add(&mut self, file: &Utf8Path, root: &Utf8Path) {
        let stem = file.file_stem().unwrap_or_default();
        let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name).to_owned();
        let Ok(text) = std::fs::read_to_string(file) else {
            self.unknown.insert(name);
            return;
        };
        // A dependency file escapes spaces in paths with a backslash.
        let text = text.replace("\\ ", "\0");
        let paths = text.split_whitespace().map(|path| path.replace('\0', " "));
        for path in paths.map(|path| real(&root.join(path))) {
            self.crates.entry(path).or_default().insert(name.clone());
        }
    }

    /// Returns the crates that a file was, or may have been, read for.
    fn crates_of(&self, file: &Utf8Path) -> BTreeSet<&String> {
        self.crates.get(file).into_iter().flatten().chain(&self.unknown).collect()
    }
}

/// Returns every file that a compiler read for the executables of a project, with the crates that
/// it was read for. The source is the compiler's dependency files (`*.d`). Returns `None` if there
/// are none or a folder of them cannot be read.
fn read_by_compilers(project: &Project) -> Option<Compiled> {
    let folders: BTreeSet<&Utf8Path> = project
        .suites
        .iter()
        .filter_map(|suite| suite.binary.executable.parent())
        .filter(|folder| folder.file_name() == Some("deps"))
        .collect();
    // Procedural macros are compiled for the host. Their folder is next to the folder of the
    // target.
    let host_folder = |folder: &&Utf8Path| {
        let profile = folder.parent()?;
        Some(profile.parent()?.parent()?.join(profile.file_name()?).join("deps"))
    };
    let host_folders: BTreeSet<Utf8PathBuf> =
        folders.iter().filter_map(host_folder).filter(|folder| folder.is_dir()).collect();
    let mut compiled = Compiled::default();
    let mut is_known = false;
    for folder in folders.iter().copied().chain(host_folders.iter().map(Utf8PathBuf::as_path)) {
        for entry in folder.read_dir_utf8().ok()?.flatten() {
            if entry.path().extension() == Some("d") {
                compiled.add(entry.path(), &project.workspace_root);
                is_known = true;
            }
        }
    }
    is_known.then_some(compiled)
}

/// Returns the packages that have crates with these names. Returns `None` if one of the crates
/// belongs to no known package.
fn packages(project: &Project, crates: &BTreeSet<&String>) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for name in crates {
        let own = project.metadata.packages.iter().filter(|package| {
            package.targets.iter().any(|target| target.name.replace('-', "_") == **name)
        });
        let own: Vec<String> = own.map(|package| package.name.to_string()).collect();
        if own.is_empty() {
            return None;
        }
        found.extend(own);
    }
    Some(found)
}

/// Returns a canonical path: without symbolic links as far as the path exists, and without `.` and
/// `..`. A link may lead to the workspace, and git's paths do not contain it.
fn real(path: &Utf8Path) -> Utf8PathBuf {
    let of_folder = || Some(path.parent()?.canonicalize_utf8().ok()?.join(path.file_name()?));
    path.canonicalize_utf8().ok().or_else(of_folder).unwrap_or_else(|| normal(path))
}

/// Returns a path without `.` and `..`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_file_that_cannot_be_read_stands_for_every_file_of_its_crate_only() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap().canonicalize_utf8().unwrap();
        let mut compiled = Compiled::default();
        for (file, text) in [
            ("first-0123456789abcdef.d", b"first.rlib: src/lib.rs data/a\\ b.txt".as_slice()),
            ("second-0123456789abcdef.d", b"second: \xff"),
        ] {
            std::fs::write(root.join(file), text).unwrap();
            compiled.add(&root.join(file), &root);
        }
        let crates = |file: &str| compiled.crates_of(&real(&root.join(file)));
        assert_eq!(crates("data/a b.txt"), BTreeSet::from([&"first".into(), &"second".into()]));
        assert_eq!(crates("other.txt"), BTreeSet::from([&"second".to_owned()]));
    }
}
