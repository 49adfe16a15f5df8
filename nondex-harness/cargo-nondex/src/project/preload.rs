//! Library that makes the random bytes of a plain program, or of a build, from a seed.

use std::ffi::OsString;
use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;

use super::plan::Varied;
use super::runtime::cache_dir;
use super::suite::TestBinary;
use super::toolchain::{self, Toolchain};
use crate::error::{Error, OrSetup, Result};

/// Source of the library: one file without dependencies.
const SOURCE: &str = include_str!("../../probes/entropy.rs");

/// File name of the library.
const FILE: &str = "entropy.so";

/// Environment variable with the seed.
const SEED: &str = "NONDEX_ENTROPY";

/// Environment variable with the libraries that the loader loads first.
const PRELOAD: &str = "LD_PRELOAD";

/// Environment variable that makes the library seed the programs of a build, and names the one that
/// has the seed.
const ONLY: &str = "NONDEX_ENTROPY_ONLY";

/// Environment variable with the folder in which the library records how such programs were
/// started.
const DRAWN: &str = "NONDEX_ENTROPY_DRAWN";

/// Environment variables that the library needs in a build. Cargo passes them on, but programs of
/// the build do not see them.
pub(super) const OF_BUILDS: [&str; 4] = [PRELOAD, SEED, ONLY, DRAWN];

/// Built library.
#[derive(Debug)]
pub struct EntropyLibrary {
    path: Utf8PathBuf,
}

impl EntropyLibrary {
    /// Returns the library for the toolchain of the workspace at `root`. Builds it if it is not
    /// cached.
    ///
    /// # Errors
    /// Returns an error if the platform is not Linux with glibc, or if there is no toolchain. Also
    /// returns an error if the library does not build or cannot be preloaded.
    pub fn in_workspace(root: &Utf8Path) -> Result<Self> {
        Self::of(&Toolchain::in_dir(root)?)
    }

    /// Returns the library for a toolchain, from the per-user cache. Building it takes about a
    /// second.
    ///
    /// # Errors
    /// Returns an error if the platform is not Linux with glibc, or if the library does not build
    /// or cannot be preloaded.
    pub(super) fn of(toolchain: &Toolchain) -> Result<Self> {
        if !toolchain.host.ends_with("-linux-gnu") {
            return Err(Error::setup(format!(
                "entropy can be seeded from outside on Linux with glibc only, this is {}",
                toolchain.host
            )));
        }
        let cache = cache_dir()?;
        // The folder is named like that of a runtime, so that it is removed together with runtimes.
        let key = format!("{:016x}", hash::of(&(SOURCE, &toolchain.version)));
        let home = cache.join(&key);
        let path = home.join(FILE);
        // The loader splits its list at colons and spaces, and would ignore such a library.
        if path.as_str().contains([':', ' ']) {
            return Err(Error::setup(format!(
                "`{path}` cannot be preloaded: its path has a colon or a space"
            )));
        }
        if !path.is_file() {
            // Another command may build the library at the same time, so each uses its own folder.
            let work = cache.join(format!("{key}.{}", std::process::id()));
            let built = build(toolchain, &work, &home);
            let _ = fs::remove_dir_all(&work);
            built?;
        }
        Ok(EntropyLibrary { path })
    }

    /// Makes `command`, which starts `binary`, take its random bytes from `seed`.
    pub fn install(&self, command: &mut Command, binary: &TestBinary, seed: u64) {
        let others = binary.env.iter().find(|(name, _)| *name == PRELOAD);
        command
            .env(PRELOAD, self.before(others.map(|(_, others)| others.clone())))
            .env(SEED, seed.to_string());
    }

    /// Makes the programs of a build take their random bytes from seed 0, except for the program of
    /// `varied`, which has its own seed. `command` starts cargo, or such a program. `drawn` is the
    /// folder in which programs that take random bytes are recorded.
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

    /// Returns the list of libraries to preload: this one, then `others`.
    fn before(&self, others: Option<OsString>) -> OsString {
        let mut value = OsString::from(self.path.as_str());
        if let Some(others) = others.filter(|others| !others.is_empty()) {
            value.push(":");
            value.push(others);
        }
        value
    }
}

/// Builds the library in the folder `work` and renames that to `home`.
fn build(toolchain: &Toolchain, work: &Utf8Path, home: &Utf8Path) -> Result<()> {
    let [source, library] = ["entropy.rs", FILE].map(|name| work.join(name));
    fs::create_dir_all(work)
        .and_then(|()| fs::write(&source, SOURCE))
        .or_setup(format_args!("failed to write `{source}`"))?;
    let mut command = Command::new(&toolchain.rustc);
    command
        .args(["--edition", "2024", "--crate-type", "cdylib", "-O"])
        // The library walks the stack over its own frames to those of its caller.
        .args(["-Cpanic=abort", "-Cforce-unwind-tables=yes"])
        .args(["-Cstrip=symbols", "-o"])
        .args([&library, &source]);
    toolchain::stdout(&mut command)
        .map_err(|e| e.context("failed to build the library that seeds entropy"))?;
    match fs::rename(work, home) {
        // If another command was faster, its library is the same.
        Err(e) if !home.join(FILE).is_file() => {
            Err(Error::setup(format!("failed to create `{home}`: {e}")))
        }
        _ => Ok(()),
    }
}
