//! Entries below a folder, which show changes, and the contents of files.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum number of entries below a folder that is restored.
const MAX_ENTRIES: usize = 20_000;

/// Folders whose contents are ignored, because they do not belong to the tests.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// Name of cargo's folder, in which only new entries matter.
pub(super) const TARGET: &str = "target";

/// Names that cargo makes in its folder at any time.
const OF_CARGO: [&str; 6] =
    [".rustc_info.json", ".future-incompat-report.json", "CACHEDIR.TAG", "debug", "release", "doc"];

/// Properties by which a change of a file or folder is noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) mode: u32,
    /// Size of a file, and its modification time in seconds and nanoseconds. `None` for a folder.
    pub(super) stamp: Option<(u64, i64, i64)>,
}

impl TreeEntry {
    fn of(metadata: &Metadata) -> Self {
        // A restored link has a new time, so the time of a link is ignored.
        let stamp = if metadata.is_symlink() {
            (metadata.len(), 0, 0)
        } else {
            (metadata.len(), metadata.mtime(), metadata.mtime_nsec())
        };
        TreeEntry { mode: metadata.mode(), stamp: (!metadata.is_dir()).then_some(stamp) }
    }
}

/// Contents of a file.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// Target of a symbolic link.
    Link(PathBuf),
}

impl Content {
    /// Reads the contents of a file. Returns `None` on errors.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::read_link(path).map(Content::Link).or_else(|_| fs::read(path).map(Content::Bytes)).ok()
    }

    /// Writes the contents to a path. Ignores errors.
    pub(super) fn write(&self, path: &Path) {
        let _ = match self {
            Content::Bytes(bytes) => fs::write(path, bytes),
            Content::Link(to) => std::os::unix::fs::symlink(to, path),
        };
    }
}

/// Entries below some folders, by path.
pub(super) type Entries = BTreeMap<PathBuf, TreeEntry>;

/// Adds all entries below a folder to `entries`. Returns false if there are too many. In cargo's
/// folder, entries that are in `known` do not count as changed; if `known` is `None`, none of them
/// does.
pub(super) fn walk(folder: &Path, known: Option<&Entries>, entries: &mut Entries) -> bool {
    let is_target = folder.file_name().is_some_and(|name| name == TARGET);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        let name = entry.file_name();
        if is_target && OF_CARGO.contains(&&*name.to_string_lossy()) {
            continue;
        }
        let is_skipped = SKIPPED.contains(&&*name.to_string_lossy());
        let is_old = is_target && known.is_none_or(|known| known.contains_key(&path));
        let is_dir = metadata.is_dir();
        // Cargo may change its own entries at any time, so they are all recorded alike.
        let entry =
            if is_old { TreeEntry { mode: 0o755, stamp: None } } else { TreeEntry::of(&metadata) };
        entries.insert(path.clone(), entry);
        if entries.len() > MAX_ENTRIES {
            return false;
        }
        if is_dir && !is_skipped && !is_old && !walk(&path, known, entries) {
            return false;
        }
    }
    true
}
