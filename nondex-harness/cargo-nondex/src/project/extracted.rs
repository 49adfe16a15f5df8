//! Where an archive of built tests was extracted.

use camino::Utf8PathBuf;

/// The folders of an archive that was extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The root of the workspace: from the archive, or a checkout.
    pub workspace_root: Utf8PathBuf,
    /// The target directory.
    pub target_dir: Utf8PathBuf,
}
