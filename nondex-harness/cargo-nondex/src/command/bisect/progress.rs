//! Saves the results of tried commits in a file, so that an interrupted search can continue.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;

use super::oracle::CommitTrial;
use crate::atomic_file;
use crate::error::Result;
use crate::judge::bisect::Tried;
use crate::report::Line;

/// Results of the commits that were tried, with the file that stores them.
#[derive(Debug)]
pub(super) struct Kept {
    path: Utf8PathBuf,
    trials: BTreeMap<String, CommitTrial>,
}

impl Kept {
    /// Reads the results of earlier searches with the same key. Starts without results if the file
    /// cannot be read.
    pub(super) fn read(folder: &Utf8Path, key: &str) -> Self {
        let path = folder.join(format!("{:016x}.json", hash::of(&key)));
        let text = fs::read_to_string(&path).unwrap_or_default();
        Kept { trials: serde_json::from_str(&text).unwrap_or_default(), path }
    }

    /// Returns the result of a commit, if it was tried.
    pub(super) fn of(&self, commit: &str) -> Option<CommitTrial> {
        self.trials.get(commit).cloned()
    }

    /// Records and saves the result of a commit.
    pub(super) fn keep(&mut self, commit: &str, trial: &CommitTrial) -> Result<()> {
        self.trials.insert(commit.to_owned(), trial.clone());
        atomic_file::json(&self.path, &self.trials)
    }

    /// Returns the results of all commits, without details.
    pub(super) fn tried(&self) -> BTreeMap<String, Tried> {
        self.trials.iter().map(|(commit, trial)| (commit.clone(), trial.tried)).collect()
    }

    /// Returns the line of the responsible call at a commit, if known.
    pub(super) fn place_at(&self, commit: &str) -> Option<Line> {
        self.trials.get(commit)?.place.clone()
    }
}
