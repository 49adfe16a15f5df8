//! The order of runs in the queue.

use std::time::Duration;

use nondex_core::{Choices, RunSpec, Selection};

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

/// Round in which a test requests its second clean run.
const SECOND: usize = 1;

/// Place of a run in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuePlace {
    pub(super) phase: Phase,
    /// Duration of the test's runs before the request.
    pub(super) spent: Duration,
    /// Number of batches that the test requested before.
    pub(super) round: usize,
    pub(super) test: usize,
    /// Index in the test's batch.
    pub(super) index: usize,
}

impl QueuePlace {
    /// Returns the place of `spec`, alone or not, in the batch of this round of a test whose runs
    /// have taken `spent` until now.
    pub(super) const fn new(
        spec: &RunSpec,
        alone: bool,
        spent: Duration,
        [test, round, index]: [usize; 3],
    ) -> Self {
        let phase = match &spec.choices {
            _ if alone => Phase::Alone,
            Choices::Canonical if round == SECOND => Phase::Begun,
            Choices::Canonical => Phase::Explore,
            Choices::Drawn(drawn) => match drawn.selection {
                Selection::All => Phase::Explore,
                Selection::Only(_) | Selection::Except(_) => Phase::Search,
            },
        };
        QueuePlace { phase, spent, round, test, index }
    }
}
