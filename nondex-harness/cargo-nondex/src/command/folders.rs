//! Folders of the project that a command works on.

use camino::Utf8PathBuf;

use crate::cli::LocationArgs;
use crate::error::Result;
use crate::file;
use crate::project::{self, BuildPlan, Extracted};

/// Folders of a project: its workspace, and the target directory with findings and reports.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    pub(super) workspace_root: Utf8PathBuf,
    pub(super) target_dir: Utf8PathBuf,
}

impl Folders {
    /// Returns the folders of an extracted archive.
    pub(super) fn of(extracted: &Extracted) -> Self {
        Folders {
            workspace_root: extracted.workspace_root.clone(),
            target_dir: extracted.target_dir.clone(),
        }
    }

    /// Finds the folders of the project that these flags select.
    pub(super) fn find(location: &LocationArgs) -> Result<Self> {
        let plan = BuildPlan::of(location.manifest_path.as_deref());
        let metadata = project::metadata(&plan, false)?;
        let target_dir = location.target_dir.clone().unwrap_or(metadata.target_directory);
        Ok(Folders {
            workspace_root: metadata.workspace_root,
            target_dir: file::absolute(&target_dir)?,
        })
    }
}
