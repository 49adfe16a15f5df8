//! Runs cargo with this program in its build. Cargo builds the test executables, and shows how it
//! would start each.

use std::ffi::OsString;
use std::io::BufReader;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Message, PackageId};

use super::config::{self, runner_variable};
use super::drawn;
use super::foundation::Foundation;
use super::intercept::{Intercept, RECORD, Start};
use super::named;
use super::plan::{BuildPlan, Mode};
use super::preload::{self, EntropyLibrary};
use super::suite::{Harness, TestBinary, binary_id, kind};
use super::toolchain::{self, own};
use crate::error::{Error, Result};
use crate::interruption::Passed;
use crate::program;

/// Message of an error whose reason cargo has printed.
pub(super) const UNBUILT: &str = "the project's tests do not build";

/// Test executable that cargo built.
pub(super) struct Executable {
    pub(super) path: Utf8PathBuf,
    pub(super) id: String,
    package: String,
    target: String,
    pub(super) kind: String,
}

/// Files that cargo built.
#[derive(Default)]
pub(super) struct Artifacts {
    /// Test executables.
    pub(super) executables: Vec<Executable>,
    /// Files that tests may start or load: other programs, and dynamic libraries for the target.
    pub(super) others: Vec<Utf8PathBuf>,
}

impl Executable {
    /// Returns the executable as a test binary that is started as in `start`. Its harness is not
    /// known yet.
    pub(super) fn into_binary(self, start: &Start, runner: &[OsString]) -> TestBinary {
        TestBinary {
            id: self.id,
            package: self.package,
            target: self.target,
            kind: self.kind,
            executable: self.path,
            cwd: start.cwd.clone(),
            env: start.environment(),
            runner: runner.to_vec(),
            harness: Harness::Opaque,
            is_on_host: false,
            preload: None,
            moved: None,
        }
    }
}

/// Selection of a project's targets, and the settings with which cargo builds it.
pub(super) struct Cargo<'a> {
    pub(super) plan: &'a BuildPlan,
    pub(super) foundation: &'a Foundation,
    /// Library that seeds the programs that the build runs; `None` if they cannot be seeded.
    pub(super) entropy: Option<EntropyLibrary>,
    /// Whether the runtime has its own maps and sets, which choose their order.
    pub(super) collections: bool,
}

impl<'a> Cargo<'a> {
    /// Returns cargo for this plan, over the runtime's own maps and sets if `collections`, or over
    /// std's.
    pub(super) const fn new(
        foundation: &'a Foundation,
        plan: &'a BuildPlan,
        collections: bool,
    ) -> Self {
        Cargo { plan, foundation, entropy: None, collections }
    }

    /// Returns the data for intercepted calls with the user's own settings, and without
    /// instrumentation.
    pub(super) fn intercept(&self) -> Intercept {
        Intercept {
            runtime: None,
            wrapper: self.foundation.config.rustc_wrapper.clone(),
            atomics_are_calls: false,
            covered: None,
            races: false,
            rustix_uses_libc: false,
            starts: Utf8PathBuf::new(),
            replaced: ["RUSTC_WRAPPER", "RUSTDOC"]
                .into_iter()
                .chain(preload::OF_BUILDS)
                .map(|name| (name.to_owned(), std::env::var(name).ok()))
                .collect(),
            rustdoc: None,
        }
    }

    /// Returns a command of cargo in the plan's folder, with the configuration that holds there.
    fn command(&self, name: &str) -> Command {
        let Foundation { toolchain, here, .. } = self.foundation;
        let mut command = Command::new(&toolchain.cargo);
        command.arg(name);
        match &self.plan.checkout {
            Some(checkout) => {
                command.current_dir(checkout.outside()).args(config::arguments(here, checkout));
                command.env("RUSTC", &toolchain.rustc);
            }
            None => {
                command.current_dir(here);
            }
        }
        command
    }

    /// Fetches the packages of the workspace for the target, with the settings in `intercept`.
    /// Builds nothing. Cargo caches its queries of rustc in `target_dir`.
    pub(super) fn fetch(&self, target_dir: &Utf8Path, intercept: &Intercept) -> Result<()> {
        let mut command = self.command("fetch");
        command
            .args(["--quiet", "--target", &self.foundation.target])
            .args(self.plan.resolution_words())
            .env("CARGO_TARGET_DIR", target_dir)
            .env("RUSTC_WRAPPER", own()?)
            // Without a network, the build that follows retries and reports the error.
            .env("CARGO_NET_RETRY", "0")
            .stdin(Stdio::null());
        intercept.install(&mut command);
        toolchain::stdout(&mut command).map(drop)
    }

    /// Returns `cargo test` for the selection, with this program as rustdoc, as runner of tests
    /// and, in whole-program mode, as rustc wrapper.
    fn test(&self, build_dir: &Utf8Path, intercept: &Intercept) -> Result<Command> {
        let own = own()?;
        let mut command = self.command("test");
        command.arg("--target-dir").arg(build_dir);
        command.args(self.plan.cargo_words()).env("RUSTDOC", &own).stdin(Stdio::null());
        // With `--target`, other flags reach build scripts, even if the target is the host. A plain
        // build is the same as the user's.
        if self.plan.mode != Mode::Plain || self.plan.target.is_some() {
            command.args(["--target", &self.foundation.target]);
        }
        match self.plan.mode {
            Mode::Program => {
                command.env("RUSTC_WRAPPER", &own);
            }
            Mode::Swap => {
                command.args(["--features", &self.swap_features()]);
            }
            Mode::Plain => {}
        }
        let runner = self.recorder(&own)?;
        command.arg("--config").arg(format!("target.{}.runner={runner}", self.foundation.target));
        command.env_remove(runner_variable(&self.foundation.target));
        if let Some(library) = &self.entropy {
            library.install_in_build(&mut command, &self.plan.varied, &drawn::folder(build_dir));
        }
        intercept.install(&mut command);
        Ok(command)
    }

    /// Returns this program as a target runner, in the form that cargo merges with the user's own.
    /// That is an array if possible, because only an array can hold a path with spaces.
    ///
    /// # Errors
    /// Returns an error if the user's runner is a string and the path of this program has a space.
    fn recorder(&self, own: &str) -> Result<toml::Value> {
        if !self.foundation.config.runner_is_text {
            return Ok(toml::Value::from(vec![own, RECORD]));
        }
        if own.contains(char::is_whitespace) {
            return Err(Error::setup(format!(
                "`target.{}.runner` is a string in cargo's configuration, which cannot be \
                 joined with `{own}`: write it as an array, \
                 `[\"program\", \"argument\"]`",
                self.foundation.target
            )));
        }
        Ok(toml::Value::from(format!("{own} {RECORD}")))
    }

    /// Returns the features that switch the shims on: `nondex` of `nondex-collections`, and
    /// `nondex` of each selected package that has such a feature. A package uses it for its own
    /// changes in such a build.
    fn swap_features(&self) -> String {
        let own = named::selected(self.plan, &self.foundation.metadata)
            .into_iter()
            .filter(|package| package.features.contains_key("nondex"))
            .map(|package| format!("{}/nondex", package.name));
        let mut features = vec!["nondex-collections/nondex".to_owned()];
        features.extend(own);
        features.join(",")
    }

    /// Builds the tests. Cargo's own output goes to stderr.
    pub(super) fn build(
        &self,
        build_dir: &Utf8Path,
        intercept: &Intercept,
        quiet: bool,
    ) -> Result<Artifacts> {
        let mut command = self.test(build_dir, intercept)?;
        // A plain build follows another build, which has shown the compiler's warnings.
        let only_errors = self.plan.mode == Mode::Plain;
        let format = if only_errors { "json" } else { "json-render-diagnostics" };
        command.arg(format!("--message-format={format}")).stdout(Stdio::piped());
        // Cargo refuses `--doc` with `--no-run`. With `--doc` it runs only rustdoc, which is this
        // program and only records the call.
        if !self.plan.doc {
            command.arg("--no-run");
        }
        if quiet {
            command.arg("--quiet");
        }
        if !self.plan.varied.program.is_empty() || !self.collections {
            // The first build has shown the compiler's messages.
            command.stderr(Stdio::null());
        }
        let spawned = command.spawn();
        let mut cargo = spawned
            .map_err(|e| Error::setup(program::not_run(&self.foundation.toolchain.cargo, &e)))?;
        let stdout = cargo.stdout.take().expect("stdout is piped");
        let passed = Passed::to(&cargo);
        let mut artifacts = Artifacts::default();
        for message in Message::parse_stream(BufReader::new(stdout)) {
            let message = message
                .map_err(|e| Error::build(format!("failed to read cargo's messages: {e}")))?;
            let artifact = match message {
                Message::CompilerArtifact(artifact) => artifact,
                Message::CompilerMessage(compiler) if is_error(&compiler.message) => {
                    eprint!("{}", compiler.message.rendered.unwrap_or_default());
                    continue;
                }
                _ => continue,
            };
            match artifact.executable {
                Some(path) if artifact.profile.test => {
                    let executable = self.executable(path, &artifact.package_id, &artifact.target);
                    artifacts.executables.push(executable);
                }
                Some(path) if !is_of_host(&artifact.target) => artifacts.others.push(path),
                None if !is_of_host(&artifact.target) => {
                    let files = artifact.filenames.into_iter();
                    let libraries = files.filter(|file| file.extension() == Some("so"));
                    artifacts.others.extend(libraries);
                }
                _ => {}
            }
        }
        drop(passed);
        let status =
            cargo.wait().map_err(|e| Error::build(format!("failed to wait for cargo: {e}")))?;
        if status.success() {
            Ok(artifacts)
        } else if status.signal().is_some() {
            Err(Error::build("interrupted while the tests were built"))
        } else {
            Err(Error::build(UNBUILT))
        }
    }

    /// Makes cargo start every executable, and rustdoc for doctests. Cargo starts this program
    /// instead, which only records how.
    pub(super) fn start(&self, build_dir: &Utf8Path, intercept: &Intercept) -> Result<()> {
        if self.plan.doc {
            // The build has already called rustdoc, and there are no executables.
            return Ok(());
        }
        let mut command = self.test(build_dir, intercept)?;
        command.args(["--no-fail-fast", "--quiet"]);
        toolchain::stdout(&mut command)
            .map(drop)
            .map_err(|e| e.context("failed to ask cargo how it starts the tests"))
    }

    fn executable(
        &self,
        path: Utf8PathBuf,
        package: &PackageId,
        target: &cargo_metadata::Target,
    ) -> Executable {
        let package = self
            .foundation
            .metadata
            .packages
            .iter()
            .find(|known| known.id == *package)
            .map_or_else(|| package.repr.clone(), |package| package.name.to_string());
        Executable {
            path,
            id: binary_id(&package, target),
            package,
            target: target.name.clone(),
            kind: kind(target).to_owned(),
        }
    }
}

/// Returns whether the compiler failed because of this message.
fn is_error(message: &Diagnostic) -> bool {
    [DiagnosticLevel::Error, DiagnosticLevel::Ice].contains(&message.level)
}

/// Returns whether the compiler or cargo itself runs a target: a build script or a proc macro.
fn is_of_host(target: &cargo_metadata::Target) -> bool {
    target.is_custom_build() || target.is_proc_macro()
}
