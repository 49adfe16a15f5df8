//! Options for the location of a project, for commands that do not build.

use camino::Utf8PathBuf;
use clap::Args;

/// Location of a project and of its findings.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Manifest options")]
pub struct LocationArgs {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<Utf8PathBuf>,

    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<Utf8PathBuf>,
}

impl LocationArgs {
    /// Returns the flags with which another command finds the same project.
    pub fn words(&self) -> Vec<String> {
        let paths = [("--manifest-path", &self.manifest_path), ("--target-dir", &self.target_dir)];
        paths
            .into_iter()
            .filter_map(|(flag, path)| Some([flag.to_owned(), path.as_ref()?.to_string()]))
            .flatten()
            .collect()
    }
}
