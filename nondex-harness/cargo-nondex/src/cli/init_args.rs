//! `cargo nondex init`: what is written, and whether over what is there.

use clap::Args;

use super::location_args::LocationArgs;

/// The options of `cargo nondex init`.
#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// Overwrite files that are there already
    #[arg(long, help_heading = "Init options")]
    pub force: bool,

    /// Where the project is.
    #[command(flatten)]
    pub location: LocationArgs,
}
