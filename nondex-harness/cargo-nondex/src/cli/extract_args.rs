//! Options for tests from an archive, in place of tests that cargo builds.

use camino::Utf8PathBuf;
use clap::Args;

use crate::project::Extracted;

/// Archive of built tests, and the folder where it is extracted.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Archive options")]
pub struct ExtractArgs {
    /// Run the tests that `cargo nondex archive` packed into this file, and build nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = BUILD)]
    pub archive_file: Option<Utf8PathBuf>,

    /// Folder for the files of the workspace and the target directory, which a later call with the
    /// same archive finds there [default: the workspace has the target directory]
    #[arg(long, value_name = "DIR", requires = "archive_file")]
    pub extract_to: Option<Utf8PathBuf>,

    /// Checkout of the workspace, whose files are used in place of those in the archive
    #[arg(long, value_name = "DIR", requires = "archive_file")]
    pub workspace_remap: Option<Utf8PathBuf>,

    /// Folders of the extracted archive.
    #[arg(skip)]
    pub extracted: Option<Extracted>,
}

/// Options that were fixed when the archive was packed.
const BUILD: [&str; 25] = [
    "packages",
    "workspace",
    "exclude",
    "lib",
    "bins",
    "bin",
    "examples",
    "example",
    "tests",
    "test",
    "benches",
    "bench",
    "all_targets",
    "doc",
    "features",
    "all_features",
    "no_default_features",
    "release",
    "cargo_profile",
    "target",
    "target_dir",
    "races",
    "mode",
    "manifest_path",
    "config",
];
