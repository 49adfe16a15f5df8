//! Runs another tool's cargo over this tool's runtime, without any change of the other tool.
//!
//! The other tool only gets environment variables that cargo itself reads. So every command that
//! starts cargo works: nextest, cargo-mutants, cargo-llvm-cov. Cargo calls this program as its
//! rustc wrapper, as rustdoc, and as the runner of test executables.

use std::ffi::OsString;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use super::cargo::Cargo;
use super::config::runner_variable;
use super::drawn;
use super::folder::BuildFolder;
use super::foundation::Foundation;
use super::inherited;
use super::instrumentation::Instrumentation;
use super::intercept::{Intercept, RUN};
use super::plan::BuildPlan;
use super::preload::EntropyLibrary;
use super::toolchain::own;
use crate::error::{Error, Result};

/// Name of the folder of such builds, in this tool's folder.
const FOLDER: &str = "with";

/// Settings for another tool's cargo.
#[derive(Debug)]
pub struct Around {
    variables: Vec<(String, OsString)>,
    intercept: Intercept,
    entropy: Option<EntropyLibrary>,
    plan: BuildPlan,
    /// User's own runner of test executables.
    pub runner: Vec<String>,
    /// Root of the workspace.
    pub workspace_root: Utf8PathBuf,
    /// Build folder, locked against removal until this is dropped.
    folder: BuildFolder,
}

impl Around {
    /// Prepares the runtime for the workspace of the plan. Builds the runtime if it is not cached.
    ///
    /// # Errors
    /// Returns an error if the workspace, the toolchain or the cache cannot be used. Also returns
    /// an error if the path of this program has a space, because cargo splits a runner from the
    /// environment at spaces.
    pub fn prepare(plan: &BuildPlan, quiet: bool) -> Result<Self> {
        let foundation = Foundation::of(plan)?;
        let Foundation { toolchain, target, .. } = &foundation;
        let own = own()?;
        if own.contains(char::is_whitespace) {
            return Err(Error::setup(format!(
                "`{own}` has a space in its path, and cargo takes a runner from its environment \
                 word by word: install it in another folder"
            )));
        }
        let mut cargo = Cargo::new(&foundation, plan, true);
        let ours = foundation.ours();
        let instrumentation = Instrumentation::of(&cargo, &ours, quiet)?;
        cargo.entropy = EntropyLibrary::of(toolchain).ok();
        let folder = inherited::open(&cargo, &instrumentation, &ours, FOLDER, quiet)?;
        let variables = vec![
            ("CARGO_BUILD_TARGET".to_owned(), target.clone().into()),
            ("CARGO_TARGET_DIR".to_owned(), folder.path.as_str().into()),
            ("RUSTC_WRAPPER".to_owned(), own.clone().into()),
            ("RUSTDOC".to_owned(), own.clone().into()),
            (runner_variable(target), format!("{own} {RUN}").into()),
        ];
        let starts = folder.path.clone();
        let (mut intercept, _) = instrumentation.intercept(&cargo, &folder.path, starts)?;
        intercept.rustdoc = Some(toolchain.rustdoc().to_string_lossy().into_owned());
        for (name, _) in &variables {
            let before = std::env::var(name).ok();
            intercept.replaced.insert(name.clone(), before);
        }
        Ok(Around {
            variables,
            intercept,
            entropy: cargo.entropy.take(),
            plan: plan.clone(),
            workspace_root: foundation.metadata.workspace_root.clone(),
            runner: foundation.config.runner.clone(),
            folder,
        })
    }

    /// Returns the folder in which everything is built.
    pub fn build_dir(&self) -> &Utf8Path {
        &self.folder.path
    }

    /// Sets the environment of `command` so that every cargo that it starts builds over the
    /// runtime.
    pub fn install(&self, command: &mut Command) {
        let variables = self.variables.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
        if let Some(library) = &self.entropy {
            let drawn = drawn::folder(&self.folder.path);
            library.install_in_build(command, &self.plan.varied, &drawn);
        }
        self.intercept.install(command);
    }
}
