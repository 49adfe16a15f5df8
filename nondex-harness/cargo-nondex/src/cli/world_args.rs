//! Options for choices that are the same in every run.

use clap::Args;

use super::values::Switch as _;

/// Options that `cargo nondex test` and `cargo nondex with` share.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Test options")]
pub struct WorldArgs {
    /// Make the choices of this seed, at level STD, in place of those of canonical order
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Leave threads to the operating system, and time to the clock
    #[arg(long, switch = "BOOL")]
    pub real_threads: Option<bool>,

    /// Maximum number of operations of a test's threads while they are scheduled [default:
    /// 10000000]
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
}
