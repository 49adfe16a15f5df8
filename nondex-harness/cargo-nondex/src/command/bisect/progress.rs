//! The commits tried, in a file: an interrupted search can continue.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;

use super::oracle::Trial;
use crate::atomic_file;
use crate::error::Result;
use crate::judge::bisect::Tried;
use crate::report::schema::Line;

/// What each commit is that was tried.
#[derive(Debug)]
pub(super) struct Kept {
    path: Utf8PathBuf,
    trials: BTreeMap<String, Trial>,
}

impl Kept {
    /// Those of earlier searches for the same test in the same way. A file that cannot be read has
    /// none.
    pub(super) fn read(folder: &Utf8Path, key: &str) -> Self {
        let path = folder.join(format!("{:016x}.json", hash::of(&key)));
        let text = fs::read_to_string(&path).unwrap_or_default();
        Kept { trials: serde_json::from_str(&text).unwrap_or_default(), path }
    }

    /// What a commit is.
    pub(super) fn of(&self, commit: &str) -> Option<Trial> {
        self.trials.get(commit).cloned()
    }

    /// Writes down what a commit is.
    pub(super) fn keep(&mut self, commit: &str, trial: &Trial) -> Result<()> {
        self.trials.insert(commit.to_owned(), trial.clone());
        atomic_file::json(&self.path, &self.trials)
    }

    /// What all of them are.
    pub(super) fn tried(&self) -> BTreeMap<String, Tried> {
        self.trials.iter().map(|(commit, trial)| (commit.clone(), trial.tried)).collect()
    }

    /// The line of the call that is responsible at a commit.
    pub(super) fn place_at(&self, commit: &str) -> Option<Line> {
        self.trials.get(commit)?.place.clone()
    }
}
