//! What became of each test, commit by commit: `<target>/nondex/history`, or a folder that CI
//! keeps.
//!
//! One file for each run, named by when it was and by its content: folders of several machines are
//! merged by copying. What a run shows is keyed by what was run, not by its commit, so it is still
//! known when a commit is moved or rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;
use serde::{Deserialize, Serialize};

use crate::atomic_file;
use crate::error::Result;
use crate::file;
use crate::report::Verdict;

/// The version of [`Entry`].
const SCHEMA: u32 = 1;

/// How many runs are kept: the oldest are deleted when one is added.
pub const KEPT_ENTRIES: usize = 500;

/// The runs that are remembered.
#[derive(Clone, Debug)]
pub struct History {
    folder: Utf8PathBuf,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of the schema.
    pub schema: u32,
    /// When it was, in milliseconds since 1970: that is what runs are sorted by.
    pub time: u64,
    /// The commit that was checked out; null where there is none.
    pub commit: Option<String>,
    /// Whether something was different from the commit.
    #[serde(default)]
    pub modified: bool,
    /// What was run.
    pub key: Key,
    /// Each test that was run, by its id.
    pub tests: BTreeMap<String, Life>,
    /// The lines that were compiled, of the files that tests ran something of; as in [`Life::ran`].
    #[serde(default)]
    pub compiled: BTreeMap<String, String>,
}

/// What decides, besides the options of a test, how it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The content of the repository, as a tree of git; null where there is none.
    pub tree: Option<String>,
    /// The hash of `Cargo.lock`, which may be no part of it.
    pub lockfile: Option<String>,
    /// The version text of the toolchain.
    pub toolchain: String,
    /// The version of this tool.
    pub tool: String,
    /// What was built: flags, and variables that cargo reads.
    pub build: String,
}

impl Key {
    /// Whether two runs differ in nothing but the content of the repository.
    pub fn is_alike(&self, other: &Key) -> bool {
        let without_tree = |key: &Key| Key { tree: None, ..key.clone() };
        without_tree(self) == without_tree(other)
    }
}

/// How a test was in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// What was concluded.
    pub verdict: Verdict,
    /// Options of the run: results with other options are not comparable.
    pub asked: String,
    /// Whether it was run in other orders, too.
    #[serde(default)]
    pub in_orders: bool,
    /// Choice points that its first clean run reached.
    pub choices: u64,
    /// How long its runs took together, in milliseconds.
    pub elapsed_ms: u64,
    /// The lines of the repository that any of its runs ran, by file: `3-7,9`. Null when that was
    /// not asked for, when some of it is lost, or when runs were left out as the budget was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran: Option<BTreeMap<String, String>>,
    /// The files and folders of the repository that it, or a test that ran at the same time,
    /// opened. Null as [`Life::ran`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<BTreeSet<String>>,
}

impl History {
    /// That in `folder`; it need not exist.
    pub fn new(folder: &Utf8Path) -> Self {
        History { folder: folder.to_owned() }
    }

    /// Where content is kept that is in no commit.
    pub fn objects(&self) -> Utf8PathBuf {
        self.folder.join("objects")
    }

    /// Adds a run.
    ///
    /// # Errors
    /// When it cannot be written, a set-up error with its path.
    pub fn add(&self, entry: &Entry) -> Result<()> {
        let mut text = serde_json::to_vec(&Entry { schema: SCHEMA, ..entry.clone() })
            .expect("every map of an entry has strings as keys");
        text.push(b'\n');
        let name = format!("{:015}-{:016x}.json", entry.time, hash::of(&text));
        atomic_file::text(&self.folder.join(name), &text)?;
        for old in self.files()?.iter().rev().skip(KEPT_ENTRIES) {
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    /// All runs, the oldest first; and a sentence about each file that is none.
    ///
    /// # Errors
    /// When the folder cannot be read. That there is none is no error.
    pub fn all(&self) -> Result<(Vec<Entry>, Vec<String>)> {
        let mut entries = Vec::new();
        let mut damaged = Vec::new();
        for path in self.files()? {
            let text = fs::read_to_string(&path).map_err(|e| e.to_string());
            let entry = text
                .and_then(|text| serde_json::from_str::<Entry>(&text).map_err(|e| e.to_string()));
            match entry {
                Ok(entry) if entry.schema == SCHEMA => entries.push(entry),
                Ok(entry) => damaged.push(format!(
                    "`{path}` has version {} of the history, and this tool reads \
                     version {SCHEMA}",
                    entry.schema
                )),
                Err(why) => damaged.push(format!("`{path}` is no run of the history: {why}")),
            }
        }
        Ok((entries, damaged))
    }

    /// The files, the oldest first.
    fn files(&self) -> Result<Vec<Utf8PathBuf>> {
        let mut files = file::list(&self.folder)?;
        files.retain(|path| path.extension() == Some("json"));
        Ok(files)
    }
}

/// Numbers of lines as text: `3-7,9`.
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

/// The lines that a text encodes; `None` when it is no such text.
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
        let entry = |time, commit: &str| Entry {
            schema: SCHEMA,
            time,
            commit: Some(commit.to_owned()),
            ..Entry::default()
        };
        one.add(&entry(2, "b")).unwrap();
        two.add(&entry(2, "c")).unwrap();
        two.add(&entry(1, "a")).unwrap();
        for file in two.files().unwrap() {
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
