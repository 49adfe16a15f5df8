//! Options for further output files, in the formats of other tools.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

/// Condition for annotations of GitHub Actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// Where it runs: `GITHUB_ACTIONS` is `true`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never, and no job summary either.
    Never,
}

/// Further output files of a report.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output options")]
#[group(id = "files", multiple = true)]
pub struct FileArgs {
    /// Write the report as JUnit's XML, too
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,

    /// Write the findings as SARIF 2.1.0, too, for code scanning
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<Utf8PathBuf>,

    /// Write the findings as GitLab's code quality report, too
    #[arg(long, value_name = "FILE")]
    pub gitlab: Option<Utf8PathBuf>,

    /// Annotations of GitHub Actions, and its job summary [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub annotations: Option<Annotations>,
}
