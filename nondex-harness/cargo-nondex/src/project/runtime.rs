//! Builds the runtime, which is the std facade and the `test` crate, once for each toolchain, into
//! the user's cache.

mod kept;
mod recipe;

pub use recipe::Recipe;

use std::fs;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use self::kept::{RuntimeManifest, load};
use super::toolchain::Toolchain;
use super::{atomics, std_order};
use crate::atomic_file;
use crate::error::{Error, OrSetup, Result};

/// File with the note on the order of the runtime's collections. Empty if there is no note.
const ORDER: &str = "order.txt";

/// File with the reason why crates over the runtime cannot have instrumented atomics. Empty if they
/// can.
const ATOMICS: &str = "atomics.txt";

/// Built runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Key of the sources and the toolchain. It is part of the path of every file below.
    pub key: String,
    /// Key of the content of the libraries. To the compiler, two builds with the same `key` may be
    /// different.
    pub content: String,
    /// Path of `libstd-*.rlib`.
    pub std: Utf8PathBuf,
    /// Path of `libtest-*.rlib`.
    pub test: Utf8PathBuf,
    /// Folder of all libraries, for `-L dependency=`.
    pub libraries: Utf8PathBuf,
    /// Library that observes the programs that tests start, if there is one.
    pub preload: Option<Utf8PathBuf>,
}

impl Runtime {
    /// Returns the runtime of `recipe`. Builds it if the cache has no undamaged one, which takes
    /// less than twenty seconds on two cores.
    ///
    /// # Errors
    /// Returns an error if the cache cannot be written, or the runtime does not build.
    pub fn of(recipe: &Recipe<'_>) -> Result<Self> {
        let key = recipe.key();
        let cache = cache_dir()?;
        let home = cache.join(&key);
        match load(&home, &key) {
            Ok(Some(runtime)) => return Ok(runtime),
            Ok(None) => {}
            Err(damage) => {
                anstream::eprintln!(
                    "warning: the cached runtime is damaged ({damage}), building it again"
                );
                fs::remove_dir_all(&home).or_setup(format_args!("failed to remove `{home}`"))?;
            }
        }
        sweep(&cache, ABANDONED);
        build(recipe, &cache.join(format!("{key}.{}", std::process::id())), &home)?;
        load(&home, &key)
            .or_setup(format_args!("the runtime just built in `{home}` is damaged"))?
            .ok_or_else(|| Error::setup(format!("the runtime just built in `{home}` is gone")))
    }

    /// Returns a note if the order of the runtime's collections is not known to be that of the
    /// toolchain's std. The first call compares the two, which takes a second or two. The result is
    /// kept with the runtime.
    pub(super) fn order_note(&self, toolchain: &Toolchain, target: &str) -> Option<String> {
        self.found_once(ORDER, || std_order::compare(toolchain, target, &self.std))
    }

    /// Returns the reason why crates over the runtime cannot be compiled with instrumented atomics,
    /// if there is one. The first call tests it. The result is kept with the runtime.
    pub(super) fn atomics_obstacle(&self, toolchain: &Toolchain, target: &str) -> Option<String> {
        self.found_once(ATOMICS, || atomics::obstacle(toolchain, target, &self.std))
    }

    /// Returns the result of `find`, which is called once and kept in the file `name`.
    fn found_once(&self, name: &str, find: impl FnOnce() -> Option<String>) -> Option<String> {
        let kept = self.libraries.join(name);
        let found = fs::read_to_string(&kept).unwrap_or_else(|_| {
            let found = find().unwrap_or_default();
            // If the result cannot be kept, the next call computes it again.
            let _ = atomic_file::text(&kept, found.as_bytes());
            found
        });
        Some(found).filter(|found| !found.is_empty())
    }
}

/// Builds a runtime in `work`, and moves it to `home` once it is complete. Prints progress.
fn build(recipe: &Recipe<'_>, work: &Utf8Path, home: &Utf8Path) -> Result<()> {
    let doing =
        |doing: &str, path: &Utf8Path, e| Error::setup(format!("failed to {doing} `{path}`: {e}"));
    fs::create_dir_all(work).map_err(|e| doing("create the cache folder", work, e))?;
    let started = Instant::now();
    let target = recipe.target;
    anstream::eprintln!("   Building the nondex runtime for {target} (once for each toolchain)");
    let built = recipe.build(work).and_then(|manifest| {
        manifest.write(work).map_err(|e| doing("write the manifest in", work, e))?;
        match fs::rename(work, home) {
            // The rename fails if a concurrent build created `home` first. Its runtime serves too.
            Err(e) if !RuntimeManifest::is_in(home) => Err(doing("create", home, e)),
            _ => Ok(()),
        }
    });
    let _ = fs::remove_dir_all(work);
    built?;
    if !recipe.quiet {
        let seconds = started.elapsed().as_secs_f64();
        anstream::eprintln!("    Finished the nondex runtime in {seconds:.1}s");
    }
    Ok(())
}

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
const ABANDONED: Duration = Duration::from_mins(15);

/// Removes the folders of interrupted builds: those of at least this age whose extension is the id
/// of a process that no longer exists.
fn sweep(cache: &Utf8Path, age: Duration) {
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
