//! What is done about the network.

use clap::{Args, ValueEnum};

use crate::network::{Limit, Policy};
use nondex_core::NetworkMode;

/// The options about the network.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Network options")]
pub struct NetworkArgs {
    /// Observe the network, block everything beyond the loopback, let single operations fail, or do not look at it
    #[arg(long, value_name = "MODE", default_value = "observe")]
    pub network: Option<Network>,

    /// Hosts that are reached although the network is blocked or fails; `*.` stands for subdomains
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub network_allow: Vec<String>,

    /// Run each test that fails because the network is blocked once more with the network, to know whether it then passes
    #[arg(long)]
    pub network_verify: bool,

    /// Fail when more tests, or a larger share, fail only for want of the network
    #[arg(long, value_name = "N|P%")]
    pub max_sanitised: Option<Limit>,

    /// Failures for want of the network are failures like any other
    #[arg(long)]
    pub no_sanitise: bool,
}

/// `--network`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Network {
    /// What really happens is observed.
    #[default]
    Observe,
    /// Every operation beyond the loopback fails at once as if offline.
    Block,
    /// Single operations beyond the loopback fail, drawn from the seed.
    Fault,
    /// Nothing is done.
    Off,
}

impl From<Network> for NetworkMode {
    fn from(network: Network) -> Self {
        match network {
            Network::Observe => NetworkMode::Observe,
            Network::Block => NetworkMode::Block,
            Network::Fault => NetworkMode::Fault,
            Network::Off => NetworkMode::Off,
        }
    }
}

impl NetworkArgs {
    /// What these options ask for.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let mode = self.network.unwrap_or_default().into();
        Policy {
            verify: self.network_verify,
            ..Policy::new(mode, self.network_allow.clone(), !self.no_sanitise)
        }
    }
}
