//! The runtime: the std facade and the `test` crate, built once for each toolchain into the user's
//! cache.

mod cache;
mod kept;
mod recipe;

pub use cache::{CACHE_VARIABLE, cache_dir};
pub use recipe::Recipe;

use std::fs;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use self::kept::{Manifest, load};
use super::toolchain::Toolchain;
use super::{atomics, std_order};
use crate::atomic_file;
use crate::error::{Error, Result};

/// The file with the note on the order of its collections, which may be empty.
const ORDER: &str = "order.txt";

/// The file that has why atomics cannot be instrumented over it, which may be nothing.
const ATOMICS: &str = "atomics.txt";

/// A built runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Identifies the sources and the toolchain; part of the path of every file below.
    pub key: String,
    /// Identifies what is in its libraries: two builds with one key need not be the same to the
    /// compiler.
    pub content: String,
    /// `libstd-*.rlib`.
    pub std: Utf8PathBuf,
    /// `libtest-*.rlib`.
    pub test: Utf8PathBuf,
    /// The folder of all libraries, for `-L dependency=`.
    pub libraries: Utf8PathBuf,
    /// The library that observes the programs that tests start, where there is one.
    pub preload: Option<Utf8PathBuf>,
}

impl Runtime {
    /// The runtime that `recipe` makes, built now if the cache has none that is whole. Building
    /// takes less than twenty seconds on two cores.
    ///
    /// # Errors
    /// When the cache cannot be written, or the runtime does not build.
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
                fs::remove_dir_all(&home)
                    .map_err(|e| Error::setup(format!("failed to remove `{home}`: {e}")))?;
            }
        }
        cache::sweep(&cache, cache::ABANDONED);
        build(recipe, &cache.join(format!("{key}.{}", std::process::id())), &home)?;
        load(&home, &key)
            .map_err(|damage| {
                Error::setup(format!("the runtime just built in `{home}` is damaged: {damage}"))
            })?
            .ok_or_else(|| Error::setup(format!("the runtime just built in `{home}` is gone")))
    }

    /// The note when the order of its collections is not known to be that of the toolchain's std.
    /// It is found out when it is first needed, in a second or two, and kept with the runtime.
    pub(super) fn order_note(&self, toolchain: &Toolchain, target: &str) -> Option<String> {
        self.found_once(ORDER, || std_order::compare(toolchain, target, &self.std))
    }

    /// Why crates over it cannot be compiled so that their atomics are instrumented, if they
    /// cannot: found out and kept in the same way.
    pub(super) fn atomics_obstacle(&self, toolchain: &Toolchain, target: &str) -> Option<String> {
        self.found_once(ATOMICS, || atomics::obstacle(toolchain, target, &self.std))
    }

    /// What `find` found when it was first asked for, kept in a file of this name.
    fn found_once(&self, name: &str, find: impl FnOnce() -> Option<String>) -> Option<String> {
        let kept = self.libraries.join(name);
        let found = fs::read_to_string(&kept).unwrap_or_else(|_| {
            let found = find().unwrap_or_default();
            // One that cannot be kept is found out again.
            let _ = atomic_file::text(&kept, found.as_bytes());
            found
        });
        Some(found).filter(|found| !found.is_empty())
    }
}

/// Builds a runtime in `work` and moves it to `home` when it is whole. Says what it does.
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
            // Another run may have been faster; then its runtime is as good as ours.
            Err(e) if !Manifest::is_in(home) => Err(doing("create", home, e)),
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
