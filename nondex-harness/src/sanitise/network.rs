//! The built-in sanitiser: there is no network. Its rules are those of [`network::judge`].

use nondex_core::NetworkRecord;

use super::{Sanitiser, Want};
use crate::campaign::evidence::Run;
use crate::network::{Policy, judge};

/// Explains failures for want of the network.
#[derive(Clone, Debug)]
pub struct NetworkSanitiser {
    policy: Policy,
}

impl NetworkSanitiser {
    /// The name.
    pub const NAME: &'static str = "network";
    /// The reason.
    pub const REASON: &'static str = "there is no network";

    /// The sanitiser of a run with this policy.
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        NetworkSanitiser {
            policy: policy.clone(),
        }
    }
}

impl Sanitiser for NetworkSanitiser {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn reason(&self) -> &str {
        Self::REASON
    }

    fn explain(&self, failed: &Run, passing: &[&Run]) -> Vec<Want> {
        let passing: Vec<&[NetworkRecord]> = passing.iter().map(|run| &*run.network).collect();
        let reasons = judge::reason(
            &failed.network,
            failed.ending(),
            &passing,
            &self.policy.canary,
        );
        let want = |record: &NetworkRecord| Want {
            operation: record.operation.clone(),
            target: record.target.clone(),
            error: record.outcome.text().to_owned(),
            stack: record.stack.clone(),
        };
        reasons.into_iter().map(want).collect()
    }
}
