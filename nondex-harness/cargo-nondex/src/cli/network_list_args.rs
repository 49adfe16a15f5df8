//! `cargo nondex network`: how tests that need the network are listed.

use clap::{Args, ValueEnum};

use super::build_args::BuildArgs;
use super::config_args::ConfigArgs;
use super::output_args::OutputArgs;
use super::test_filter::FilterArgs;

/// The options of `cargo nondex network`.
#[derive(Args, Clone, Debug)]
pub struct NetworkListArgs {
    /// Which tests.
    #[command(flatten)]
    pub filter: FilterArgs,

    /// A table, arguments for libtest, or a filterset for nextest that leave these tests out
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: ListFormat,

    /// Hosts that are reached all the same; `*.` stands for subdomains
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub network_allow: Vec<String>,

    /// Which configuration.
    #[command(flatten)]
    pub config: ConfigArgs,

    /// What is built.
    #[command(flatten)]
    pub build: BuildArgs,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
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
