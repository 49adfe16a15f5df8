//! Forced interleavings: one test, or parts of it, in the middle of another test.

use nondex_core::{AccessRecord, Interleaving, Outcome, RunSpec, StateId};

use super::UsedState;
use crate::campaign::order::Processes;
use crate::judge::Run;

/// Moment at which one test runs in the middle of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Number of the outer test's access at which the inner test runs, from 0.
    pub(super) access: u64,
    /// Number of the inner test's access at which it waits until the outer test has ended.
    pub(super) pause_at: Option<u64>,
}

/// One test in the middle of another one.
pub(super) struct ForcedInterleaving<'m> {
    /// The test that is stopped.
    pub(super) outer: &'m UsedState<'m>,
    /// The test that runs meanwhile.
    pub(super) inner: &'m UsedState<'m>,
    /// State that both use.
    pub(super) state: &'m StateId,
    /// Moment of the interleaving.
    pub(super) moment: Moment,
}

impl ForcedInterleaving<'_> {
    /// Returns the tests of such a process: the inner test comes first.
    pub(super) fn order(&self) -> [usize; 2] {
        [self.inner.test, self.outer.test]
    }

    /// Returns the spec of such a process, as a run of the inner test or of the outer one.
    pub(super) fn spec(&self, processes: &Processes<'_>, is_inner: bool) -> RunSpec {
        let [inner, outer] = self.order();
        let (test, with) = if is_inner { (inner, outer) } else { (outer, inner) };
        processes.spec(test).interleaved(Interleaving {
            with: processes.tests[with].name.clone(),
            is_inner,
            state: self.state.clone(),
            interrupt_at: self.moment.access,
            pause_at: self.moment.pause_at,
            lines: false,
            put_back: false,
            waits_ms: 0,
        })
    }
}

/// Returns whether the test was not stopped and has passed: it has no such access, and no later
/// one.
pub(super) fn is_past_the_last(outer: &Run) -> bool {
    interrupted_access(outer).is_none() && outer.outcome == Outcome::Passed
}

/// Returns the access at which the test was stopped in this run.
fn interrupted_access(run: &Run) -> Option<&AccessRecord> {
    run.accesses.iter().find(|access| access.interrupted && access.own)
}
