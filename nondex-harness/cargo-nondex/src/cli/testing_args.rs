//! Options for running tests, shared by commands that vary choices or the test order.

use std::time::Duration;

use clap::Args;

use super::changed_args::ChangedArgs;
use super::file_args::FileArgs;
use super::model_args::ModelArgs;
use super::network_args::NetworkArgs;
use super::project_args::ProjectArgs;
use super::values::seconds;

/// Options that `cargo nondex run` and `cargo nondex order` share.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Campaign options")]
pub struct TestingArgs {
    /// Time limit of a run of one test; a process of several also gets the time they took alone
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// How long all runs may take together: what is known by then is reported [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub max_time: Option<Duration>,

    /// Build the tests, and do not run them
    #[arg(long, help_heading = "Compilation options")]
    pub no_run: bool,

    /// Network options.
    #[command(flatten)]
    pub network: NetworkArgs,

    /// Selection of models.
    #[command(flatten)]
    pub models: ModelArgs,

    /// Project and selection of tests.
    #[command(flatten)]
    pub project: ProjectArgs,

    /// Selection of tests by changes.
    #[command(flatten)]
    pub changed: ChangedArgs,

    /// Further output files.
    #[command(flatten)]
    pub files: FileArgs,
}
