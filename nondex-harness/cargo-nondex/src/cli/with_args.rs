//! `cargo nondex with`: another command's tests, with choices that are always the same.

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::Args;

/// The options of `cargo nondex with`.
#[derive(Args, Clone, Debug)]
pub struct WithArgs {
    /// Make the choices of this seed, at level STD, in place of those of canonical order
    #[arg(long, value_name = "SEED", help_heading = "Test options")]
    pub seed: Option<u64>,

    /// Leave threads to the operating system, and time to the clock
    #[arg(long, help_heading = "Test options")]
    pub real_threads: bool,

    /// How many operations the threads of a test may do together while they are scheduled [default:
    /// 10000000]
    #[arg(long, value_name = "N", help_heading = "Test options")]
    pub max_steps: Option<u64>,

    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
    pub manifest_path: Option<Utf8PathBuf>,

    /// The command and its arguments, such as `cargo nextest run`
    #[arg(
        value_name = "COMMAND",
        required = true,
        last = true,
        help_heading = "Arguments"
    )]
    pub command: Vec<OsString>,
}
