//! History of each test across commits: `<target>/nondex/history`, or a directory that CI keeps.
//!
//! There is one file for each run, named by its time and content, so histories of several machines
//! are merged by copying files. Results are keyed by what was run, not by the commit. They stay
//! valid when a commit is moved or rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;
use serde::{Deserialize, Serialize};

use crate::atomic_file;
use crate::error::Result;
use crate::file;
use crate::report::Verdict;

/// The schema version of [`HistoryEntry`].
const SCHEMA: u32 = 1;

/// Maximum number of runs that are kept. Adding a run deletes the oldest ones above this limit.
pub const KEPT_ENTRIES: usize = 500;

/// The history of runs in a directory.
#[derive(Clone, Debug)]
pub struct History {
    folder: Utf8PathBuf,
}

/// One run of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// The version of the schema.
    pub schema: u32,
    /// Time of the run, in milliseconds since 1970. Runs are sorted by it.
    pub time: u64,
    /// The commit that was checked out; null if there is none.
    pub commit: Option<String>,
    /// Whether the working tree differed from the commit.
    #[serde(default)]
    pub modified: bool,
    /// Everything that the results depend on.
    pub key: HistoryKey,
    /// The results of the tests that ran, by test id.
    pub tests: BTreeMap<String, Life>,
    /// The compiled lines of each file of which tests executed some line, as text like in
    /// [`Life::ran`].
    #[serde(default)]
    pub compiled: BTreeMap<String, String>,
}

/// What determines the outcome of a test, besides its options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryKey {
    /// The content of the repository, as a git tree; null if there is none.
    pub tree: Option<String>,
    /// The hash of `Cargo.lock`, which may not be part of the tree.
    pub lockfile: Option<String>,
    /// The version text of the toolchain.
    pub toolchain: String,
    /// The version of this tool.
    pub tool: String,
    /// How the tests were built: flags, and variables that cargo reads.
    pub build: String,
}

impl HistoryKey {
    /// Returns whether two keys differ at most in the content of the repository.
    pub fn is_alike(&self, other: &HistoryKey) -> bool {
        let without_tree = |key: &HistoryKey| HistoryKey { tree: None, ..key.clone() };
        without_tree(self) == without_tree(other)
    }
}

/// The result of a test in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// The verdict on the test.
    pub verdict: Verdict,
    /// Options of the run; results with different options are not comparable.
    pub asked: String,
    /// Whether the test also ran in other test orders.
    #[serde(default)]
    pub in_orders: bool,
    /// Number of choice points that the first clean run reached.
    pub choices: u64,
    /// Total duration of its runs, in milliseconds.
    pub elapsed_ms: u64,
    /// The lines of the repository that any of its runs executed, by file: `3-7,9`. Null if lines
    /// were not requested, if some are missing, or if runs were skipped when the budget was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran: Option<BTreeMap<String, String>>,
    /// The files and directories of the repository that the test, or a test that ran concurrently,
    /// opened. Null in the same cases as [`Life::ran`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<BTreeSet<String>>,
}

impl History {
    /// Creates the history in `folder`, which need not exist.
    pub fn new(folder: &Utf8Path) -> Self {
        History { folder: folder.to_owned() }
    }

    /// Returns the directory for content that is in no commit.
    pub fn objects(&self) -> Utf8PathBuf {
        self.folder.join("objects")
    }

    /// Adds a run.
    ///
    /// # Errors
    /// Returns a set-up error with the path when the file cannot be written.
    pub fn add(&self, entry: &HistoryEntry) -> Result<()> {
        let mut text = serde_json::to_vec(&HistoryEntry { schema: SCHEMA, ..entry.clone() })
            .expect("every map of an entry has strings as keys");
        text.push(b'\n');
        let name = format!("{:015}-{:016x}.json", entry.time, hash::of(&text));
        atomic_file::text(&self.folder.join(name), &text)?;
        for old in file::list_json(&self.folder)?.iter().rev().skip(KEPT_ENTRIES) {
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    /// Returns all runs, the oldest first, and a sentence about each unreadable file.
    ///
    /// # Errors
    /// Returns an error when the folder cannot be read. A missing folder is not an error.
    pub fn all(&self) -> Result<(Vec<HistoryEntry>, Vec<String>)> {
        let mut entries = Vec::new();
        let mut damaged = Vec::new();
        for path in file::list_json(&self.folder)? {
            let text = fs::read_to_string(&path).map_err(|e| e.to_string());
            let entry = text.and_then(|text| {
                serde_json::from_str::<HistoryEntry>(&text).map_err(|e| e.to_string())
            });
            match entry {
                Ok(entry) if entry.schema == SCHEMA => entries.push(entry),
                Ok(entry) => damaged.push(format!(
                    "`{path}` has version {} of the history, and this tool reads \
                     version {SCHEMA}",
                    entry.schema
                )),
                Err(why) => damaged.push(format!("`{path}` is not a run of the history: {why}")),
            }
        }
        Ok((entries, damaged))
    }
}

/// Formats line numbers as text: `3-7,9`.
pub fn to_text(lines: &BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    });
    texts.collect::<Vec<String>>().join(",")
}

/// Parses line numbers from text. Returns `None` if the text is invalid.
pub fn of_text(text: &str) -> Option<BTreeSet<u32>> {
    let mut lines = BTreeSet::new();
    for range in text.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        lines.extend(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?);
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_as_ranges() {
        let lines = BTreeSet::from([1, 3, 4, 5, 9]);
        assert_eq!(to_text(&lines), "1,3-5,9");
        assert_eq!(of_text("1,3-5,9"), Some(lines));
        assert_eq!(of_text(""), Some(BTreeSet::new()));
        assert_eq!(of_text("a"), None);
    }

    #[test]
    fn runs_of_two_machines_are_merged_by_copying() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [one, two] = folders
            .each_ref()
            .map(|folder| History::new(Utf8Path::from_path(folder.path()).unwrap()));
        let entry = |time, commit: &str| HistoryEntry {
            schema: SCHEMA,
            time,
            commit: Some(commit.to_owned()),
            ..HistoryEntry::default()
        };
        one.add(&entry(2, "b")).unwrap();
        two.add(&entry(2, "c")).unwrap();
        two.add(&entry(1, "a")).unwrap();
        for file in file::list_json(&two.folder).unwrap() {
            let to = one.folder.join(file.file_name().unwrap());
            assert!(!to.exists());
            fs::copy(&file, to).unwrap();
        }
        fs::write(one.folder.join("3.json"), "{}").unwrap();
        let (entries, damaged) = one.all().unwrap();
        let times: Vec<u64> = entries.iter().map(|entry| entry.time).collect();
        assert_eq!((times, damaged.len()), (vec![1, 2, 2], 1));
    }
}
