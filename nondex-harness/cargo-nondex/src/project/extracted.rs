//! Location of an extracted archive of built tests.

use camino::Utf8PathBuf;

/// Folders of an extracted archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// Root of the workspace: from the archive, or a checkout.
    pub workspace_root: Utf8PathBuf,
    /// Target directory.
    pub target_dir: Utf8PathBuf,
}
