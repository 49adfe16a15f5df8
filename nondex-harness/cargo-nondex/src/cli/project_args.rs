//! Which tests of which project: what every command takes that builds tests and selects some.

use clap::Args;

use super::build_args::BuildArgs;
use super::config_args::ConfigArgs;
use super::extract_args::ExtractArgs;
use super::test_filter::FilterArgs;

/// A project and some of its tests.
#[derive(Args, Clone, Debug, Default)]
pub struct ProjectArgs {
    /// Which tests.
    #[command(flatten)]
    pub filter: FilterArgs,

    /// Which configuration.
    #[command(flatten)]
    pub config: ConfigArgs,

    /// Or from which archive.
    #[command(flatten)]
    pub archive: ExtractArgs,

    /// What is built.
    #[command(flatten)]
    pub build: BuildArgs,
}
