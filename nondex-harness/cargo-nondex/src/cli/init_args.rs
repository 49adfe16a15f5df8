//! Options of `cargo nondex init`.

use clap::Args;

use super::location_args::LocationArgs;

/// Options of `cargo nondex init`.
#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// Overwrite files that are there already
    #[arg(long, help_heading = "Init options")]
    pub force: bool,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}
