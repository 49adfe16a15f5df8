//! What a run was asked to do about the network.

use std::sync::Arc;

use nondex_core::{NetworkMode, RunSpec};

use super::Canary;

/// What a run was asked to do about the network. The default observes it and sanitises.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What is done while tests run.
    pub mode: NetworkMode,
    /// Hosts that are reached although the network is blocked.
    pub allow: Vec<String>,
    /// Whether a failure that the network's absence explains is a verdict of its own.
    pub sanitise: bool,
    /// Whether this machine is offline.
    pub canary: Arc<Canary>,
}

impl Policy {
    /// The policy of a mode. When the network is blocked, the machine counts as offline, and is not asked.
    #[must_use]
    pub fn new(mode: NetworkMode, allow: Vec<String>, sanitise: bool) -> Self {
        let canary = match mode {
            NetworkMode::Block => Canary::known(true),
            NetworkMode::Off | NetworkMode::Observe => Canary::new(),
        };
        Policy {
            mode,
            allow,
            sanitise,
            canary: Arc::new(canary),
        }
    }

    /// `spec` under this policy.
    #[must_use]
    pub fn apply(&self, spec: RunSpec) -> RunSpec {
        RunSpec {
            network: self.mode,
            network_allow: self.allow.clone(),
            ..spec
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Policy::new(NetworkMode::default(), Vec::new(), true)
    }
}
