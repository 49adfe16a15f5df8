//! Stores reports: each in `<target>/nondex/runs/<id>/report.json`, and a copy of the latest in
//! `<target>/nondex/latest`.
//!
//! The last [`KEPT_RUNS`] runs are kept. A run in progress holds a lock on its directory, so that
//! no other process deletes it.

use std::fs::{self, File};
use std::io;
use std::process;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};

use super::schema::{Report, SCHEMA};
use super::versioned;
use crate::atomic_file;
use crate::error::{Error, OrSetup, Result};
use crate::file;

/// Name of a report in its directory.
const REPORT: &str = "report.json";

/// Maximum number of runs that are kept, including the new one. The oldest are deleted when a run
/// begins.
pub const KEPT_RUNS: usize = 20;

/// Name of the lock file. In a run's directory it is locked during the run. In the directory of all
/// runs it is locked while a run's directory is created.
const LOCK: &str = "lock";

/// The directory of one run, `<target>/nondex/runs/<id>`. No two runs share a directory, in one
/// process or in several.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    root: Utf8PathBuf,
    id: String,
    /// Lock that is held as long as this value, or a clone of it, lives; `None` if the file system
    /// does not support locks.
    _lock: Option<Arc<File>>,
}

impl RunDirectory {
    /// Creates the directory of a new run inside `<target>/nondex`, and deletes those of old runs.
    ///
    /// # Errors
    /// Returns a set-up error with the path when the directory cannot be created or written.
    pub fn create(target: &Utf8Path) -> Result<Self> {
        let root = target.join("nondex");
        let runs = root.join("runs");
        fs::create_dir_all(&runs).map_err(|e| unwritable(&runs, &e))?;
        // With this lock, no other process is between creating and locking a directory. An unlocked
        // directory then belongs to a finished run.
        let creating = lock(&runs, true);
        let seconds =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let base = format!("{seconds}-{}", process::id());
        // Another host may share the file system, and this process may start two runs in one
        // second. Creating the directory reserves the id.
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

    /// Returns the id of the run: seconds since 1970 and the process id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> Utf8PathBuf {
        self.root.join("runs").join(&self.id)
    }

    /// Returns the directory for records of test runs. Those of failing runs are kept.
    pub fn records(&self) -> Utf8PathBuf {
        self.path().join("records")
    }

    /// Writes the report as this run's report and as the latest one, each atomically. A concurrent
    /// reader or run never sees a partial report. Returns the path of this run's report.
    ///
    /// # Errors
    /// Returns a set-up error with the path when a file cannot be written.
    pub fn write(&self, report: &Report) -> Result<Utf8PathBuf> {
        let own = self.write_aside(report)?;
        // The latest report is a copy rather than a link, because the run may be deleted.
        atomic_file::json(&latest(&self.root), report)?;
        Ok(own)
    }

    /// Writes the report only as this run's report, and returns its path. A run without seeds has
    /// no verdicts on choices, so its report must not replace the latest one.
    ///
    /// # Errors
    /// Returns a set-up error with the path when the file cannot be written.
    pub fn write_aside(&self, report: &Report) -> Result<Utf8PathBuf> {
        let own = self.path().join(REPORT);
        atomic_file::json(&own, report)?;
        // This fails if the directory has records of failing runs, which are kept.
        let _ = fs::remove_dir(self.records());
        let _ = fs::remove_file(self.path().join(LOCK));
        Ok(own)
    }
}

/// Locks the lock file of a directory. Waits for the lock if `wait`. Returns `None` if another
/// process holds it, or if the file system does not support locks.
fn lock(directory: &Utf8Path, wait: bool) -> Option<File> {
    let file = File::create(directory.join(LOCK)).ok()?;
    let locked = if wait { file.lock().is_ok() } else { file.try_lock().is_ok() };
    locked.then_some(file)
}

/// Deletes all but the last [`KEPT_RUNS`] runs, except those in progress. Ignores errors, since a
/// surplus directory only takes space.
fn delete_old(runs: &Utf8Path) {
    // Ids begin with the time, so they sort by age.
    let mut ids = file::entries(runs);
    ids.retain(|id| id.is_dir() && !id.is_symlink());
    ids.truncate(ids.len().saturating_sub(KEPT_RUNS));
    for old in ids {
        if lock(&old, false).is_some() {
            let _ = fs::remove_dir_all(&old);
        }
    }
}

/// Returns the path of the latest report below `<target>/nondex`.
fn latest(root: &Utf8Path) -> Utf8PathBuf {
    root.join("latest").join(REPORT)
}

fn unwritable(path: &Utf8Path, error: &io::Error) -> Error {
    Error::setup(format!("failed to write `{path}`: {error}"))
}

/// Returns whether there is a report of a last run in `target`, readable or not.
pub fn has_latest(target: &Utf8Path) -> bool {
    latest(&target.join("nondex")).exists()
}

/// Reads the report of the last run in `target`.
///
/// # Errors
/// Returns the errors of [`read`], or a set-up error with advice if there is no report.
pub fn read_latest(target: &Utf8Path) -> Result<Report> {
    let path = latest(&target.join("nondex"));
    if !has_latest(target) {
        return Err(Error::setup(format!(
            "there is no report at `{path}`: run `cargo nondex` first"
        )));
    }
    read(&path)
}

/// Reads a report.
///
/// # Errors
/// Returns a set-up error with the path, what was found and what was expected.
pub fn read(path: &Utf8Path) -> Result<Report> {
    let text = fs::read_to_string(path).or_setup(format_args!("failed to read report `{path}`"))?;
    versioned::parse(&text, "a report", SCHEMA)
        .or_setup(format_args!("failed to read report `{path}`"))
}

#[cfg(test)]
mod tests;
