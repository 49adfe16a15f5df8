//! Paths that the processes of a campaign record as written. Tests left no other files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use nondex_core::Event;

use super::record::Recorded;
use crate::locked::Locked;

/// Paths that were written until now.
#[derive(Debug, Default)]
pub(super) struct WrittenPaths(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Absolute paths without symbolic links.
    paths: BTreeSet<PathBuf>,
    /// Whether there may be other paths: a program ran that records nothing, or a record is
    /// incomplete.
    are_others: bool,
    /// Whether a plain build ran. Its tests write the same files as in the instrumented build.
    is_plain: bool,
}

impl WrittenPaths {
    /// Adds the contents of a record.
    pub(super) fn add(&self, recorded: &Recorded) {
        let mut known = self.0.locked();
        known.are_others |= !recorded.is_whole();
        for event in &recorded.events {
            match event {
                Event::Written { path: Some(path), .. } => _ = known.paths.insert(path.into()),
                Event::Written { path: None, .. } => known.are_others = true,
                _ => {}
            }
        }
    }

    /// Notes that a process ran that recorded nothing.
    pub(super) fn add_anything(&self) {
        self.0.locked().are_others = true;
    }

    /// Notes that tests of a plain build ran, which record nothing.
    pub(super) fn add_plain(&self) {
        self.0.locked().is_plain = true;
    }

    /// Forgets that processes ran without a complete record, because their files have been
    /// restored.
    pub(super) fn begin_anew(&self) {
        let mut known = self.0.locked();
        known.are_others = false;
        known.is_plain = false;
    }

    /// Returns whether something at or below this path was written, or a folder that contains it.
    /// Returns `None` if that is not known.
    pub(super) fn has(&self, path: &Path) -> Option<bool> {
        // A removed file cannot be resolved, but its folder still can.
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        let path = parent.zip(path.file_name()).map(|(parent, name)| parent.join(name))?;
        let known = self.0.locked();
        let next = known.paths.range(path.clone()..).next();
        let is_below = next.is_some_and(|written| written.starts_with(&path));
        let is_written = is_below || path.ancestors().any(|folder| known.paths.contains(folder));
        // A test may use another name in each run.
        let has_similar = |folder: &Path| {
            known
                .paths
                .range(folder.to_path_buf()..)
                .take_while(|written| written.starts_with(folder))
                .any(|written| written.parent() == Some(folder) && shape(written) == shape(&path))
        };
        let may_be_plain = known.is_plain && path.parent().is_some_and(has_similar);
        (is_written || !known.are_others && !may_be_plain).then_some(is_written)
    }
}

/// Returns the name of a file without the parts that differ in each run: numbers, and the random
/// part of names by the crate `tempfile`.
fn shape(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with(".tmp") {
        return ".tmp".to_owned();
    }
    let mut shape = String::new();
    for letter in name.chars() {
        let letter = if letter.is_ascii_digit() { '0' } else { letter };
        if letter != '0' || !shape.ends_with('0') {
            shape.push(letter);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(paths: &[Option<&Path>]) -> Recorded {
        let events = paths.iter().map(|path| Event::Written {
            test: "a".to_owned(),
            path: path.map(|path| path.display().to_string()),
        });
        Recorded { events: events.collect(), ..Recorded::default() }
    }

    #[test]
    fn what_is_told_is_known_and_the_rest_only_while_every_process_tells_all() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(folder.join("new/within")).unwrap();
        let written = WrittenPaths::default();
        let paths = [folder.join("a/b"), folder.join("new")];
        written.add(&recorded(&[Some(&paths[0]), Some(&paths[1])]));
        let has = |name: &str| written.has(&folder.join(name));
        for (name, expected) in [("a", true), ("new/within/c", true), ("ne", false), ("b", false)] {
            assert_eq!(has(name), Some(expected), "{name}");
        }
        let not_whole = Recorded { lost: 1, ..recorded(&[]) };
        for last in [recorded(&[None]), not_whole] {
            let written = WrittenPaths::default();
            written.add(&recorded(&[Some(&paths[0])]));
            written.add(&last);
            let has = |name: &str| written.has(&folder.join(name));
            assert_eq!((has("a"), has("b")), (Some(true), None));
            written.begin_anew();
            assert_eq!((has("a"), has("b")), (Some(true), Some(false)));
        }
    }

    #[test]
    fn a_plain_build_may_write_under_names_like_those_that_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir(folder.join("a")).unwrap();
        let written = WrittenPaths::default();
        let paths = [folder.join("a/log-71"), folder.join(".tmpDw")];
        written.add(&recorded(&[Some(&paths[0]), Some(&paths[1])]));
        let has = |name: &str| written.has(&folder.join(name));
        assert_eq!(has("a/log-8"), Some(false));
        written.add_plain();
        assert_eq!((has("a/log-71"), has("a/log-8")), (Some(true), None));
        assert_eq!(has(".tmp5f"), None);
        for other in ["a/notes", "log-71", "a/log"] {
            assert_eq!(has(other), Some(false), "{other}");
        }
    }
}
