//! Options of all commands that build tests and select some of them.

use clap::Args;

use super::build_args::BuildArgs;
use super::config_args::ConfigArgs;
use super::extract_args::ExtractArgs;
use super::test_filter::FilterArgs;

/// Project, and selection of its tests.
#[derive(Args, Clone, Debug, Default)]
pub struct ProjectArgs {
    /// Filters of tests.
    #[command(flatten)]
    pub filter: FilterArgs,

    /// Configuration options.
    #[command(flatten)]
    pub config: ConfigArgs,

    /// Archive to take the tests from.
    #[command(flatten)]
    pub archive: ExtractArgs,

    /// Build options.
    #[command(flatten)]
    pub build: BuildArgs,
}
