//! Options of `cargo nondex with`, which runs another command with the same choices each time.

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::Args;

use super::world_args::WorldArgs;

/// Options of `cargo nondex with`.
#[derive(Args, Clone, Debug)]
pub struct WithArgs {
    /// Choices that are made.
    #[command(flatten)]
    pub world: WorldArgs,

    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
    pub manifest_path: Option<Utf8PathBuf>,

    /// The command and its arguments, such as `cargo nextest run`
    #[arg(value_name = "COMMAND", required = true, last = true, help_heading = "Arguments")]
    pub command: Vec<OsString>,
}
