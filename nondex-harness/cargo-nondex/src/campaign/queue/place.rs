//! The order of runs in the queue.

use std::time::Duration;

use nondex_core::{Choices, Selection};

use crate::judge::{ExperimentPurpose, Missing};

/// Phase of a run. The queue takes phases in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The second clean run of a test, right after the first. Otherwise another test could find the
    /// files that the first run left.
    Begun,
    /// Runs that show whether there is anything to find.
    Explore,
    /// Runs that explain a finding.
    Search,
    Alone,
}

/// Factor by which the time that a test has used counts more if it only asks for more seeds than
/// the requested ones. So cheap tests have those before a costly one has used up the budget.
const EXTENSION: u32 = 4;

/// Round in which a test requests its second clean run.
const SECOND: usize = 1;

/// Place of a run in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuePlace {
    pub(super) phase: Phase,
    /// Expected duration of the test's runs before this one, multiplied for more seeds.
    pub(super) spent: Duration,
    /// Number of batches that the test requested before.
    pub(super) round: usize,
    pub(super) test: usize,
    /// Index in the test's batch.
    pub(super) index: usize,
}

impl QueuePlace {
    /// Returns the place of a run of a batch: the one with this index, in this round of a test. Its
    /// runs are expected to have taken `spent` before.
    pub(super) fn new(batch: &Missing, spent: Duration, [test, round, index]: [usize; 3]) -> Self {
        let phase = match &batch.experiments[index].choices {
            _ if batch.alone => Phase::Alone,
            Choices::Canonical if round == SECOND => Phase::Begun,
            Choices::Canonical => Phase::Explore,
            Choices::Drawn(drawn) => match drawn.selection {
                Selection::All => Phase::Explore,
                Selection::Only(_) | Selection::Except(_) => Phase::Search,
            },
        };
        let weight = if batch.purpose == ExperimentPurpose::Extend { EXTENSION } else { 1 };
        QueuePlace { phase, spent: spent * weight, round, test, index }
    }
}
