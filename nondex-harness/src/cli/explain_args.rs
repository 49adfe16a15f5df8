//! `cargo nondex explain`: which finding, and how long its culprit is searched.

use camino::Utf8PathBuf;
use clap::Args;

use super::build_args::location_flags;
use super::output_args::OutputArgs;

/// The options of `cargo nondex explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// The finding: the name or id of its test, its own id, or `latest`
    #[arg(value_name = "TEST|ID", help_heading = "Arguments")]
    pub finding: String,

    /// How many runs the search may take, those that were made before included
    #[arg(long, value_name = "RUNS", default_value = "2000")]
    #[arg(help_heading = "Explain options")]
    pub budget: usize,

    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
    pub manifest_path: Option<Utf8PathBuf>,

    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY", help_heading = "Manifest options")]
    pub target_dir: Option<Utf8PathBuf>,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl ExplainArgs {
    /// The options by which another command finds the project. Quoted for a shell.
    #[must_use]
    pub fn location_flags(&self) -> Vec<String> {
        location_flags(self.manifest_path.as_deref(), self.target_dir.as_deref())
    }
}
