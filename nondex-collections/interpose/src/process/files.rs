//! Files that tests create, change and remove below the current and the temporary directory.

use ::std::fs::{self, Metadata};
use ::std::os::unix::fs::MetadataExt;
use ::std::path::{Path, PathBuf};

use nondex_core::sorted::SortedMap;
use nondex_core::{StateChange, StateId, StateKind};

/// Maximum number of entries below a directory. With more, its changes are not recorded.
const MAX_ENTRIES: usize = 5_000;

/// Maximum depth below a directory.
const MAX_DEPTH: usize = 6;

/// Directories that are not searched, because the tests do not own what is in them.
const SKIPPED: [&str; 3] = ["target", ".git", "node_modules"];

/// Prefix of the names of the tool's own temporary files.
const OURS: &str = "nondex-";

/// Properties of a file or directory by which changes are detected.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    size: u64,
    /// Times of the last changes to content and metadata, and inode number; `None` for a directory.
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

/// Entries below each of the directories; `None` if there are too many.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(Vec<(PathBuf, Option<SortedMap<PathBuf, Entry>>)>);

impl Files {
    /// Lists the entries below `roots`, without those below `but`.
    pub(super) fn below(roots: &[PathBuf], but: Option<&Path>) -> Self {
        let entries = |root: &PathBuf| {
            let mut entries = Vec::new();
            let is_whole = walk(root, MAX_DEPTH, but, &mut entries);
            (root.clone(), is_whole.then(|| entries.into_iter().collect()))
        };
        Files(roots.iter().map(entries).collect())
    }

    /// Returns whether the entries below this directory are known.
    pub(super) fn knows(&self, root: &Path) -> bool {
        self.entries(root).is_some()
    }

    fn entries(&self, root: &Path) -> Option<&SortedMap<PathBuf, Entry>> {
        let (_, entries) = self.0.iter().find(|(known, _)| known == root)?;
        entries.as_ref()
    }

    /// Returns the differences to a later listing.
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

/// Collects all entries below a directory. Returns false if there are too many.
fn walk(
    folder: &Path,
    depth: usize,
    but: Option<&Path>,
    entries: &mut Vec<(PathBuf, Entry)>,
) -> bool {
    let Ok(found) = fs::read_dir(folder) else { return true };
    for entry in found.flatten() {
        let path = entry.path();
        let file_name = entry.file_name();
        let name = file_name.to_string_lossy();
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

/// Saved state of a file.
#[derive(Clone, Debug)]
pub(super) enum Saved {
    /// It did not exist.
    Nothing,
    /// It was a directory, whose content is not saved.
    Folder,
    /// It had this content and metadata.
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

    /// Restores the file.
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
