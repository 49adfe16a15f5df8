//! Files that processes outside of the campaign have open for writing. Examples are this program's
//! output that is redirected into a file, and the log of a running server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::campaign::system;

/// Returns the files accepted by `is_wanted` that other processes have open for writing. This
/// process itself counts as one of these, but the processes that it started do not. Nothing is
/// known of a process that may not be inspected, so it is ignored.
pub(super) fn written_by_others(is_wanted: impl Fn(&Path) -> bool) -> BTreeSet<PathBuf> {
    let parents: BTreeMap<i32, i32> =
        system::processes().map(|(id, process)| (id, process.parent)).collect();
    let us = std::process::id().cast_signed();
    let others = parents.keys().filter(|id| !is_below(**id, us, &parents));
    let mut found = BTreeSet::new();
    for id in others {
        let folder = PathBuf::from(format!("/proc/{id}"));
        for descriptor in fs::read_dir(folder.join("fd")).into_iter().flatten().flatten() {
            let file = fs::read_link(descriptor.path()).unwrap_or_default();
            let info = folder.join("fdinfo").join(descriptor.file_name());
            if is_wanted(&file) && fs::read_to_string(info).is_ok_and(|text| is_for_writing(&text))
            {
                found.insert(file);
            }
        }
    }
    found
}

/// Returns whether a process is a descendant of `of`.
fn is_below(id: i32, of: i32, parents: &BTreeMap<i32, i32>) -> bool {
    let mut above = parents.get(&id);
    // The table may have a cycle, because a process id may have been reused while the table was
    // read.
    for _ in 0..parents.len() {
        match above {
            Some(parent) if *parent == of => return true,
            Some(parent) => above = parents.get(parent),
            None => return false,
        }
    }
    false
}

/// Returns whether the descriptor with this `fdinfo` was opened for writing.
fn is_for_writing(information: &str) -> bool {
    let flags = information
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & nix::libc::O_ACCMODE != nix::libc::O_RDONLY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_of_ours_writes_is_not_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join("of-a-child");
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .stdout(fs::File::create(&file).unwrap())
            .spawn()
            .unwrap();
        let found = written_by_others(|path| path == file);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.is_empty());
    }

    #[test]
    fn only_a_descriptor_for_writing_counts() {
        assert!(is_for_writing("pos:\t0\nflags:\t0100001\n"));
        assert!(is_for_writing("flags:\t0100002\n"));
        assert!(!is_for_writing("flags:\t0100000\n"));
        assert!(!is_for_writing("pos:\t0\n"));
    }
}
