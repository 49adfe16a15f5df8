//! Options of `cargo nondex classify`.

use clap::Args;

use super::run_args::RunArgs;
use crate::judge::reruns::RerunCounts;

/// Options of `cargo nondex classify`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Classify options")]
pub struct ClassifyArgs {
    /// Runs alone, in canonical order, of a test that nothing made fail
    #[arg(long, value_name = "N", default_value = "100")]
    pub alone: u64,

    /// Runs of it at random addresses, on one processor, under load, and in a clean environment,
    /// each; three at most in another time zone and locale
    #[arg(long, value_name = "N", default_value = "20")]
    pub circumstances: u64,

    /// Runs of it in a plain build
    #[arg(long, value_name = "N", default_value = "100")]
    pub natural: u64,

    /// Options of the campaign that comes first.
    #[command(flatten)]
    pub run: RunArgs,
}

impl ClassifyArgs {
    /// Returns the maximum number of runs of a test under each circumstance.
    pub const fn limits(&self) -> RerunCounts {
        RerunCounts::new(self.alone, self.circumstances, self.natural)
    }
}
