//! Finds and cleans the per-user folder of built runtimes.

use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, Result};

/// Environment variable with the path of the cache.
pub const CACHE_VARIABLE: &str = "NONDEX_CACHE_DIR";

/// Returns the per-user folder of built runtimes: `NONDEX_CACHE_DIR`, or else `nondex` below the
/// platform's cache folder.
///
/// # Errors
/// Returns an error if none of the variables for these folders is set.
pub fn cache_dir() -> Result<Utf8PathBuf> {
    let var = |name| {
        std::env::var(name).ok().filter(|value: &String| !value.is_empty()).map(Utf8PathBuf::from)
    };
    var(CACHE_VARIABLE)
        .or_else(|| var("XDG_CACHE_HOME").map(|dir| dir.join("nondex")))
        .or_else(|| var("LOCALAPPDATA").map(|dir| dir.join("nondex")))
        .or_else(|| var("HOME").map(|dir| dir.join(".cache/nondex")))
        .ok_or_else(|| {
            Error::setup(format!("no folder for the cache: set {CACHE_VARIABLE}, or HOME"))
        })
}

/// Minimum age of a folder that counts as left by an interrupted build. No build takes this long.
/// Process ids alone are not enough if containers share a cache: each has its own process ids.
pub(super) const ABANDONED: Duration = Duration::from_mins(15);

/// Removes the folders of interrupted builds: those of at least this age whose extension is the id
/// of a process that no longer exists.
pub(super) fn sweep(cache: &Utf8Path, age: Duration) {
    for entry in cache.read_dir_utf8().into_iter().flatten().flatten() {
        let process = entry.path().extension().map(str::parse::<u32>);
        let Some(Ok(process)) = process else { continue };
        let is_old = fs::metadata(entry.path())
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified.elapsed().is_ok_and(|elapsed| elapsed >= age));
        if is_old && !Utf8Path::new("/proc").join(process.to_string()).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interrupted_build_left_is_removed_and_a_build_that_runs_is_not_disturbed() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(temporary.path()).unwrap();
        let running = format!("0123456789abcdef.{}", std::process::id());
        // Larger than any process id on Linux.
        let gone = "0123456789abcdef.4194305";
        let folders = ["0123456789abcdef", &running, gone, "other"];
        for folder in folders {
            fs::create_dir_all(cache.join(folder).join("src")).unwrap();
        }
        let left = || folders.map(|folder| cache.join(folder).exists());
        sweep(cache, ABANDONED);
        assert_eq!(left(), [true, true, true, true]);
        sweep(cache, Duration::ZERO);
        assert_eq!(left(), [true, true, false, true]);
    }
}
