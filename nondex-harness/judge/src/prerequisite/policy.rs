//! Defines the network policy of a run.

use std::sync::Arc;

use nondex_core::{Network, NetworkMode, RunSpec};

use super::Canary;

/// Network policy of a run. By default the network is observed, and failures are sanitised.
#[derive(Clone, Debug)]
pub struct NetworkPolicy {
    /// Network mode while tests run.
    pub mode: NetworkMode,
    /// Hosts that remain reachable when the network is blocked.
    pub allow: Vec<String>,
    /// Whether failures that a missing network explains get a separate verdict.
    pub sanitise: bool,
    /// Whether a test that fails while the network is blocked is run once with the network.
    pub verify: bool,
    /// Check of whether this machine is offline.
    pub canary: Arc<Canary>,
}

impl NetworkPolicy {
    /// Returns the policy of a mode. If the network is blocked, tests are offline whatever the
    /// machine is.
    pub fn new(mode: NetworkMode, allow: Vec<String>, sanitise: bool) -> Self {
        let canary = match mode {
            NetworkMode::Block => Canary::new().blocked(),
            NetworkMode::Off | NetworkMode::Observe | NetworkMode::Fault => Canary::new(),
        };
        NetworkPolicy { mode, allow, sanitise, verify: false, canary: Arc::new(canary) }
    }

    /// Returns the spec that shows whether a failure under `spec` was caused by the blocked
    /// network: the same with the network. Returns `None` unless requested.
    pub fn verification(&self, spec: &RunSpec) -> Option<RunSpec> {
        let can_tell = self.verify && self.mode == NetworkMode::Block;
        can_tell.then(|| RunSpec { network: Network::Observe, ..spec.clone() })
    }

    /// Returns `spec` with the network mode of this policy.
    pub fn apply(&self, spec: RunSpec) -> RunSpec {
        RunSpec { network: Network::new(self.mode, &self.allow), ..spec }
    }
}

impl Default for NetworkPolicy {
    fn default() -> Self {
        NetworkPolicy::new(NetworkMode::default(), Vec::new(), true)
    }
}
