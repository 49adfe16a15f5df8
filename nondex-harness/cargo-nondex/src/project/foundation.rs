//! Basis of every build: the workspace, its toolchain, and the user's own settings.

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Metadata, MetadataCommand};

use super::archive;
use super::config::CargoConfig;
use super::plan::{BuildPlan, Folders, Mode};
use super::platform;
use super::toolchain::Toolchain;
use crate::error::{Error, OrSetup, Result};
use crate::file;

/// Basis of a build: see the [module](self).
pub(super) struct Foundation {
    pub(super) metadata: Metadata,
    /// Absolute path of the plan's folder.
    pub(super) here: Utf8PathBuf,
    /// Target directory of the project.
    pub(super) target_dir: Utf8PathBuf,
    pub(super) toolchain: Toolchain,
    /// Target triple of the build.
    pub(super) target: String,
    pub(super) config: CargoConfig,
}

impl Foundation {
    /// Reads the workspace, toolchain and configuration for a plan.
    ///
    /// # Errors
    /// Returns an error if the workspace or toolchain cannot be read, or if the target or toolchain
    /// does not support whole-program mode.
    pub(super) fn of(plan: &BuildPlan) -> Result<Self> {
        let metadata = metadata(plan, false)?;
        let here = camino::absolute_utf8(plan.path(Utf8Path::new("")))
            .or_setup(format_args!("failed to find `{}`", plan.directory))?;
        let target_dir = match &plan.target_dir {
            Some(dir) => here.join(dir),
            None => metadata.target_directory.clone(),
        };
        let mut toolchain = Toolchain::in_dir(&metadata.workspace_root)?;
        if plan.checkout.is_some() {
            toolchain = toolchain.in_any_folder();
        }
        let target = plan.target.clone().unwrap_or_else(|| toolchain.host.clone());
        if plan.mode == Mode::Program {
            platform::check(&target)?;
            toolchain.check()?;
        }
        let config = CargoConfig::read(&here, plan.checkout.as_ref(), &target);
        Ok(Foundation { metadata, here, target_dir, toolchain, target, config })
    }

    /// Returns the folder of everything that this tool builds.
    pub(super) fn ours(&self) -> Utf8PathBuf {
        self.target_dir.join("nondex")
    }
}

impl Folders {
    /// Finds the folders of the project of `manifest_path`, or of the one around the current
    /// folder. `target_dir` replaces the project's own target directory.
    ///
    /// # Errors
    /// Returns the errors of [`metadata`].
    pub fn find(manifest_path: Option<&Utf8Path>, target_dir: Option<&Utf8Path>) -> Result<Self> {
        let metadata = metadata(&BuildPlan::of(manifest_path), false)?;
        let target_dir = file::absolute(target_dir.unwrap_or(&metadata.target_directory))?;
        Ok(Folders { workspace_root: metadata.workspace_root, target_dir })
    }
}

/// Returns cargo's metadata of the plan's workspace or archive, with the dependency graph if
/// `deps`.
///
/// # Errors
/// Returns an error with cargo's message if there is no manifest, or cargo cannot read it.
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
        // Only packages of the compiled platforms: those of others need not be on this machine.
        let host = Toolchain::host_in(&plan.path(Utf8Path::new(".")))?;
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
        // A toolchain that is too old may fail to read a newer manifest. Its age is the reason to
        // report.
        let here = plan.path(Utf8Path::new("."));
        if let Ok(found) = Toolchain::in_dir(&here)
            && let Err(refused) = found.check()
        {
            return refused;
        }
        unreadable(e)
    })
}

/// Returns the folders of packages that are neither in the repository nor in a registry. Returns
/// none if cargo cannot find the packages.
pub fn packages_outside(plan: &BuildPlan, repository: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(metadata) = metadata(plan, true) else { return Vec::new() };
    let local = metadata.packages.iter().filter(|package| package.source.is_none());
    let folders = local.filter_map(|package| package.manifest_path.parent());
    folders.filter(|folder| !folder.starts_with(repository)).map(Utf8Path::to_owned).collect()
}

/// Returns the error for a workspace that cannot be read, with cargo's message if there is one.
fn unreadable(error: cargo_metadata::Error) -> Error {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            Error::setup(stderr.trim().trim_start_matches("error: ").to_owned())
        }
        other => Error::setup(format!("failed to read the workspace: {other}")),
    }
}
