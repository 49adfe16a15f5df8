//! The library that makes the random bytes of an ordinary program, or of a build, from a seed.

use std::ffi::OsString;
use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;

use super::plan::Varied;
use super::runtime::cache_dir;
use super::suite::TestBinary;
use super::toolchain::{self, Toolchain};
use crate::error::{Error, Result};

/// Its source: one file without dependencies.
const SOURCE: &str = include_str!("../../probes/entropy.rs");

/// The name of its file.
const FILE: &str = "entropy.so";

/// The variable that it reads the seed from.
const SEED: &str = "NONDEX_ENTROPY";

/// The variable that names it to the loader.
const PRELOAD: &str = "LD_PRELOAD";

/// The variable that makes it seed the programs of a build, and names the one that has the seed.
const ONLY: &str = "NONDEX_ENTROPY_ONLY";

/// Variable with the folder in which it records how such programs were started.
const DRAWN: &str = "NONDEX_ENTROPY_DRAWN";

/// The variables that it needs in a build. Programs in it do not see them, but cargo passes them
/// on.
pub(super) const OF_BUILDS: [&str; 4] = [PRELOAD, SEED, ONLY, DRAWN];

/// The built library.
#[derive(Debug)]
pub struct EntropyLibrary {
    path: Utf8PathBuf,
}

impl EntropyLibrary {
    /// The library of the toolchain of the workspace at `root`, built if it is not there yet.
    ///
    /// # Errors
    /// On platforms where an ordinary program's random bytes cannot be reached, when there is no
    /// toolchain, and when the library does not build.
    pub fn in_workspace(root: &Utf8Path) -> Result<Self> {
        Self::of(&Toolchain::in_dir(root)?)
    }

    /// The library of a toolchain, from the per-user cache. Building it takes about a second.
    ///
    /// # Errors
    /// On platforms where an ordinary program's random bytes cannot be reached, and when the
    /// library does not build.
    pub(super) fn of(toolchain: &Toolchain) -> Result<Self> {
        if !toolchain.host.ends_with("-linux-gnu") {
            return Err(Error::setup(format!(
                "entropy can be seeded from outside on Linux with glibc only, this is {}",
                toolchain.host
            )));
        }
        let cache = cache_dir()?;
        // Named as a runtime is, so that it is removed with these.
        let key = format!("{:016x}", hash::of(&(SOURCE, &toolchain.version)));
        let home = cache.join(&key);
        let path = home.join(FILE);
        // The loader takes a colon or a space for the end of a path, and ignores such a library.
        if path.as_str().contains([':', ' ']) {
            return Err(Error::setup(format!(
                "`{path}` cannot be preloaded: its path has a colon or a space"
            )));
        }
        if !path.is_file() {
            // Another command may build it at the same time.
            let work = cache.join(format!("{key}.{}", std::process::id()));
            let built = build(toolchain, &work, &home);
            let _ = fs::remove_dir_all(&work);
            built?;
        }
        Ok(EntropyLibrary { path })
    }

    /// Makes `command`, which starts `binary`, take its entropy from `seed`.
    pub fn install(&self, command: &mut Command, binary: &TestBinary, seed: u64) {
        let others = binary.env.iter().find(|(name, _)| *name == PRELOAD);
        command
            .env(PRELOAD, self.before(others.map(|(_, others)| others.clone())))
            .env(SEED, seed.to_string());
    }

    /// Makes the programs of a build take their entropy from seed 0, or what `varied` names from
    /// its seed. `command` starts cargo, or such a program. `drawn` is the folder in which the
    /// programs that take any say how they were started.
    pub(super) fn install_in_build(
        &self,
        command: &mut Command,
        varied: &Varied,
        drawn: &Utf8Path,
    ) {
        command
            .env(PRELOAD, self.before(std::env::var_os(PRELOAD)))
            .env(SEED, varied.seed.to_string())
            .env(ONLY, &varied.program)
            .env(DRAWN, drawn);
    }

    /// The list of libraries that begins with this one.
    fn before(&self, others: Option<OsString>) -> OsString {
        let mut value = OsString::from(self.path.as_str());
        if let Some(others) = others.filter(|others| !others.is_empty()) {
            value.push(":");
            value.push(others);
        }
        value
    }
}

/// Builds the library in the folder `work` and moves that to `home`.
fn build(toolchain: &Toolchain, work: &Utf8Path, home: &Utf8Path) -> Result<()> {
    let [source, library] = ["entropy.rs", FILE].map(|name| work.join(name));
    fs::create_dir_all(work)
        .and_then(|()| fs::write(&source, SOURCE))
        .map_err(|e| Error::setup(format!("failed to write `{source}`: {e}")))?;
    let mut command = Command::new(&toolchain.rustc);
    command
        .args(["--edition", "2024", "--crate-type", "cdylib", "-O"])
        // It walks over its own frames to those of its caller.
        .args(["-Cpanic=abort", "-Cforce-unwind-tables=yes"])
        .args(["-Cstrip=symbols", "-o"])
        .args([&library, &source]);
    toolchain::stdout(&mut command)
        .map_err(|e| e.context("failed to build the library that seeds entropy"))?;
    match fs::rename(work, home) {
        // Another command may have been faster; then its library is as good as ours.
        Err(e) if !home.join(FILE).is_file() => {
            Err(Error::setup(format!("failed to create `{home}`: {e}")))
        }
        _ => Ok(()),
    }
}
