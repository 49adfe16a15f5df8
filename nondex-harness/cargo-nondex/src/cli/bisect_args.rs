//! Options of `cargo nondex bisect`.

use camino::Utf8PathBuf;
use clap::Args;

use super::location_args::LocationArgs;

/// Options of `cargo nondex bisect`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Bisect options")]
pub struct BisectArgs {
    /// The test's id, or a part of it that no other flaky test of the report has
    #[arg(value_name = "TEST", help_heading = "Arguments")]
    pub test: String,

    /// A commit at which it is not flaky [default: the one that introduced the test]
    #[arg(long, value_name = "REV")]
    pub good: Option<String>,

    /// A commit at which it is flaky
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub bad: String,

    /// Number of seeds at each commit, in addition to the one that is known to make it fail
    #[arg(long, value_name = "N", default_value = "10")]
    pub seeds: u64,

    /// Take the finding from this report, such as one that a CI job wrote
    #[arg(long, value_name = "FILE")]
    pub report: Option<Utf8PathBuf>,

    /// Do not fetch anything
    #[arg(long, help_heading = "Manifest options")]
    pub offline: bool,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}
