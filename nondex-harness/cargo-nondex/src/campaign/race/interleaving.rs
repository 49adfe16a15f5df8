//! The whole of one test, or parts of it, in the middle of another one.

use nondex_core::{AccessRecord, Interleaving, Outcome, RunSpec, StateId};

use super::Use;
use crate::campaign::order::Processes;
use crate::judge::run::Run;

/// When one test runs in the middle of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// The access of the one that is stopped at which the other runs, from 0.
    pub(super) access: u64,
    /// The access of the other one at which that waits until the one has ended.
    pub(super) pause_at: Option<u64>,
}

/// One test in the middle of another one.
pub(super) struct ForcedInterleaving<'m> {
    /// The one that is stopped.
    pub(super) outer: &'m Use<'m>,
    /// The one that runs meanwhile.
    pub(super) inner: &'m Use<'m>,
    /// What both use.
    pub(super) state: &'m StateId,
    /// When that is.
    pub(super) moment: Moment,
}

impl ForcedInterleaving<'_> {
    /// The tests of a process that does so: the one in the middle is begun last.
    pub(super) fn order(&self) -> [usize; 2] {
        [self.inner.test, self.outer.test]
    }

    /// The spec of such a process, as a run of the test that is stopped, or of the one in the
    /// middle.
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

/// Whether the test was not stopped and has passed: it has no such access, nor any later one.
pub(super) fn is_past_the_last(outer: &Run) -> bool {
    interrupted_access(outer).is_none() && outer.outcome == Outcome::Passed
}

/// The access at which a test was stopped in this run.
fn interrupted_access(run: &Run) -> Option<&AccessRecord> {
    run.accesses.iter().find(|access| access.interrupted && access.own)
}
