//! The order in which runs are made.

use std::time::Duration;

use nondex_core::{Choices, RunSpec, Selection};

/// The order of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The second clean run of a test, right after the first: between them, another test would find
    /// what the first one left.
    Begun,
    /// What shows whether there is anything to be found.
    Explore,
    /// What explains it.
    Search,
    Alone,
}

/// The round in which a test asks for its second clean run.
const SECOND: usize = 1;

/// The place of a run in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuePlace {
    pub(super) phase: Phase,
    /// How long the test's runs took until it asked for this one.
    pub(super) spent: Duration,
    /// Number of batches that the test asked for before.
    pub(super) round: usize,
    pub(super) test: usize,
    /// In the test's batch.
    pub(super) index: usize,
}

impl QueuePlace {
    /// The place of `spec`, which is to be run alone or not, in the batch of this round of a test
    /// that has spent this much.
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
