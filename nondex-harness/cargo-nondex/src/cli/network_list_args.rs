//! Options of `cargo nondex network`, which lists tests that need the network.

use clap::{Args, ValueEnum};

use super::project_args::ProjectArgs;

/// Options of `cargo nondex network`.
#[derive(Args, Clone, Debug)]
pub struct NetworkListArgs {
    /// A table, arguments for libtest, or a filterset for nextest that leave these tests out
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: ListFormat,

    /// Hosts that remain reachable; `*.` matches subdomains
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub network_allow: Vec<String>,

    /// Project and selection of tests.
    #[command(flatten)]
    pub project: ProjectArgs,
}

/// Output format of the list.
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
