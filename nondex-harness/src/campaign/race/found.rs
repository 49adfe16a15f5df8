//! What came of tests that ran at the same time.

use std::collections::BTreeSet;

use nondex_core::RunSpec;

use crate::judge::run::Run;
use crate::report::schema::Race;

/// What came of all meetings.
pub(in crate::campaign) struct Tried {
    pub(in crate::campaign) found: Vec<Found>,
    /// How many processes that took.
    pub(in crate::campaign) made: u64,
    /// Whether all tests were tried.
    pub(in crate::campaign) is_complete: bool,
    /// Those of which it is not known whether it is this part of the state, and those that fail all the same when it is put back: other
    /// parts are tried before they are believed.
    pub(super) unknown: Vec<Found>,
    pub(super) refuted: Vec<Found>,
    /// The tests of which not all accesses were tried, for a run took so long.
    pub(in crate::campaign) waiting: BTreeSet<usize>,
}

impl Tried {
    /// With one of those that are not proven for each test of which nothing else is found.
    pub(super) fn with_unproven(mut self) -> Self {
        let unknown = std::mem::take(&mut self.unknown).into_iter();
        for found in unknown.chain(std::mem::take(&mut self.refuted)) {
            if !self.is_known(found.test) {
                self.found.push(found);
            }
        }
        self
    }

    pub(super) fn is_known(&self, test: usize) -> bool {
        self.found.iter().any(|known| known.test == test)
    }
}

/// Whether two tests meet over a part of the state and not over another one.
#[derive(PartialEq, Eq)]
pub(super) enum Proof {
    Proven,
    Unknown,
    Refuted,
}

/// A test that fails when another one runs in the middle of it.
pub(in crate::campaign) struct Found {
    pub(in crate::campaign) test: usize,
    pub(in crate::campaign) race: Race,
    /// The run in which it fails.
    pub(in crate::campaign) spec: RunSpec,
    pub(in crate::campaign) run: Run,
}
