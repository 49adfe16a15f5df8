//! Observes which files and folders of a repository the tests of a campaign open, themselves or
//! through a program that they start.
//!
//! The system reports accesses to every watched folder (inotify). It does not report which process
//! opened a file, so each test that runs at that moment is listed.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, Inotify, WatchDescriptor};

use super::watch;

/// Observer of files that are opened while tests run.
#[derive(Debug)]
pub(super) struct FileObserver {
    inotify: Inotify,
    folders: BTreeMap<WatchDescriptor, Utf8PathBuf>,
    /// Number of present runs of each test.
    running: BTreeMap<String, usize>,
    /// Files and folders that were opened while each test ran, as paths relative to the root.
    found: BTreeMap<String, BTreeSet<String>>,
    /// Whether events were lost because the queue of the system overflowed.
    is_lost: bool,
}

impl FileObserver {
    /// Watches the folders that contain these files of the repository at `root`. Returns `None` if
    /// the system cannot watch them all.
    pub(super) fn of<'a>(root: &Utf8Path, files: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut observer = FileObserver {
            inotify: watch::begin()?,
            folders: BTreeMap::new(),
            running: BTreeMap::new(),
            found: BTreeMap::new(),
            is_lost: false,
        };
        let around = |file| Utf8Path::new(file).ancestors().skip(1);
        let folders: BTreeSet<&Utf8Path> = files.flat_map(around).collect();
        for folder in folders {
            let path = root.join(folder);
            let watch = observer.inotify.add_watch(path.as_std_path(), AddWatchFlags::IN_OPEN);
            match watch {
                Ok(watch) => drop(observer.folders.insert(watch, folder.to_owned())),
                // A folder that does not exist cannot be opened.
                Err(Errno::ENOENT | Errno::ENOTDIR) => {}
                Err(_) => return None,
            }
        }
        Some(observer)
    }

    /// Records that a run of a test begins.
    pub(super) fn begin(&mut self, test: &str) {
        // Events until now belong to the tests that were already running.
        self.take();
        *self.running.entry(test.to_owned()).or_default() += 1;
    }

    /// Records that a run of a test ended.
    pub(super) fn end(&mut self, test: &str) {
        self.take();
        if let Some(count) = self.running.get_mut(test) {
            *count = count.saturating_sub(1);
        }
        self.running.retain(|_, count| *count > 0);
    }

    /// Adds what was opened since the last call to the running tests.
    fn take(&mut self) {
        let mut opened = BTreeSet::new();
        for event in watch::events(&self.inotify) {
            self.is_lost |= event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW);
            let Some(folder) = self.folders.get(&event.wd) else { continue };
            let name = event.name.as_deref().map(std::ffi::OsStr::to_string_lossy);
            let path = name.map_or(folder.clone(), |name| folder.join(&*name));
            opened.insert(path.into_string());
        }
        for test in self.running.keys() {
            self.found.entry(test.clone()).or_default().extend(opened.iter().cloned());
        }
    }

    /// Returns what was opened while each test ran. Returns `None` if events were lost.
    pub(super) fn found(mut self) -> Option<BTreeMap<String, BTreeSet<String>>> {
        self.take();
        (!self.is_lost).then_some(self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_is_said_of_each_test_that_runs_then() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        for file in ["a/one.md", "two.md"] {
            std::fs::write(root.join(file), file).unwrap();
        }
        let mut observer =
            FileObserver::of(root, ["a/one.md", "two.md", "gone/x"].into_iter()).unwrap();
        let open = |path: &str| drop(std::fs::File::open(root.join(path)).unwrap());
        open("two.md");
        observer.begin("first");
        open("a/one.md");
        observer.begin("second");
        open("a");
        observer.end("first");
        open("two.md");
        observer.end("second");
        let found = observer.found().unwrap();
        let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        // An opened folder is reported by its own watch and by that of its parent.
        assert_eq!(found["first"], set(&["a", "a/one.md"]));
        assert_eq!(found["second"], set(&["a", "two.md"]));
    }
}
