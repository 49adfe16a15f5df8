//! Where a project is, for the commands that build nothing.

use camino::Utf8PathBuf;
use clap::Args;

/// Where a project and what was found in it are.
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
    /// The flags by which another command finds the same.
    pub fn words(&self) -> Vec<String> {
        let paths = [("--manifest-path", &self.manifest_path), ("--target-dir", &self.target_dir)];
        let flags = paths.into_iter().filter_map(|(flag, path)| {
            let path = path.as_ref()?;
            Some([flag.to_owned(), path.to_string()])
        });
        flags.flatten().collect()
    }
}
