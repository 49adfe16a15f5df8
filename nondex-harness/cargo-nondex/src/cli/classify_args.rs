//! `cargo nondex classify`: how often a test is run again before nothing more is tried.

use clap::Args;

use super::run_args::RunArgs;
use crate::judge::reruns::RerunCounts;

/// The options of `cargo nondex classify`.
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

    /// What is tried first.
    #[command(flatten)]
    pub run: RunArgs,
}

impl ClassifyArgs {
    /// How often a test is run under each circumstance.
    pub const fn limits(&self) -> RerunCounts {
        RerunCounts::new(self.alone, self.circumstances, self.natural)
    }
}
