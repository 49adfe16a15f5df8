//! Snapshot of the project's folders before any test runs, and their restoration.
//!
//! Files that a test leaves in the source tree affect all later processes. Restoring loses nothing:
//! the files of tests are moved away, not deleted.

mod entries;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use self::entries::{Content, Entries, TARGET, walk};
use super::written_paths::WrittenPaths;
use crate::locked::Locked;

/// Maximum size of a file whose content is saved, and of all such files together, in bytes.
const MAX_FILE: u64 = 256 << 10;
const MAX_ALL: u64 = 32 << 20;

/// See the [module](self).
#[derive(Debug)]
pub struct Tree {
    /// The folders that are compared. None is inside another one that is compared completely.
    roots: Vec<PathBuf>,
    before: Entries,
    contents: BTreeMap<PathBuf, Content>,
    /// Folder to which files left by tests are moved.
    kept: PathBuf,
    next: AtomicU64,
    is_left: AtomicBool,
    /// Files that processes outside of the campaign were seen writing. They are never restored.
    foreign: Mutex<BTreeSet<PathBuf>>,
    /// Files that processes of the campaign report as written.
    written: WrittenPaths,
}

impl Tree {
    /// Takes a snapshot of the files below these folders. Files that tests leave there go to
    /// `kept`.
    pub fn of(folders: impl IntoIterator<Item = PathBuf>, kept: PathBuf) -> Self {
        let mut roots: Vec<PathBuf> = folders.into_iter().collect();
        roots.sort();
        roots.dedup_by(|inner, outer| {
            // In cargo's target folder only new entries are compared, so a folder inside it stays a
            // root.
            let is_target = outer.ends_with(TARGET);
            inner.strip_prefix(outer).is_ok_and(|within| {
                let is_in_target = is_target || within.iter().any(|name| name == TARGET);
                within.as_os_str().is_empty() || !is_in_target
            })
        });
        let mut before = Entries::new();
        roots.retain(|root| {
            let mut entries = Entries::new();
            let is_whole = walk(root, None, &mut entries);
            before.extend(if is_whole { entries } else { Entries::new() });
            is_whole
        });
        let mut left = MAX_ALL;
        let mut contents = BTreeMap::new();
        for (path, entry) in &before {
            let Some((length, _, _)) = entry.stamp else { continue };
            if length <= MAX_FILE.min(left)
                && let Some(content) = Content::of(path)
            {
                left -= length;
                contents.insert(path.clone(), content);
            }
        }
        Tree {
            roots,
            before,
            contents,
            kept,
            next: AtomicU64::new(0),
            is_left: AtomicBool::new(false),
            foreign: Mutex::default(),
            written: WrittenPaths::default(),
        }
    }

    /// Returns a snapshot of no files.
    pub fn none() -> Self {
        Tree::of([], PathBuf::new())
    }

    /// Returns whether there are no folders, so that there is nothing to restore.
    pub const fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Returns the files that the processes of the campaign write.
    pub(super) const fn written(&self) -> &WrittenPaths {
        &self.written
    }

    /// Restores the files, and forgets all reported and unreported writes until now.
    pub(super) fn begin_anew(&self) {
        self.restore();
        self.written.begin_anew();
    }

    /// Returns whether tests were seen leaving files.
    pub fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// Returns the paths that tests changed and that differ now. Of new paths, only the outermost
    /// folder.
    pub(super) fn left(&self) -> Vec<PathBuf> {
        let mut now = Entries::new();
        for root in &self.roots {
            walk(root, Some(&self.before), &mut now);
        }
        let gone = self.before.keys().filter(|path| !now.contains_key(*path)).cloned();
        let new = now.iter().filter(|(path, entry)| {
            let is_within = path.parent().is_some_and(|parent| {
                now.contains_key(parent) && !self.before.contains_key(parent)
            });
            self.before.get(*path) != Some(*entry) && !is_within
        });
        let left = gone.chain(new.map(|(path, _)| path.clone())).collect();
        self.of_tests(left)
    }

    /// Returns whether a process outside of the campaign writes this file.
    pub(super) fn is_of_others(&self, path: &Path) -> bool {
        self.has(path) && self.of_tests(vec![path.to_owned()]).is_empty()
    }

    /// Returns the paths that tests changed. Processes of the campaign record most of their writes.
    /// A path that may have been changed without a record counts unless another process writes it.
    fn of_tests(&self, left: Vec<PathBuf>) -> Vec<PathBuf> {
        // Removals and changes of permissions are not recorded.
        let may_lack_record = |path: &PathBuf| {
            let now = fs::symlink_metadata(path).map(|now| now.mode()).ok();
            let before = self.before.get(path);
            before.is_some_and(|before| now != Some(before.mode))
        };
        let written = |path: &PathBuf| {
            let written = self.written.has(path);
            written.filter(|written| *written || !may_lack_record(path))
        };
        let known: Vec<Option<bool>> = left.iter().map(written).collect();
        let unknown = left.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<PathBuf> = unknown.map(|(path, _)| path.clone()).collect();
        let ours: BTreeSet<PathBuf> = self.without_foreign(unknown).into_iter().collect();
        let is_of_test =
            |(path, known): &(PathBuf, Option<bool>)| known.unwrap_or_else(|| ours.contains(path));
        left.into_iter().zip(known).filter(is_of_test).map(|(path, _)| path).collect()
    }

    /// Leaves out files that processes outside of the campaign write.
    ///
    /// Another process may have closed the file by the time that the change is found. A changed
    /// source is attributed to an editor, because editors write sources and tests do not.
    fn without_foreign(&self, mut left: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut foreign = self.foreign.locked();
        // In path order, the contents of a folder follow the folder.
        let is_known = |foreign: &BTreeSet<PathBuf>, path: &PathBuf| {
            foreign.range(path.clone()..).next().is_some_and(|file| file.starts_with(path))
        };
        if left.iter().all(|path| is_known(&foreign, path)) {
            return Vec::new();
        }
        // The system reports paths in which symbolic links are resolved.
        let roots: Vec<(PathBuf, &PathBuf)> =
            self.roots.iter().filter_map(|root| Some((root.canonicalize().ok()?, root))).collect();
        let ours = |file: &Path| {
            roots.iter().find_map(|(resolved, root)| {
                let within = file.strip_prefix(resolved).ok()?;
                Some(root.join(within))
            })
        };
        let written = writers::written_by_others(|file| ours(file).is_some());
        foreign.extend(written.iter().filter_map(|file| ours(file)));
        let edited = left.iter().filter(|path| {
            self.before.get(*path).is_some_and(|entry| entry.stamp.is_some()) && is_source(path)
        });
        foreign.extend(edited.cloned());
        left.retain(|path| !is_known(&foreign, path));
        left
    }

    /// Returns the folder to which files left by tests are moved.
    pub(super) fn kept(&self) -> &Path {
        &self.kept
    }

    /// Returns whether a file is below a folder that is restored.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Restores all paths that differ. Returns whether there were any.
    pub fn restore(&self) -> bool {
        let left = self.left();
        left.iter().for_each(|path| self.restore_path(path));
        if !left.is_empty() {
            self.is_left.store(true, Ordering::Relaxed);
        }
        !left.is_empty()
    }

    /// Restores one file or folder.
    pub(super) fn restore_path(&self, path: &Path) {
        let before = self.before.get(path);
        let is_there = fs::symlink_metadata(path).is_ok();
        let is_folder = before.is_some_and(|entry| entry.stamp.is_none());
        if is_there && !(is_folder && path.is_dir()) && !self.keep(path) {
            return;
        }
        let Some(before) = before else { return };
        if is_folder {
            let _ = fs::create_dir(path);
        } else if let Some(content) = self.contents.get(path) {
            content.write(path);
            if matches!(content, Content::Link(_)) {
                return;
            }
        }
        let mode = std::os::unix::fs::PermissionsExt::from_mode(before.mode);
        let _ = fs::set_permissions(path, mode);
        if let (Some((_, seconds, nanos)), Ok(file)) = (before.stamp, fs::File::open(path)) {
            let since = std::time::Duration::new(
                u64::try_from(seconds).unwrap_or_default(),
                u32::try_from(nanos).unwrap_or_default(),
            );
            let _ = file.set_modified(std::time::UNIX_EPOCH + since);
        }
    }

    /// Moves the entry at `path` away if its earlier content can be restored. Returns whether it
    /// did.
    fn keep(&self, path: &Path) -> bool {
        let is_known = self.contents.contains_key(path);
        let had_file = self.before.get(path).is_some_and(|entry| entry.stamp.is_some());
        if had_file && !is_known {
            return false;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let _ = fs::create_dir_all(&self.kept);
        let place = loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let place = self.kept.join(format!("{number}-{name}"));
            // Another tree may have kept something there.
            if place.symlink_metadata().is_err() {
                break place;
            }
        };
        fs::rename(path, place).is_ok()
    }
}

/// Returns whether a file is a source of the project, which people edit while a campaign runs.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    path.extension().is_some_and(|extension| extension == "rs")
        || name == "Cargo.toml"
        || name == "Cargo.lock"
}

#[cfg(test)]
mod tests {
    use nondex_core::Event;

    use super::*;
    use crate::campaign::record::Recorded;

    #[test]
    fn what_is_left_is_moved_away_and_what_was_there_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &str| folder.path().join("package").join(path);
        fs::create_dir_all(of("target/debug")).unwrap();
        fs::create_dir_all(of("target/tmp")).unwrap();
        fs::create_dir_all(of("data")).unwrap();
        fs::write(of("data/a"), "1").unwrap();
        fs::write(of("data/b"), "2").unwrap();
        let kept = folder.path().join("kept");
        let tree = Tree::of([of("target/tmp"), of("data"), of("")], kept.clone());
        tree.written().add_anything();
        assert!(!tree.restore() && !tree.is_left());
        fs::write(of("data/a"), "changed").unwrap();
        fs::remove_file(of("data/b")).unwrap();
        fs::create_dir_all(of("target/of-tests/deep")).unwrap();
        fs::write(of("target/debug/of-cargo"), "").unwrap();
        fs::write(of("target/tmp/report"), "").unwrap();
        fs::write(of("new"), "mine").unwrap();
        let left = tree.left();
        let names: Vec<String> = left
            .iter()
            .map(|path| path.strip_prefix(of("")).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["data/b", "data/a", "new", "target/of-tests", "target/tmp/report"]);
        assert!(tree.restore() && tree.is_left());
        assert!(tree.left().is_empty());
        assert_eq!(fs::read_to_string(of("data/a")).unwrap(), "1");
        assert_eq!(fs::read_to_string(of("data/b")).unwrap(), "2");
        assert!(!of("new").exists() && of("target/debug/of-cargo").exists());
        let mut kept: Vec<String> = fs::read_dir(kept)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        kept.sort();
        assert_eq!(kept, ["0-a", "1-new", "2-of-tests", "3-report"]);
    }

    #[test]
    fn of_a_target_folder_outside_of_all_packages_what_is_new_is_moved_away() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &str| folder.path().join(path);
        for path in ["package", "target/nondex/build/tmp"] {
            fs::create_dir_all(of(path)).unwrap();
        }
        let roots = ["package", "target", "target/nondex/build/tmp"].map(of);
        let tree = Tree::of(roots, of("kept"));
        tree.written().add_anything();
        fs::create_dir_all(of("target/of-tests")).unwrap();
        fs::create_dir_all(of("target/debug")).unwrap();
        fs::write(of("target/.rustc_info.json"), "").unwrap();
        fs::write(of("target/nondex/build/of-cargo"), "").unwrap();
        fs::write(of("target/nondex/build/tmp/report"), "").unwrap();
        assert!(tree.restore());
        assert!(!of("target/of-tests").exists() && !of("target/nondex/build/tmp/report").exists());
        for of_cargo in ["nondex/build/of-cargo", "debug", ".rustc_info.json"] {
            assert!(of("target").join(of_cargo).exists(), "{of_cargo}");
        }
    }

    #[test]
    fn what_another_tree_has_kept_stays_and_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &str| folder.path().join(path);
        fs::create_dir(of("package")).unwrap();
        for text in ["first", "second"] {
            let tree = Tree::of([of("package")], of("kept"));
            tree.written().add_anything();
            fs::create_dir(of("package/out")).unwrap();
            fs::write(of("package/out/text"), text).unwrap();
            assert!(tree.restore() && !of("package/out").exists());
        }
        let text = |number: u32| fs::read_to_string(of(&format!("kept/{number}-out/text")));
        assert_eq!([text(0).unwrap(), text(1).unwrap()], ["first", "second"]);
    }

    #[test]
    fn what_others_write_stays_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &str| folder.path().join("package").join(path);
        fs::create_dir_all(of("src")).unwrap();
        fs::write(of("src/lib.rs"), "1").unwrap();
        let tree = Tree::of([of("")], folder.path().join("kept"));
        tree.written().add_anything();
        // No campaign started this process.
        let output = fs::File::create(of("out.txt")).unwrap();
        fs::create_dir(of("logs")).unwrap();
        let log = fs::File::create(of("logs/today")).unwrap();
        fs::write(of("src/lib.rs"), "edited").unwrap();
        fs::write(of("left"), "by a test").unwrap();
        assert_eq!(tree.left(), [of("left")]);
        assert!(tree.restore());
        drop((output, log));
        assert!(!tree.restore());
        assert_eq!(fs::read_to_string(of("src/lib.rs")).unwrap(), "edited");
        assert!(of("out.txt").exists() && of("logs/today").exists() && !of("left").exists());
    }

    #[test]
    fn where_writes_are_known_nothing_else_is_left_by_a_test() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &str| folder.path().join("package").join(path);
        fs::create_dir_all(of("src")).unwrap();
        fs::write(of("src/lib.rs"), "1").unwrap();
        fs::write(of("src/made.rs"), "1").unwrap();
        fs::write(of("gone"), "1").unwrap();
        let tree = Tree::of([of("")], folder.path().join("kept"));
        let reported = ["new", "src/made.rs"].map(|path| Event::Written {
            test: "a".to_owned(),
            path: Some(of(path).canonicalize().unwrap_or(of(path)).display().to_string()),
        });
        fs::write(of("src/lib.rs"), "edited").unwrap();
        fs::write(of("src/made.rs"), "by a test").unwrap();
        fs::write(of("notes"), "by somebody").unwrap();
        fs::write(of("new"), "by a test").unwrap();
        fs::remove_file(of("gone")).unwrap();
        tree.written().add(&Recorded { events: reported.into(), ..Recorded::default() });
        assert_eq!(tree.left(), ["gone", "new", "src/made.rs"].map(of));
        // A program that records nothing may have written the other files, too.
        tree.written().add_anything();
        assert_eq!(tree.left(), ["gone", "new", "notes", "src/made.rs"].map(of));
    }
}
