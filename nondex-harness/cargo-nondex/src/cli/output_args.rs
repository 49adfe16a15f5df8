//! Output options, and further output files in the formats of other tools.

use camino::Utf8PathBuf;
use clap::{ArgAction, Args, ValueEnum};

/// Format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Text for people.
    #[default]
    Human,
    /// The report as JSON on stdout.
    Json,
    /// Events as JSON on stdout while tests run, one on each line.
    JsonLines,
}

/// Condition for coloured output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Format, colour and amount of output, for all commands.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output options")]
pub struct OutputArgs {
    /// Output format: JSON goes to stdout, text for people to stderr; `json-lines` is for commands
    /// that run tests
    #[arg(long, global = true, value_name = "FORMAT", default_value = "human")]
    pub message_format: MessageFormat,

    /// Coloring [default: `CARGO_TERM_COLOR`, or auto]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<Color>,

    /// Print more: every test as it is judged, every failing run, every model
    #[arg(short = 'v', long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,

    /// Print only the findings
    #[arg(short = 'q', long, global = true)]
    pub quiet: bool,
}

impl OutputArgs {
    /// Returns the condition for colours: the option, or else cargo's own variable.
    pub fn color(&self) -> Color {
        self.color.unwrap_or_else(|| {
            let cargo = std::env::var("CARGO_TERM_COLOR").unwrap_or_default();
            Color::from_str(&cargo, true).unwrap_or_default()
        })
    }

    /// Returns the value of cargo's `--config` that gives cargo the same `--color`.
    pub fn cargo_config(&self) -> Option<String> {
        let when = match self.color? {
            Color::Auto => "auto",
            Color::Always => "always",
            Color::Never => "never",
        };
        Some(format!("term.color=\"{when}\""))
    }
}

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
