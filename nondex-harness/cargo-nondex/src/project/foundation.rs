//! What every build begins with: the workspace, its toolchain, and the user's own settings.

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Metadata, MetadataCommand};

use super::archive;
use super::cargo::Cargo;
use super::config::CargoConfig;
use super::plan::{BuildPlan, Mode};
use super::platform;
use super::toolchain::Toolchain;
use crate::error::{Error, Result};

/// See the [module](self).
pub(super) struct Foundation {
    pub(super) metadata: Metadata,
    /// Where cargo is called, absolute.
    pub(super) here: Utf8PathBuf,
    /// The project's target directory.
    pub(super) target_dir: Utf8PathBuf,
    pub(super) toolchain: Toolchain,
    /// The triple that is built for.
    pub(super) target: String,
    pub(super) config: CargoConfig,
}

impl Foundation {
    /// The foundation of a plan.
    ///
    /// # Errors
    /// When the workspace or the toolchain cannot be read, or a whole program cannot be built with
    /// them.
    pub(super) fn of(plan: &BuildPlan) -> Result<Self> {
        let metadata = metadata(plan, false)?;
        let here = camino::absolute_utf8(plan.path(Utf8Path::new("")))
            .map_err(|e| Error::setup(format!("failed to find `{}`: {e}", plan.directory)))?;
        let target_dir = match &plan.target_dir {
            Some(dir) => here.join(dir),
            None => metadata.target_directory.clone(),
        };
        let toolchain = Toolchain::in_dir(&metadata.workspace_root)?;
        let target = plan.target.clone().unwrap_or_else(|| toolchain.host.clone());
        if plan.mode == Mode::Program {
            platform::check(&target)?;
            toolchain.check()?;
        }
        let config = CargoConfig::read(&here, &target);
        Ok(Foundation { metadata, here, target_dir, toolchain, target, config })
    }

    /// The folder of everything that this tool builds.
    pub(super) fn ours(&self) -> Utf8PathBuf {
        self.target_dir.join("nondex")
    }

    /// Cargo for this plan, over the runtime's own maps and sets or over std's.
    pub(super) fn cargo<'a>(&'a self, plan: &'a BuildPlan, collections: bool) -> Cargo<'a> {
        Cargo {
            plan,
            here: &self.here,
            toolchain: &self.toolchain,
            target: &self.target,
            metadata: &self.metadata,
            wrapper: self.config.rustc_wrapper.as_deref(),
            entropy: None,
            collections,
            runner_is_text: self.config.runner_is_text,
        }
    }
}

/// Cargo's metadata of a workspace, or of that of an archive; with `deps` its dependency graph too.
///
/// # Errors
/// When there is no manifest, or cargo cannot read it; the message is cargo's.
pub fn metadata(plan: &BuildPlan, deps: bool) -> Result<Metadata> {
    if let Some(extracted) = &plan.archive {
        return archive::metadata(extracted);
    }
    let mut command = MetadataCommand::new();
    if let Some(cargo) = std::env::var_os("CARGO") {
        command.cargo_path(cargo);
    }
    if !plan.directory.as_str().is_empty() {
        command.current_dir(&plan.directory);
    }
    if let Some(path) = &plan.manifest_path {
        command.manifest_path(path);
    }
    if !deps {
        command.no_deps();
    }
    let mut more = plan.lock_words();
    if deps {
        // What is compiled: crates of other platforms need not be on this machine.
        let host = Toolchain::in_dir(&plan.path(Utf8Path::new(".")))?.host;
        for target in plan.target.iter().chain([&host]) {
            more.extend(["--filter-platform".to_owned(), target.clone()]);
        }
    }
    command.other_options(more);
    let metadata = command.exec();
    // A machine that runs an archive may have no cargo.
    if let Err(cargo_metadata::Error::Io(_)) = &metadata
        && let Ok(here) = camino::absolute_utf8(plan.path(Utf8Path::new(".")))
        && let Some(extracted) = archive::around(&here)
    {
        return archive::metadata(&extracted);
    }
    metadata.map_err(|e| {
        // Such a cargo may not be able to read what is newer than it.
        let here = plan.path(Utf8Path::new("."));
        if let Ok(found) = Toolchain::in_dir(&here)
            && let Err(refused) = found.check()
        {
            return refused;
        }
        unreadable(e)
    })
}

/// Why a workspace cannot be read, in cargo's words.
fn unreadable(error: cargo_metadata::Error) -> Error {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            Error::setup(stderr.trim().trim_start_matches("error: ").to_owned())
        }
        other => Error::setup(format!("failed to read the workspace: {other}")),
    }
}
