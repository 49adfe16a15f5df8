//! Decisions of systematic runs, in which a list determines where threads are delayed: wherever
//! another thread could run, the running one continues or is delayed.

use super::machine::Machine;
use super::thread::ThreadId;

impl Machine<'_> {
    /// Returns whether a list of decisions determines where threads are delayed.
    pub const fn is_systematic(&self) -> bool {
        self.is_systematic
    }

    /// Counts a decision of the running thread, if another one could run. Returns its number among
    /// the decisions of the thread, from 0.
    pub fn count_decision(&mut self, id: ThreadId) -> Option<u32> {
        if !self.has_other(self.lease.steps()) {
            return None;
        }
        let decisions = &mut self.threads[id].decisions;
        *decisions += 1;
        Some(*decisions - 1)
    }

    /// Records that a decision delays the running thread, or that the thread yields. The next one
    /// must not let it go first in turn, or neither would ever make progress.
    pub fn note_delayed(&mut self, id: ThreadId) {
        self.threads[id].delayed_at = Some(self.lease.steps());
    }
}
