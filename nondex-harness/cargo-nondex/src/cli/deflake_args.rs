//! `cargo nondex deflake`: which change is looked at.

use clap::Args;

use super::run_args::RunArgs;

/// The options of `cargo nondex deflake`: those of `run`.
#[derive(Args, Clone, Debug)]
pub struct DeflakeArgs {
    /// The commit that the working tree is compared with [default: HEAD, or its parent when nothing
    /// is changed since HEAD]
    #[arg(long, value_name = "REV", help_heading = "Deflake options")]
    pub base: Option<String>,

    /// Look only at what failing tests run, not at which changed lines no test runs
    #[arg(long, help_heading = "Deflake options")]
    pub delayed: bool,

    /// What is run.
    #[command(flatten)]
    pub run: RunArgs,
}
