//! What came of tests that ran at the same time.

use std::collections::BTreeSet;

use nondex_core::RunSpec;

use crate::judge::run::Run;
use crate::report::schema::Race;

/// Maximum number of parts of the state that are tried for one that is proven, where a test fails.
const MAX_UNPROVEN: usize = 6;

/// The results of all interleavings.
#[derive(Default)]
pub(in crate::campaign) struct TriedRaces {
    pub(in crate::campaign) found: Vec<FoundRace>,
    /// Number of interleavings, of two tests over a part of the state, were not tried, or not at
    /// each access.
    pub(in crate::campaign) left: usize,
    /// The tests of which not all accesses were tried, because a run took too long.
    pub(in crate::campaign) waiting: BTreeSet<usize>,
    /// Those that fail all the same when only this part of the state is put back: others are tried
    /// before they are believed.
    pub(super) unproven: Vec<FoundRace>,
}

impl TriedRaces {
    /// With one of those that are not proven for each test of which nothing else is found, unless
    /// the time may have decided.
    pub(super) fn with_unproven(mut self) -> Self {
        for found in std::mem::take(&mut self.unproven) {
            if !found.is_late && !self.has_found(found.test) {
                self.found.push(found);
            }
        }
        self
    }

    /// Whether nothing more is searched for a test.
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
    /// The run in which it fails.
    pub(in crate::campaign) spec: RunSpec,
    pub(in crate::campaign) run: Run,
    /// Whether it may fail for its own time limit. Then it is a race only if what the two share is
    /// proven.
    pub(super) is_late: bool,
}
