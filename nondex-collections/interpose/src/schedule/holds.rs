//! Delayed threads, and when they continue early because the others may only be waiting for them.

use ::std::sync::atomic::Ordering;

use super::shared::{STEPS, Shared};
use super::thread::{Ref, State};

/// Maximum number of other threads' operations by which a thread is delayed: as many as in the
/// longest delay on a loaded machine.
const HOLD_STEPS: u64 = 200_000;

/// Maximum number of delays in a run with which a spinning thread is still patient.
const PATIENT: u64 = 64;

impl Shared {
    /// Returns whether a spinning thread waits longer for delayed ones, because its loop may end
    /// after some thousand spins. With many delays that would take too long.
    pub(super) fn is_patient(&self) -> bool {
        self.timers_of_sleep() == 0 && self.counts.holds <= PATIENT
    }

    /// Returns whether another thread could run, or is delayed. A thread that was last delayed at
    /// this number of operations does not count.
    pub(super) fn has_other(&self, steps: u64) -> bool {
        let mut all = self.alive.iter();
        all.any(|thread| {
            (thread.state.get() == State::Ready || thread.is_held())
                && thread.delayed_at.get() != Some(steps)
        })
    }

    /// Resumes the first delayed thread if no thread is ready or waits for a time.
    pub(super) fn release(&mut self) {
        if self.ready.is_empty() && self.holding > 0 && self.timers_of_sleep() == 0 {
            self.pass_time();
        }
    }

    /// Resumes threads that were delayed for many operations of others, however much time is left.
    /// The others may only be waiting for them.
    pub(super) fn end_long_holds(&mut self) {
        let steps = STEPS.load(Ordering::Relaxed);
        if self.holding == 0 || steps < self.holds_at {
            return;
        }
        self.holds_at = steps + HOLD_STEPS / 16;
        let is_long =
            |thread: &&Ref| thread.is_held() && thread.held_at.get() + HOLD_STEPS <= steps;
        while let Some(thread) = self.alive.iter().find(is_long).copied() {
            self.make_next(thread);
            self.preempts = true;
        }
    }
}
