//! Files that tests create, change and remove below the current and the temporary directory.

use ::std::fs::{self, Metadata};
use ::std::os::unix::fs::MetadataExt;
use ::std::path::{Path, PathBuf};

use nondex_core::sorted::SortedMap;
use nondex_core::{StateChange, StateId, StateKind};

/// How many entries are looked at below one directory. With more, it is not recorded.
const MAX_ENTRIES: usize = 5_000;

/// How deep.
const MAX_DEPTH: usize = 6;

/// Directories that are not looked into: what is in them is not the tests'.
const SKIPPED: [&str; 3] = ["target", ".git", "node_modules"];

/// The start of the names of our own temporary files.
const OURS: &str = "nondex-";

/// What is known of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    size: u64,
    /// When it was changed last, by its content and otherwise, and which file it is; of a directory
    /// nothing.
    stamp: Option<(i64, i64, i64, i64, u64)>,
}

impl Entry {
    fn of(metadata: &Metadata) -> Self {
        let stamp = (
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
            metadata.ino(),
        );
        let is_dir = metadata.is_dir();
        Entry {
            mode: metadata.mode(),
            size: if is_dir { 0 } else { metadata.len() },
            stamp: (!is_dir).then_some(stamp),
        }
    }

    fn text(&self) -> String {
        match self.stamp {
            None => "a folder".to_owned(),
            Some(_) => format!("{} bytes", self.size),
        }
    }
}

/// The entries below each of the directories.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(Vec<(PathBuf, Option<SortedMap<PathBuf, Entry>>)>);

impl Files {
    /// What is there now, below `roots`, without what is below `but`.
    pub(super) fn below(roots: &[PathBuf], but: Option<&Path>) -> Self {
        let entries = |root: &PathBuf| {
            let mut entries = Vec::new();
            let is_whole = walk(root, MAX_DEPTH, but, &mut entries);
            (root.clone(), is_whole.then(|| entries.into_iter().collect()))
        };
        Files(roots.iter().map(entries).collect())
    }

    /// Whether all below this directory is known.
    pub(super) fn knows(&self, root: &Path) -> bool {
        self.entries(root).is_some()
    }

    fn entries(&self, root: &Path) -> Option<&SortedMap<PathBuf, Entry>> {
        let (_, entries) = self.0.iter().find(|(known, _)| known == root)?;
        entries.as_ref()
    }

    /// What is different `after`.
    pub(super) fn changes(&self, after: &Files) -> Vec<StateChange> {
        let mut changes = Vec::new();
        for (root, before) in &self.0 {
            let (Some(before), Some(after)) = (before, after.entries(root)) else { continue };
            let different = before.differences(after);
            changes.extend(different.map(|(path, before, after)| StateChange {
                state: StateId { kind: StateKind::File, name: path.to_string_lossy().into_owned() },
                before: before.map(Entry::text),
                after: after.map(Entry::text),
            }));
        }
        changes.sort_unstable_by(|one, other| one.state.cmp(&other.state));
        changes.dedup();
        changes
    }
}

/// Notes all entries below a directory; false when there are too many.
fn walk(
    folder: &Path,
    depth: usize,
    but: Option<&Path>,
    entries: &mut Vec<(PathBuf, Entry)>,
) -> bool {
    let Ok(found) = fs::read_dir(folder) else { return true };
    for entry in found.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(metadata) = entry.metadata() else { continue };
        if Some(path.as_path()) == but || name.starts_with(OURS) {
            continue;
        }
        entries.push((path.clone(), Entry::of(&metadata)));
        if entries.len() > MAX_ENTRIES {
            return false;
        }
        let is_looked_into = metadata.is_dir() && depth > 0 && !SKIPPED.contains(&&*name);
        if is_looked_into && !walk(&path, depth - 1, but, entries) {
            return false;
        }
    }
    true
}

/// A file as it was.
#[derive(Clone, Debug)]
pub(super) enum Saved {
    /// It was not there.
    Nothing,
    /// It was a directory; what was in it is not kept.
    Folder,
    /// Its content.
    Content(Vec<u8>, Metadata),
}

impl Saved {
    pub(super) fn of(path: &Path) -> Self {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => Saved::Folder,
            Ok(metadata) => {
                fs::read(path).map_or(Saved::Nothing, |content| Saved::Content(content, metadata))
            }
            Err(_) => Saved::Nothing,
        }
    }

    /// Makes the file what it was.
    pub(super) fn restore(&self, path: &Path) {
        let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
        match self {
            Saved::Nothing if is_folder => _ = fs::remove_dir_all(path),
            Saved::Nothing => _ = fs::remove_file(path),
            Saved::Folder => {
                if !is_folder {
                    let _ = fs::remove_file(path);
                }
                let _ = fs::create_dir_all(path);
            }
            Saved::Content(content, metadata) => {
                if is_folder {
                    let _ = fs::remove_dir_all(path);
                }
                if let Some(parent) = path.parent() {
                    let _ = fs::create_dir_all(parent);
                }
                if fs::write(path, content).is_ok() {
                    let _ = fs::set_permissions(path, metadata.permissions());
                    if let (Ok(file), Ok(time)) = (fs::File::open(path), metadata.modified()) {
                        let _ = file.set_modified(time);
                    }
                }
            }
        }
    }
}
