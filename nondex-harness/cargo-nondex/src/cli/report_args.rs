//! Options of commands that start from earlier findings: `report`, `explain`, `bisect` and `known`.

use camino::Utf8PathBuf;
use chrono::NaiveDate;
use clap::{Args, Subcommand};

use super::build_args::LocationArgs;
use super::output_args::FileArgs;
use super::values::{one_of, whole};
use crate::findings::DEFAULT_FILE;
use crate::findings::known::date;
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

/// Options of `cargo nondex explain`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Explain options")]
pub struct ExplainArgs {
    /// The finding: its id, its test, or a part of either that no other has, or `latest`
    #[arg(value_name = "TEST|ID", help_heading = "Arguments")]
    pub finding: String,

    /// How many runs the search may take, those that were made before included
    #[arg(long, value_name = "RUNS", default_value = "2000", value_parser = whole::<usize>)]
    pub search_runs: usize,

    /// Take the finding from this report, such as one that a CI job wrote
    #[arg(long, value_name = "FILE")]
    pub report: Option<Utf8PathBuf>,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}

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
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole::<u64>)]
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

/// Action on the known flakes.
#[derive(Clone, Debug, Subcommand)]
pub enum KnownAction {
    /// Add a test that the last report calls flaky, with its cause: it does not fail a run until
    /// that day, unless by another cause
    Add(KnownAddArgs),
    /// List the entries that are overdue by the last report: their day is over, their tests are
    /// stable, or their test does not exist
    Check(LocationArgs),
    /// Remove the entries that are overdue, except those whose test was renamed
    Prune(LocationArgs),
}

/// Options of `cargo nondex known add`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Entry options")]
pub struct KnownAddArgs {
    /// The test's id, or a part of it that no other flaky test of the last report has
    #[arg(value_name = "TEST", required_unless_present = "all", help_heading = "Arguments")]
    pub test: Option<String>,

    /// Add every test whose finding fails the last run
    #[arg(long, conflicts_with = "test")]
    pub all: bool,

    /// Why it is not fixed yet [default with --all: not examined yet]
    #[arg(long, value_name = "TEXT", required_unless_present = "all")]
    pub reason: Option<String>,

    /// The last day on which it may be flaky, such as 2027-01-31 [default with --all: in 90 days]
    #[arg(long, value_name = "DATE", value_parser = date::parse, required_unless_present = "all")]
    pub expires: Option<NaiveDate>,

    /// Where that is written, such as the address of an issue
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}
