//! Options of `cargo nondex explain`.

use camino::Utf8PathBuf;
use clap::Args;

use super::location_args::LocationArgs;

/// Options of `cargo nondex explain`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Explain options")]
pub struct ExplainArgs {
    /// The finding: its id, its test, or a part of either that no other has, or `latest`
    #[arg(value_name = "TEST|ID", help_heading = "Arguments")]
    pub finding: String,

    /// How many runs the search may take, those that were made before included
    #[arg(long, value_name = "RUNS", default_value = "2000")]
    pub search_runs: usize,

    /// Take the finding from this report, such as one that a CI job wrote
    #[arg(long, value_name = "FILE")]
    pub report: Option<Utf8PathBuf>,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}
