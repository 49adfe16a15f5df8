//! Options of `cargo nondex deflake`.

use clap::Args;

use super::run_args::RunArgs;

/// Options of `cargo nondex deflake`: those of `run`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Deflake options")]
pub struct DeflakeArgs {
    /// The commit that the working tree is compared with [default: HEAD, or its parent when nothing
    /// is changed since HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,

    /// Look only at what failing tests run, not at which changed lines no test runs
    #[arg(long)]
    pub delayed: bool,

    /// Options of the campaign.
    #[command(flatten)]
    pub run: RunArgs,
}
