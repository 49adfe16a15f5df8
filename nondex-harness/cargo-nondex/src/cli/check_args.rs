//! Options of `cargo nondex check`, which runs all searches for flaky tests in CI.

use clap::Args;

use super::run_args::RunArgs;

/// Options of `cargo nondex check`: those of `run`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Check options")]
pub struct CheckArgs {
    /// Random orders of the tests of a binary [default: 10]
    #[arg(long, value_name = "N")]
    pub orders: Option<usize>,

    /// Report how each failing test is related to the change since this commit, as `deflake` does
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,

    /// Options of the campaign.
    #[command(flatten)]
    pub run: RunArgs,
}
