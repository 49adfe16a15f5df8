//! What is done about the network.

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use crate::network::{Limit, Policy};
use nondex_core::NetworkMode;

/// The options about the network.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Network options")]
pub struct NetworkArgs {
    /// Observe the network, block everything beyond the loopback, or do not look at it
    #[arg(
        long,
        value_name = "MODE",
        env = "NONDEX_NETWORK",
        hide_env_values = true,
        default_value = "observe"
    )]
    pub network: Option<Network>,

    /// Hosts that are reached although the network is blocked; `*.` stands for subdomains
    #[arg(
        long,
        value_name = "HOST",
        env = "NONDEX_NETWORK_ALLOW",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub network_allow: Vec<String>,

    /// Fail when more tests, or a larger share, fail only for want of the network
    #[arg(
        long,
        value_name = "N|P%",
        env = "NONDEX_MAX_SANITISED",
        hide_env_values = true
    )]
    pub max_sanitised: Option<Limit>,

    /// Failures for want of the network are failures like any other
    #[arg(long, env = "NONDEX_NO_SANITISE", hide_env_values = true, value_parser = BoolishValueParser::new())]
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
    /// Nothing is done.
    Off,
}

impl NetworkArgs {
    /// What these options ask for.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let mode = match self.network.unwrap_or_default() {
            Network::Observe => NetworkMode::Observe,
            Network::Block => NetworkMode::Block,
            Network::Off => NetworkMode::Off,
        };
        Policy::new(mode, self.network_allow.clone(), !self.no_sanitise)
    }
}
