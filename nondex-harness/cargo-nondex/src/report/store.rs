//! Where reports are kept: `<target>/nondex/runs/<id>/report.json`, and the last one in
//! `<target>/nondex/latest`.
//!
//! The last [`KEPT_RUNS`] runs are kept. A run that is being written holds a lock on its directory,
//! so that none is deleted under it.

use std::fs::{self, File};
use std::io;
use std::process;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};

use super::schema::{Report, SCHEMA};
use super::versioned;
use crate::atomic_file;
use crate::error::{Error, Result};

/// The name of a report in its directory.
const REPORT: &str = "report.json";

/// How many runs are kept, the new one included: the oldest ones are deleted when a run begins.
pub const KEPT_RUNS: usize = 20;

/// The file that is locked: in the directory of a run while it is written, in the directory of runs
/// while one is created.
const LOCK: &str = "lock";

/// The directory of one run, `<target>/nondex/runs/<id>`. No two runs share one, in one process or
/// in two.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    root: Utf8PathBuf,
    id: String,
    /// Locked as long as this, or a clone, lives; `None` where the file system has no locks.
    _lock: Option<Arc<File>>,
}

impl RunDirectory {
    /// Creates the directory of a new run inside `<target>/nondex`, and deletes those of old runs.
    ///
    /// # Errors
    /// When it cannot be created or written, a set-up error with its path.
    pub fn create(target: &Utf8Path) -> Result<Self> {
        let root = target.join("nondex");
        let runs = root.join("runs");
        fs::create_dir_all(&runs).map_err(|e| unwritable(&runs, &e))?;
        // A directory without a lock is then that of a run which ended, not of one that is just
        // beginning.
        let creating = lock(&runs, true);
        let seconds =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let base = format!("{seconds}-{}", process::id());
        // Another host may share the file system, and this process may run twice in a second:
        // creation decides.
        for attempt in 0_u32.. {
            let id = match attempt {
                0 => base.clone(),
                _ => format!("{base}-{attempt}"),
            };
            let path = runs.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let run = RunDirectory { root, id, _lock: lock(&path, false).map(Arc::new) };
                    if creating.is_some() {
                        delete_old(&runs);
                    }
                    let records = run.records();
                    fs::create_dir(&records).map_err(|e| unwritable(&records, &e))?;
                    return Ok(run);
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(unwritable(&path, &e)),
            }
        }
        unreachable!("a free name is found long before 2^32 attempts")
    }

    /// The run's id: seconds since 1970 and the process.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The directory.
    pub fn path(&self) -> Utf8PathBuf {
        self.root.join("runs").join(&self.id)
    }

    /// Where the records of its runs are written. Those of failing runs stay.
    pub fn records(&self) -> Utf8PathBuf {
        self.path().join("records")
    }

    /// Writes the report as this run's and as the latest one, each at once: a reader, or another
    /// run that ends at the same time, never sees half of one. Returns the path of this run's.
    ///
    /// # Errors
    /// When a file cannot be written, a set-up error with its path.
    pub fn write(&self, report: &Report) -> Result<Utf8PathBuf> {
        let own = self.write_aside(report)?;
        // The latest is a copy, not a link: the run may be deleted.
        atomic_file::json(&latest(&self.root), report)?;
        Ok(own)
    }

    /// Writes the report as this run's only: that of a run which tried no seeds judges nothing, and
    /// must not replace one that did. Returns its path.
    ///
    /// # Errors
    /// When the file cannot be written, a set-up error with its path.
    pub fn write_aside(&self, report: &Report) -> Result<Utf8PathBuf> {
        let own = self.path().join(REPORT);
        atomic_file::json(&own, report)?;
        // Only fails when records of failing runs are in it.
        let _ = fs::remove_dir(self.records());
        let _ = fs::remove_file(self.path().join(LOCK));
        Ok(own)
    }
}

/// Locks a directory's lock file; waits for it, or gives up when it is locked. `None` when it is
/// not to be had.
fn lock(directory: &Utf8Path, wait: bool) -> Option<File> {
    let file = File::create(directory.join(LOCK)).ok()?;
    let locked = if wait { file.lock().is_ok() } else { file.try_lock().is_ok() };
    locked.then_some(file)
}

/// Deletes all but the last [`KEPT_RUNS`] runs, except those that are being written. What cannot be
/// deleted stays: it only takes space.
fn delete_old(runs: &Utf8Path) {
    let Ok(entries) = runs.read_dir_utf8() else { return };
    let mut ids: Vec<Utf8PathBuf> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            entry.file_type().ok()?.is_dir().then(|| entry.into_path())
        })
        .collect();
    // Ids begin with the time.
    ids.sort_unstable();
    ids.truncate(ids.len().saturating_sub(KEPT_RUNS));
    for old in ids {
        if lock(&old, false).is_some() {
            let _ = fs::remove_dir_all(&old);
        }
    }
}

/// The path of the latest report below `<target>/nondex`.
fn latest(root: &Utf8Path) -> Utf8PathBuf {
    root.join("latest").join(REPORT)
}

fn unwritable(path: &Utf8Path, error: &io::Error) -> Error {
    Error::setup(format!("failed to write `{path}`: {error}"))
}

/// Reads the report that the last run in `target` wrote.
///
/// # Errors
/// As [`read`], and with the hint to run first when there is none.
pub fn read_latest(target: &Utf8Path) -> Result<Report> {
    let path = latest(&target.join("nondex"));
    if !path.exists() {
        return Err(Error::setup(format!(
            "there is no report at `{path}`: run `cargo nondex` first"
        )));
    }
    read(&path)
}

/// Reads a report.
///
/// # Errors
/// A set-up error with the path, and with what was found and what was expected.
pub fn read(path: &Utf8Path) -> Result<Report> {
    let text = fs::read_to_string(path)
        .map_err(|e| Error::setup(format!("failed to read report `{path}`: {e}")))?;
    versioned::parse(&text, "a report", SCHEMA)
        .map_err(|message| Error::setup(format!("failed to read report `{path}`: {message}")))
}

#[cfg(test)]
mod tests;
