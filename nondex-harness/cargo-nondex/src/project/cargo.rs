//! Cargo, with our part in what it does: it builds the test executables, and shows how it would
//! start each.

use std::ffi::OsString;
use std::io::BufReader;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Message, Metadata, PackageId};

use super::config::runner_variable;
use super::drawn;
use super::intercept::{Intercept, RECORD, Start};
use super::plan::{BuildPlan, Mode};
use super::preload::{self, EntropyLibrary};
use super::suite::{Harness, TestBinary};
use super::target::{binary_id, kind};
use super::toolchain::{self, Toolchain, own};
use crate::error::{Error, Result};
use crate::program;

/// The message when cargo itself has printed why.
pub(super) const UNBUILT: &str = "the project's tests do not build";

/// A test executable that cargo built.
pub(super) struct Executable {
    pub(super) path: Utf8PathBuf,
    pub(super) id: String,
    package: String,
    target: String,
    pub(super) kind: String,
}

/// What cargo built.
#[derive(Default)]
pub(super) struct Artifacts {
    /// The test executables.
    pub(super) executables: Vec<Executable>,
    /// What tests may start or load: other programs, and dynamic libraries for the target.
    pub(super) others: Vec<Utf8PathBuf>,
}

impl Executable {
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

/// One selection of a project's targets, for cargo.
pub(super) struct Cargo<'a> {
    pub(super) plan: &'a BuildPlan,
    /// Where cargo is called, absolute.
    pub(super) here: &'a Utf8Path,
    pub(super) toolchain: &'a Toolchain,
    /// The triple that is built for.
    pub(super) target: &'a str,
    pub(super) metadata: &'a Metadata,
    /// The user's own rustc wrapper.
    pub(super) wrapper: Option<&'a str>,
    /// What seeds the programs that the build runs; `None` where that is not possible.
    pub(super) entropy: Option<EntropyLibrary>,
    /// Whether the runtime has maps and sets that choose their order.
    pub(super) collections: bool,
    /// See [`CargoConfig::runner_is_text`](super::config::CargoConfig::runner_is_text).
    pub(super) runner_is_text: bool,
}

impl Cargo<'_> {
    /// What the calls that come back to us need to know of the user's own settings, and nothing
    /// else.
    pub(super) fn intercept(&self) -> Intercept {
        Intercept {
            runtime: None,
            wrapper: self.wrapper.map(str::to_owned),
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

    /// Fetches the packages of the workspace for the target, as `intercept` describes it. Nothing
    /// is built; `target_dir` is for what cargo remembers of rustc.
    pub(super) fn fetch(&self, target_dir: &Utf8Path, intercept: &Intercept) -> Result<()> {
        let mut command = Command::new(&self.toolchain.cargo);
        command
            .current_dir(self.here)
            .args(["fetch", "--quiet", "--target", self.target])
            .args(self.plan.resolution_words())
            .env("CARGO_TARGET_DIR", target_dir)
            .env("RUSTC_WRAPPER", own()?)
            // Without a network the build reports that, and tries again.
            .env("CARGO_NET_RETRY", "0")
            .stdin(Stdio::null());
        intercept.install(&mut command);
        toolchain::stdout(&mut command).map(drop)
    }

    /// `cargo test` for the selection, with our part in it.
    fn test(&self, build_dir: &Utf8Path, intercept: &Intercept) -> Result<Command> {
        let own = own()?;
        let mut command = Command::new(&self.toolchain.cargo);
        command.current_dir(self.here);
        command.arg("test").arg("--target-dir").arg(build_dir);
        command.args(self.plan.cargo_words()).env("RUSTDOC", &own).stdin(Stdio::null());
        // Naming the host changes which flags reach build scripts: a plain build is the user's own.
        if self.plan.mode != Mode::Plain || self.plan.target.is_some() {
            command.args(["--target", self.target]);
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
        command.arg("--config").arg(format!("target.{}.runner={runner}", self.target));
        command.env_remove(runner_variable(self.target));
        if let Some(library) = &self.entropy {
            library.install_in_build(&mut command, &self.plan.varied, &drawn::folder(build_dir));
        }
        intercept.install(&mut command);
        Ok(command)
    }

    /// This program as a target runner, in the form that cargo merges with the user's own: an array
    /// where that is possible, because no other can hold a path with spaces.
    fn recorder(&self, own: &str) -> Result<toml::Value> {
        if !self.runner_is_text {
            return Ok(toml::Value::from(vec![own, RECORD]));
        }
        if own.contains(char::is_whitespace) {
            return Err(Error::setup(format!(
                "`target.{}.runner` is a string in cargo's configuration, which cannot be \
                 joined with `{own}`: write it as an array, \
                 `[\"program\", \"argument\"]`",
                self.target
            )));
        }
        Ok(toml::Value::from(format!("{own} {RECORD}")))
    }

    /// The features that switch the shims on: of `nondex-collections`, and of each selected package
    /// that has a feature of the same name for what else it changes in such a build.
    fn swap_features(&self) -> String {
        let selected = |package: &cargo_metadata::Package| {
            if !self.plan.packages.is_empty() {
                self.plan.packages.iter().any(|name| *name == *package.name)
            } else if self.plan.workspace {
                !self.plan.exclude.iter().any(|name| *name == *package.name)
            } else {
                self.metadata.workspace_default_members.contains(&package.id)
            }
        };
        let own = self
            .metadata
            .workspace_packages()
            .into_iter()
            .filter(|package| selected(package) && package.features.contains_key("nondex"))
            .map(|package| format!("{}/nondex", package.name));
        let mut features = vec!["nondex-collections/nondex".to_owned()];
        features.extend(own);
        features.join(",")
    }

    /// Builds, with cargo's own output on stderr.
    pub(super) fn build(
        &self,
        build_dir: &Utf8Path,
        intercept: &Intercept,
        quiet: bool,
    ) -> Result<Artifacts> {
        let mut command = self.test(build_dir, intercept)?;
        // A plain build comes after another one, which has shown the compiler's warnings.
        let only_errors = self.plan.mode == Mode::Plain;
        let format = if only_errors { "json" } else { "json-render-diagnostics" };
        command.arg(format!("--message-format={format}")).stdout(Stdio::piped());
        // Cargo refuses the two together; all it would run is rustdoc, which only writes down that
        // it was called.
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
        let mut cargo =
            spawned.map_err(|e| Error::setup(program::not_run(&self.toolchain.cargo, &e)))?;
        let stdout = cargo.stdout.take().expect("stdout is piped");
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

    /// Lets cargo start every executable, and rustdoc for doctests, which only writes down how.
    pub(super) fn start(&self, build_dir: &Utf8Path, intercept: &Intercept) -> Result<()> {
        if self.plan.doc {
            // That was all of the build.
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

/// Whether the compiler gave up because of this.
fn is_error(message: &Diagnostic) -> bool {
    [DiagnosticLevel::Error, DiagnosticLevel::Ice].contains(&message.level)
}

/// Whether the compiler or cargo itself runs a target: a build script or a proc macro.
fn is_of_host(target: &cargo_metadata::Target) -> bool {
    target.is_custom_build() || target.is_proc_macro()
}
