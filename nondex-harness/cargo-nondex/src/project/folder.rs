//! Build folder: its contents were built with one key, and it is not emptied while in use.
//!
//! Cargo does not see what this program's wrapper adds to a build. So the build of another version
//! of this program must be removed, but that version may still be running. Each process that builds
//! or runs in the folder holds a shared lock on a file next to it. A process that empties the
//! folder holds an exclusive lock. The system releases the locks of a process when it ends, so a
//! killed process blocks no other.

use std::fs::{self, File, TryLockError};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, OrSetup, Result};
use crate::interruption;

/// Name of the file with the key of the folder's contents. It is written before cargo builds
/// anything.
const KEY: &str = "nondex-runtime";

/// Build folder, locked against removal until this is dropped.
#[derive(Debug)]
pub(super) struct BuildFolder {
    /// Path of the folder.
    pub(super) path: Utf8PathBuf,
    /// Shared lock; `None` if the file system has no locks.
    _lock: Option<File>,
}

impl BuildFolder {
    /// Opens the folder, and creates it if it does not exist. Removes contents that were built with
    /// another `key`, after waiting for the processes that use them. Prints that it waits, unless
    /// `quiet`. If the folder is new or was emptied, `fill` writes its initial contents.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be locked, created or emptied, and the errors of
    /// `fill`. After an error of `fill`, the folder has no key.
    pub(super) fn filled(
        path: Utf8PathBuf,
        key: &str,
        quiet: bool,
        fill: impl Fn() -> Result<()>,
    ) -> Result<Self> {
        let failed = |doing: &str, e| Error::setup(format!("failed to {doing} `{path}`: {e}"));
        // A folder without a key is incomplete: a process was killed while it emptied or filled it.
        let is_ours = || has_key(&path, key);
        let locked = |is_only| lock(&path, is_only, quiet).map_err(|e| failed("lock", e));
        loop {
            let lock = locked(false)?;
            if is_ours() {
                return Ok(BuildFolder { path, _lock: lock });
            }
            drop(lock);
            let _only = locked(true)?;
            // Another process of this version may have had the lock in between.
            if !is_ours() {
                empty(&path).map_err(|e| failed("remove the outdated build in", e))?;
                create(&path).map_err(|e| failed("create the build folder", e))?;
                fill()?;
                fs::write(path.join(KEY), key).map_err(|e| failed("write the key of", e))?;
            }
            // The lock is released here, so the next turn must check again under the shared lock.
        }
    }

    /// Opens the folder if its contents have this key.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be locked.
    pub(super) fn existing(path: Utf8PathBuf, key: &str, quiet: bool) -> Result<Option<Self>> {
        let lock = lock(&path, false, quiet).or_setup(format_args!("failed to lock `{path}`"))?;
        Ok(has_key(&path, key).then_some(BuildFolder { path, _lock: lock }))
    }
}

fn has_key(path: &Utf8Path, key: &str) -> bool {
    fs::read_to_string(path.join(KEY)).is_ok_and(|known| known == key)
}

fn empty(path: &Utf8Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Creates a folder and marks it as a cache.
fn create(path: &Utf8Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    // Cargo marks its folders in the same way, so that backups and searches skip them.
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    fs::write(path.join("CACHEDIR.TAG"), tag)
}

/// Locks a build folder, exclusively if `is_only` and otherwise shared. Returns `None` if the file
/// system has no locks.
fn lock(folder: &Utf8Path, is_only: bool, quiet: bool) -> io::Result<Option<File>> {
    // Cargo marks its target directory only if it creates the directory itself.
    if let Some(target) = folder.ancestors().nth(2).filter(|target| !target.exists()) {
        create(target)?;
    }
    folder.parent().map_or(Ok(()), fs::create_dir_all)?;
    let file = File::create(format!("{folder}.lock"))?;
    let attempt = if is_only { file.try_lock() } else { file.try_lock_shared() };
    match attempt {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            if !quiet {
                anstream::eprintln!(
                    "    Blocking waiting for another version of cargo nondex that uses `{folder}`"
                );
            }
            interruption::lock(file, is_only).map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn in_temporary(work: impl FnOnce(&dyn Fn(&str) -> BuildFolder, &Utf8Path)) {
        let temporary = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(temporary.path()).unwrap().join("target/nondex/build");
        work(&|key| BuildFolder::filled(path.clone(), key, true, || Ok(())).unwrap(), &path);
    }

    #[test]
    fn what_another_version_built_is_removed_and_what_the_same_built_stays() {
        in_temporary(|open, path| {
            let built = path.join("built");
            let first = open("1");
            fs::write(&built, "").unwrap();
            // Two processes of one version may use the folder at the same time.
            let second = open("1");
            assert!(built.exists());
            drop((first, second));
            drop(open("2"));
            assert!(!built.exists());
            for folder in [path, path.ancestors().nth(2).unwrap()] {
                assert!(folder.join("CACHEDIR.TAG").exists(), "{folder}");
            }
        });
    }

    #[test]
    fn what_is_in_use_is_removed_when_it_is_not_used_any_more() {
        in_temporary(|open, path| {
            let built = path.join("built");
            let first = open("1");
            fs::write(&built, "").unwrap();
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let others = ["2", "3"].map(|key| {
                    scope.spawn(|| {
                        let path = path.to_owned();
                        let open = BuildFolder::filled(path, key, true, || Ok(())).unwrap();
                        (is_over.load(Ordering::SeqCst), open.path.join("built").exists())
                    })
                });
                std::thread::sleep(std::time::Duration::from_millis(50));
                assert!(built.exists());
                is_over.store(true, Ordering::SeqCst);
                drop(first);
                for other in others {
                    assert_eq!(other.join().unwrap(), (true, false));
                }
            });
        });
    }

    #[test]
    fn what_somebody_left_who_was_killed_while_he_removed_it_is_removed() {
        in_temporary(|open, path| {
            drop(open("1"));
            fs::write(path.join("built"), "").unwrap();
            fs::remove_file(path.join(KEY)).unwrap();
            drop(open("1"));
            assert!(!path.join("built").exists());
        });
    }
}
