//! Options of `cargo nondex report`, which shows earlier findings.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::file_args::FileArgs;
use super::location_args::LocationArgs;
use super::values::one_of;
use crate::findings::DEFAULT_FILE;
use crate::findings::skip_list::Distribution;

/// Options of `cargo nondex report`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Report options")]
#[command(args_conflicts_with_subcommands = true)]
pub struct ReportArgs {
    /// Other action on reports.
    #[command(subcommand)]
    pub action: Option<ReportAction>,

    /// The run, by the name of its directory in `target/nondex/runs` [default: the last one]
    #[arg(value_name = "RUN", conflicts_with_all = ["list", "export", "report"])]
    #[arg(help_heading = "Arguments")]
    pub run: Option<String>,

    /// List the findings that can be replayed, with `-v` every failing run
    #[arg(long, conflicts_with_all = ["export", "files"])]
    pub list: bool,

    /// Add the findings to a file that is committed, for later runs to try first
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = DEFAULT_FILE)]
    #[arg(conflicts_with = "files")]
    pub export: Option<Utf8PathBuf>,

    /// Show this report, such as one that a CI job wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "export"])]
    pub report: Option<Utf8PathBuf>,

    /// Show the history of a test, run by run; without a name, of all tests that were not always
    /// stable
    #[arg(
        long,
        value_name = "TEST",
        num_args = 0..=1,
        conflicts_with_all = ["list", "export", "report", "run", "files"]
    )]
    pub history: Option<Option<String>>,

    /// Folder with the history of each test [default: target/nondex/history]
    #[arg(long, value_name = "DIR", requires = "history")]
    pub history_dir: Option<Utf8PathBuf>,

    /// Write the summary in Markdown that a job of GitHub Actions shows, without FILE to stdout
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["list", "export", "history"])]
    pub markdown: Option<Option<Utf8PathBuf>>,

    /// Write the tests that may fail as lines for a package's list of tests to skip
    #[arg(long, value_name = "DISTRIBUTION")]
    #[arg(value_parser = one_of(Distribution::ALL, Distribution::name))]
    #[arg(conflicts_with_all = ["list", "export", "history", "markdown"])]
    pub skip_list: Option<Distribution>,

    /// Write the report as a page for a browser, and print its path [default:
    /// target/nondex/report.html]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["list", "export", "history"])]
    pub html: Option<Option<Utf8PathBuf>>,

    /// Further output files.
    #[command(flatten)]
    pub files: FileArgs,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}

/// Other action on reports.
#[derive(Clone, Debug, Subcommand)]
pub enum ReportAction {
    /// Join the reports of several runs, such as of the jobs of a CI matrix: what they found
    /// together, each cause once
    Merge(MergeArgs),
}

/// Options of `cargo nondex report merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// The reports, or folders with reports (`*.json`) in them
    #[arg(value_name = "PATH", required = true, help_heading = "Arguments")]
    pub paths: Vec<Utf8PathBuf>,

    /// Further output files.
    #[command(flatten)]
    pub files: FileArgs,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}
