//! Options of `cargo nondex confirm`, which runs tests without this tool.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;

use super::project_args::ProjectArgs;
use super::seeds::Seeds;
use super::values::{positive, seconds};

/// Options of `cargo nondex confirm`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Confirm options")]
pub struct ConfirmArgs {
    /// Runs of each test, each in a separate process
    #[arg(long, value_name = "N", default_value = "100", value_parser = positive::<NonZeroU32>)]
    pub runs: NonZeroU32,

    /// Instead, one run with each of these seeds for its entropy: how many, a range or a list
    #[arg(long, value_name = "N|A..B|LIST", conflicts_with = "runs")]
    #[arg(allow_hyphen_values = true)]
    pub seeds: Option<Seeds>,

    /// Time limit of one run of one test [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Project and selection of tests.
    #[command(flatten)]
    pub project: ProjectArgs,
}
