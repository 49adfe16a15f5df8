//! Network options.

use clap::Args;
use nondex_core::NetworkMode;

use super::values::{Switch as _, one_of};
use crate::judge::prerequisite::{Limit, Policy};

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
    pub max_sanitised: Option<Limit>,

    /// Failures that a missing network or another missing prerequisite explains are failures like
    /// any other
    #[arg(long, switch = "BOOL")]
    pub no_sanitise: Option<bool>,
}

impl NetworkArgs {
    /// Returns the network policy of these options.
    pub fn policy(&self) -> Policy {
        let mode = self.network.unwrap_or_default();
        Policy {
            verify: self.network_verify.unwrap_or(false),
            ..Policy::new(mode, self.network_allow.clone(), !self.no_sanitise.unwrap_or(false))
        }
    }
}
