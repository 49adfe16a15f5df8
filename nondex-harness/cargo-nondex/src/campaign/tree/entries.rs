//! What is below a folder: the entries, by which a change is noticed, and what is in a file.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// With more entries below a folder, its files are not looked at.
const MAX_ENTRIES: usize = 20_000;

/// Folders that are not looked into: what is in them is not the tests'.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// Cargo's folder, of which only what is new is looked at.
pub(super) const TARGET: &str = "target";

/// What a file or folder is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: u32,
    /// Of a file, its size and when it was changed last.
    pub(super) stamp: Option<(u64, i64, i64)>,
}

impl Entry {
    fn of(metadata: &Metadata) -> Self {
        // A link that is put back is as new.
        let stamp = if metadata.is_symlink() {
            (metadata.len(), 0, 0)
        } else {
            (metadata.len(), metadata.mtime(), metadata.mtime_nsec())
        };
        Entry { mode: metadata.mode(), stamp: (!metadata.is_dir()).then_some(stamp) }
    }
}

/// What is in a file.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// Of a symbolic link, where it leads.
    Link(PathBuf),
}

impl Content {
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::read_link(path).map(Content::Link).or_else(|_| fs::read(path).map(Content::Bytes)).ok()
    }

    pub(super) fn write(&self, path: &Path) {
        let _ = match self {
            Content::Bytes(bytes) => fs::write(path, bytes),
            Content::Link(to) => std::os::unix::fs::symlink(to, path),
        };
    }
}

/// All entries below some folders.
pub(super) type Entries = BTreeMap<PathBuf, Entry>;

/// Notes all entries below a folder; false when there are too many. Of cargo's folder only what is
/// not `known`.
pub(super) fn walk(folder: &Path, known: Option<&Entries>, entries: &mut Entries) -> bool {
    let is_target = folder.file_name().is_some_and(|name| name == TARGET);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        let name = entry.file_name();
        let is_skipped = SKIPPED.contains(&&*name.to_string_lossy());
        let is_old = is_target && known.is_none_or(|known| known.contains_key(&path));
        let is_dir = metadata.is_dir();
        // Cargo's own change as they like.
        let entry = if is_old { Entry { mode: 0o755, stamp: None } } else { Entry::of(&metadata) };
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
