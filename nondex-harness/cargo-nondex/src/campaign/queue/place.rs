//! The order in which runs are made.

use nondex_core::{Choices, RunSpec, Selection};

/// The order of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Clean,
    Seeds,
    Search,
    Alone,
}

/// The place of a run in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuePlace {
    pub(super) phase: Phase,
    pub(super) test: usize,
    /// In the test's batch.
    pub(super) index: usize,
}

impl QueuePlace {
    pub(super) const fn new(test: usize, index: usize, spec: &RunSpec, alone: bool) -> Self {
        let phase = match &spec.choices {
            _ if alone => Phase::Alone,
            Choices::Canonical => Phase::Clean,
            Choices::Drawn(drawn) => match drawn.selection {
                Selection::All => Phase::Seeds,
                Selection::Only(_) | Selection::Except(_) => Phase::Search,
            },
        };
        QueuePlace { phase, test, index }
    }
}
