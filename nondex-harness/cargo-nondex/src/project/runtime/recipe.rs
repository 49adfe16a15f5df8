//! Builds a runtime with cargo from the sources that are part of this program.

use std::fs;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use camino::Utf8Path;
use nondex_core::hash;

use super::kept::RuntimeManifest;
use crate::error::{Error, Result};
use crate::interruption::Passed;
use crate::program;
use crate::project::toolchain::Toolchain;

/// Files of the runtime's sources: path and text of each.
static SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// Flags of rustc for the runtime. With this metadata, its crates do not collide with the same
/// crates in the user's dependency graph.
const RUSTFLAGS: &str = "-Cmetadata=nondex-runtime -Cembed-bitcode=no -Cdebuginfo=0";

/// Flag that keeps std's own maps and sets, whose order no seed controls.
const STD_COLLECTIONS: &str = " --cfg nondex_std_collections";

/// Minimum number of cargo's parallel jobs. The compiler uses mostly one thread for a crate, and
/// the crate that takes longest starts last.
const JOBS: usize = 4;

/// Options for building a runtime.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// Toolchain that compiles the runtime.
    pub toolchain: &'a Toolchain,
    /// Target triple.
    pub target: &'a str,
    /// Whether downloads are forbidden.
    pub offline: bool,
    /// Whether the runtime observes the network.
    pub network: bool,
    /// Whether the runtime replaces std's maps and sets by ones whose order is controlled.
    pub collections: bool,
    /// Whether progress output is off.
    pub quiet: bool,
}

impl Recipe<'_> {
    /// Returns the key of the runtime, a hash of its sources, its toolchain and the options.
    pub(super) fn key(&self) -> String {
        let key = hash::of(&(
            SOURCES,
            &self.toolchain.version,
            self.target,
            self.rustflags(),
            self.network,
        ));
        format!("{key:016x}")
    }

    /// Returns the flags of rustc for these options.
    fn rustflags(&self) -> String {
        let more = if self.collections { "" } else { STD_COLLECTIONS };
        format!("{RUSTFLAGS}{more}")
    }

    /// Builds the runtime in `work`, an empty folder. Leaves only the libraries there.
    ///
    /// # Errors
    /// Returns an error if files cannot be written, or the runtime does not build.
    pub(super) fn build(&self, work: &Utf8Path) -> Result<RuntimeManifest> {
        let source = work.join("src");
        write_sources(&source).map_err(|what| self.failed(&what))?;
        self.compile(&source)?;
        let built = source.join("target").join(self.target).join("release");
        let manifest = RuntimeManifest::collect(&built, work).map_err(|what| self.failed(&what))?;
        fs::remove_dir_all(&source)
            .map_err(|e| self.failed(&format!("failed to remove `{source}`: {e}")))?;
        Ok(manifest)
    }

    /// Returns the error for a failed build.
    fn failed(&self, what: &str) -> Error {
        Error::setup(format!("failed to build the runtime for {}: {what}", self.target))
    }

    /// Compiles the runtime.
    ///
    /// The first attempt is offline, because the dependencies were downloaded to build this
    /// program. The second one may use the network. The last one is offline and without the lock
    /// file. It succeeds if this program was built without its lock file, so other versions of the
    /// dependencies were downloaded.
    fn compile(&self, source: &Utf8Path) -> Result<()> {
        let (mut status, mut messages) = self.cargo(source, true)?;
        if !status.success() && !self.offline {
            (status, messages) = self.cargo(source, false)?;
        }
        if !status.success() && fs::remove_file(source.join("Cargo.lock")).is_ok() {
            // If this fails too, the messages of the attempt with the lock file are reported,
            // because they are closer to the cause.
            (status, _) = self.cargo(source, true)?;
        }
        if status.success() { Ok(()) } else { Err(self.failed(&messages)) }
    }

    /// Runs cargo, and prints the crates that it compiles unless `quiet`. Returns cargo's exit
    /// status and its other messages.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run. Returns one also if a signal ended cargo, so that
    /// another attempt does not follow the user's interrupt.
    fn cargo(&self, source: &Utf8Path, offline: bool) -> Result<(ExitStatus, String)> {
        let failed = |e| Error::setup(program::not_run(&self.toolchain.cargo, &e));
        let mut command = Command::new(&self.toolchain.cargo);
        command
            .args([
                "build",
                "--release",
                "--color",
                "never",
                "--target",
                self.target,
                "--package",
                "nondex-std",
                "--package",
                "nondex-test",
            ])
            .current_dir(source);
        if self.network {
            command.args(["--package", "nondex-preload"]);
            command.args(["--features", "nondex-std/network"]);
        }
        if offline {
            command.arg("--offline");
        }
        if std::env::var_os("CARGO_BUILD_JOBS").is_none() {
            let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            command.arg(format!("--jobs={}", cores.max(JOBS)));
        }
        // The settings of the project's own build must not affect this build.
        for name in [
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_BUILD_TARGET",
            "CARGO_TERM_QUIET",
            "CARGO_TERM_PROGRESS_WHEN",
        ] {
            command.env_remove(name);
        }
        let mut child = command
            .env("RUSTFLAGS", self.rustflags())
            .env("RUSTC", &self.toolchain.rustc)
            .env("CARGO_TARGET_DIR", source.join("target"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let stderr = child.stderr.take().expect("stderr is piped");
        let passed = Passed::to(&child);
        let mut messages = String::new();
        for line in BufReader::new(stderr).lines() {
            let line = line.map_err(failed)?;
            match line.trim_start().strip_prefix("Compiling ") {
                Some(_) if self.quiet => {}
                // The folder after the name is temporary, so it is not printed.
                Some(package) => anstream::eprintln!(
                    "   Compiling {} of the runtime",
                    package.split(" (").next().unwrap_or(package)
                ),
                None => {
                    messages.push_str(&line);
                    messages.push('\n');
                }
            }
        }
        drop(passed);
        let status = child.wait().map_err(failed)?;
        if status.signal().is_some() {
            return Err(Error::build("interrupted while the runtime was built"));
        }
        Ok((status, messages))
    }
}

/// Writes the workspace of the runtime to `source`.
fn write_sources(source: &Utf8Path) -> Result<(), String> {
    for (name, text) in SOURCES {
        let path = source.join(name);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("failed to write `{path}`: {e}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

    fn table(text: &str) -> toml::Table {
        text.parse().unwrap()
    }

    fn of_runtime(name: &str) -> &'static str {
        let (_, text) = SOURCES.iter().find(|(known, _)| *known == name).unwrap();
        text
    }

    fn of_repository(name: &str) -> String {
        fs::read_to_string(format!("{REPOSITORY}/{name}")).unwrap()
    }

    #[test]
    fn the_runtime_is_built_from_what_the_repository_is_built_from() {
        let own = table(of_runtime("Cargo.toml"));
        let all = table(&of_repository("Cargo.toml"));
        let [own, all] = [&own, &all].map(|manifest| &manifest["workspace"]["dependencies"]);
        for (name, dependency) in own.as_table().unwrap() {
            let is_ours = dependency.get("path").is_some();
            assert!(is_ours || all[name] == *dependency, "{name}: {dependency}");
        }
        let packages = |text: &str| -> BTreeSet<String> {
            let lock = table(text);
            let packages = lock["package"].as_array().unwrap();
            let others = packages.iter().filter(|one| one.get("source").is_some());
            let identities = others.map(|one| {
                let identity = ["name", "version", "checksum"].map(|key| one[key].to_string());
                identity.join(" ")
            });
            identities.collect()
        };
        let own = packages(of_runtime("Cargo.lock"));
        let all = packages(&of_repository("Cargo.lock"));
        assert!(!own.is_empty());
        assert!(own.is_subset(&all), "{:?}", own.difference(&all));
    }

    #[test]
    fn the_lock_file_of_the_runtime_needs_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let source = Utf8Path::from_path(folder.path()).unwrap();
        write_sources(source).unwrap();
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--offline", "--format-version=1"])
            .current_dir(source)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
}
