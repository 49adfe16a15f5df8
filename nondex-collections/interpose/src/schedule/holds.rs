//! Threads that are delayed, and when they go on before their time: the others may do nothing but
//! wait for them.

use ::std::sync::atomic::Ordering;

use super::shared::{STEPS, Shared};
use super::thread::{Ref, State};

/// How many operations of others a thread is delayed by at most: as many as there are in the
/// longest hold of a loaded machine.
const HOLD_STEPS: u64 = 200_000;

/// Number of delays in a run which a thread that spins waits longer for.
const PATIENT: u64 = 64;

impl Shared {
    /// Whether a thread that spins waits longer for those that are delayed: its loop may end after
    /// some thousand looks. With many delays that would take too long.
    pub(super) fn is_patient(&self) -> bool {
        self.timers_of_sleep() == 0 && self.counts.holds <= PATIENT
    }

    /// Whether another thread could go on, or is delayed and was not so just now, when there had
    /// been as many operations.
    pub(super) fn has_other(&self, steps: u64) -> bool {
        let mut all = self.alive.iter();
        all.any(|thread| {
            (thread.state.get() == State::Ready || thread.is_held())
                && thread.delayed_at.get() != Some(steps)
        })
    }

    /// Lets the first one go on that is delayed, if none of those could that are not.
    pub(super) fn release(&mut self) {
        if self.ready.is_empty() && self.holding > 0 && self.timers_of_sleep() == 0 {
            self.pass_time();
        }
    }

    /// Lets those go on that were delayed for a number of operations of others, however much time
    /// is left: the others may do nothing but wait for them.
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
