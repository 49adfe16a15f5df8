//! The library that makes the random bytes of an ordinary program from a seed.

use std::ffi::OsString;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use super::suite::TestBinary;
use super::toolchain::{self, Toolchain};
use crate::error::{Error, Result};

/// Its source: one file without dependencies.
const SOURCE: &str = include_str!("../../preload/entropy.rs");

/// The variable that it reads the seed from.
const SEED: &str = "NONDEX_ENTROPY";

/// The variable that names it to the loader.
const PRELOAD: &str = "LD_PRELOAD";

/// The built library.
#[derive(Debug)]
pub struct EntropyLibrary {
    path: Utf8PathBuf,
}

impl EntropyLibrary {
    /// Builds the library in `<target>/nondex/plain` with the toolchain of the workspace at `root`. Takes about a second.
    ///
    /// # Errors
    /// On platforms where an ordinary program's random bytes cannot be reached, and when the library does not build.
    pub fn build(target: &Utf8Path, root: &Utf8Path) -> Result<Self> {
        let toolchain = Toolchain::in_dir(root)?;
        if !toolchain.host.ends_with("-linux-gnu") {
            return Err(Error::setup(format!(
                "entropy can be seeded from outside on Linux with glibc only, this is {}",
                toolchain.host
            )));
        }
        let directory = target.join("nondex/plain");
        // Another command may build it at the same time.
        let stem = format!("nondex_entropy_{}", std::process::id());
        let source = directory.join(format!("{stem}.rs"));
        std::fs::create_dir_all(&directory)
            .and_then(|()| std::fs::write(&source, SOURCE))
            .map_err(|e| Error::setup(format!("failed to write `{source}`: {e}")))?;
        let library = EntropyLibrary {
            path: directory.join(format!("lib{stem}.so")),
        };
        let mut command = Command::new(&toolchain.rustc);
        command
            .args(["--edition", "2024", "--crate-type", "cdylib", "-O"])
            .args(["-Cpanic=abort", "-Cstrip=symbols", "-o"])
            .args([&library.path, &source]);
        let built = toolchain::stdout(&mut command);
        let _ = std::fs::remove_file(&source);
        built.map_err(|e| e.context("failed to build the library that seeds entropy"))?;
        // The loader takes a colon or a space for the end of a path, and then says no more than that it ignores the library.
        if library.path.as_str().contains([':', ' ']) {
            return Err(Error::setup(format!(
                "`{}` cannot be preloaded: its path has a colon or a space",
                library.path
            )));
        }
        Ok(library)
    }

    /// Makes `command`, which starts `binary`, take its entropy from `seed`.
    pub fn install(&self, command: &mut Command, binary: &TestBinary, seed: u64) {
        let mut value = OsString::from(self.path.as_str());
        if let Some(others) = binary.env.iter().find(|(name, _)| *name == PRELOAD) {
            value.push(":");
            value.push(others.1);
        }
        command.env(PRELOAD, value).env(SEED, seed.to_string());
    }
}

impl Drop for EntropyLibrary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
