//! Results of tests that ran concurrently.

use std::collections::BTreeSet;

use nondex_core::RunSpec;

use crate::judge::Run;
use crate::report::Race;

/// Maximum number of parts of the state that are tried for a failing test without proof.
const MAX_UNPROVEN: usize = 6;

/// Results of all interleavings.
#[derive(Default)]
pub(in crate::campaign) struct TriedRaces {
    pub(in crate::campaign) found: Vec<FoundRace>,
    /// Number of interleavings of two tests over a part of the state that were not tried, or not at
    /// each access.
    pub(in crate::campaign) left: usize,
    /// Tests whose accesses were not all tried, because a run took too long.
    pub(in crate::campaign) waiting: BTreeSet<usize>,
    /// Tests that fail even if this part of the state is restored. Other parts are tried before
    /// these races are reported.
    pub(super) unproven: Vec<FoundRace>,
}

impl TriedRaces {
    /// Adds an unproven race for each test without a proven one, unless its timing may be the
    /// cause.
    pub(super) fn with_unproven(mut self) -> Self {
        for found in std::mem::take(&mut self.unproven) {
            if !found.is_late && !self.has_found(found.test) {
                self.found.push(found);
            }
        }
        self
    }

    /// Returns whether the search for a test has ended.
    pub(super) fn is_known(&self, test: usize) -> bool {
        let unproven = self.unproven.iter().filter(|known| known.test == test);
        let parts = unproven.map(|known| (&known.race.state.kind, &known.race.state.name));
        parts.collect::<BTreeSet<_>>().len() >= MAX_UNPROVEN || self.has_found(test)
    }

    fn has_found(&self, test: usize) -> bool {
        self.found.iter().any(|known| known.test == test)
    }
}

/// A test that fails when another one runs in the middle of it.
pub(in crate::campaign) struct FoundRace {
    pub(in crate::campaign) test: usize,
    pub(in crate::campaign) race: Race,
    /// Spec of the run in which it fails.
    pub(in crate::campaign) spec: RunSpec,
    pub(in crate::campaign) run: Run,
    /// Whether it may fail because of its own time limit. Then it is a race only if the shared
    /// state is proven to be the cause.
    pub(super) is_late: bool,
}
