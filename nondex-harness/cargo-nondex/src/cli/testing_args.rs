//! Options for running tests, shared by commands that vary choices or the test order.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use nondex_core::NetworkMode;

use super::model_args::ModelArgs;
use super::output_args::FileArgs;
use super::project_args::ProjectArgs;
use super::values::{Switch as _, duration, factor, one_of};
use crate::judge::options::DEFAULT_BUDGET_FACTOR;
use crate::judge::{NetworkPolicy, SanitisedLimit};

/// Options that `cargo nondex run` and `cargo nondex order` share.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Campaign options")]
pub struct TestingArgs {
    /// Time limit of a run of one test; a process of several also gets the time they took alone
    /// [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// How long all runs may take together: what is known by then is reported [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration)]
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

/// Options of commands that keep a history of each test.
#[derive(Args, Clone, Debug, Default)]
pub struct ChangedArgs {
    /// Run only tests that are new or may run what is different from this commit [default: HEAD, or
    /// its parent when nothing is changed since HEAD]
    #[arg(long, value_name = "REV", num_args = 0..=1, require_equals = true)]
    #[arg(help_heading = "Test selection")]
    pub changed: Option<Option<String>>,

    /// Folder with the history of each test [default: target/nondex/history]
    #[arg(long, value_name = "DIR", help_heading = "Output options")]
    pub history_dir: Option<Utf8PathBuf>,
}

/// Network options.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Network options")]
pub struct NetworkArgs {
    /// Observe the network, block everything beyond the loopback, let single operations fail, or do
    /// not look at it [default: observe]
    #[arg(long, value_name = "MODE", value_parser = one_of(NetworkMode::ALL, NetworkMode::name))]
    pub network: Option<NetworkMode>,

    /// Hosts that are reached although the network is blocked or fails; `*.` matches subdomains
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub network_allow: Vec<String>,

    /// Run each test that fails because the network is blocked once more with the network, to know
    /// whether it then passes
    #[arg(long, switch = "BOOL")]
    pub network_verify: Option<bool>,

    /// Fail when more tests, or a larger share of them, are sanitised
    #[arg(long, value_name = "N|P%")]
    pub max_sanitised: Option<SanitisedLimit>,

    /// Failures that a missing network or another missing prerequisite explains are failures like
    /// any other
    #[arg(long, switch = "BOOL")]
    pub no_sanitise: Option<bool>,
}

impl NetworkArgs {
    /// Returns the network policy of these options.
    pub fn policy(&self) -> NetworkPolicy {
        let mode = self.network.unwrap_or_default();
        NetworkPolicy {
            verify: self.network_verify.unwrap_or(false),
            ..NetworkPolicy::new(
                mode,
                self.network_allow.clone(),
                !self.no_sanitise.unwrap_or(false),
            )
        }
    }
}

/// Options that limit a search, or remove the limit.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Campaign options")]
pub struct BudgetArgs {
    /// How long to explore, as a multiple of one run of all tests; 30 seconds at least. Then the
    /// tests are judged by the runs so far. Seeds that are given are all tried [default: 10]
    #[arg(long, value_name = "FACTOR", conflicts_with = "thorough", value_parser = factor)]
    pub budget_factor: Option<f64>,

    /// Explore everything, however long that takes
    #[arg(long, switch = "BOOL")]
    pub thorough: Option<bool>,
}

impl BudgetArgs {
    /// Returns the maximum duration of exploration as a multiple of one run of all tests, or `None`
    /// without a limit.
    pub fn factor(&self) -> Option<f64> {
        let is_limited = self.thorough != Some(true);
        is_limited.then(|| self.budget_factor.unwrap_or(DEFAULT_BUDGET_FACTOR))
    }
}
