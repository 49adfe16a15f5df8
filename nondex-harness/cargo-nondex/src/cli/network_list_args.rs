//! `cargo nondex network`: how tests that need the network are listed.

use clap::{Args, ValueEnum};

use super::project_args::ProjectArgs;

/// The options of `cargo nondex network`.
#[derive(Args, Clone, Debug)]
pub struct NetworkListArgs {
    /// A table, arguments for libtest, or a filterset for nextest that leave these tests out
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: ListFormat,

    /// Hosts that are reached all the same; `*.` matches subdomains
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub network_allow: Vec<String>,

    /// Which tests of what.
    #[command(flatten)]
    pub project: ProjectArgs,
}

/// `--format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Every test that asks for another machine, with the hosts.
    #[default]
    Table,
    /// `--exact --skip NAME …` for libtest.
    Skip,
    /// `not (…)` for nextest's `-E`.
    Filterset,
}
