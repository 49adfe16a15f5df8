//! Network options of a run.

use std::sync::Arc;

use nondex_core::{Network, NetworkMode, RunSpec};

use super::Canary;

/// Network options of a run. The default observes it and sanitises.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What is done while tests run.
    pub mode: NetworkMode,
    /// Hosts that are reached although the network is blocked.
    pub allow: Vec<String>,
    /// Whether a failure that the network's absence explains is a separate verdict.
    pub sanitise: bool,
    /// Whether a test that fails while the network is blocked is run once with it, if there is one.
    pub verify: bool,
    /// Whether this machine is offline.
    pub canary: Arc<Canary>,
}

impl Policy {
    /// The policy of a mode. When the network is blocked, tests are offline, whatever the machine
    /// is.
    pub fn new(mode: NetworkMode, allow: Vec<String>, sanitise: bool) -> Self {
        let canary = match mode {
            NetworkMode::Block => Canary::new().blocked(),
            NetworkMode::Off | NetworkMode::Observe | NetworkMode::Fault => Canary::new(),
        };
        Policy { mode, allow, sanitise, verify: false, canary: Arc::new(canary) }
    }

    /// The run that shows whether a failure under `spec`, in which the network was blocked, came
    /// from that: the same with the network. `None` unless requested.
    pub fn verification(&self, spec: &RunSpec) -> Option<RunSpec> {
        let can_tell = self.verify && self.mode == NetworkMode::Block;
        can_tell.then(|| RunSpec { network: Network::Observe, ..spec.clone() })
    }

    /// `spec` under this policy.
    pub fn apply(&self, spec: RunSpec) -> RunSpec {
        RunSpec { network: Network::new(self.mode, &self.allow), ..spec }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Policy::new(NetworkMode::default(), Vec::new(), true)
    }
}
