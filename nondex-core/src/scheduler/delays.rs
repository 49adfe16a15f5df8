//! Delayed threads, and when they continue early because the others may only be waiting for them.

use super::machine::Machine;
use super::operation::Operation;
use super::thread::{State, ThreadId};
use super::world::World;

/// Maximum number of other threads' operations by which a thread is delayed: as many as in the
/// longest delay on a loaded machine.
const HOLD_STEPS: u64 = 200_000;

/// Maximum number of delays in a run with which a spinning thread is still patient.
const PATIENT: u64 = 64;

impl Machine<'_> {
    /// Sets the timer of a delay of the running thread, which then [blocks](Machine::block). The
    /// others run for this long, or until none of them can.
    pub fn delay(&mut self, id: ThreadId, hold: u64) {
        self.counts.holds += 1;
        self.add_delay(hold);
        self.threads[id].operation = Operation::Hold;
        self.wait_until(id, self.lease.now() + hold, 0);
    }

    /// Returns whether a spinning thread waits longer for delayed ones, because its loop may end
    /// after some thousand spins. With many delays that would take too long.
    pub(super) fn is_patient(&self) -> bool {
        self.timers_of_sleep() == 0 && self.counts.holds <= PATIENT
    }

    /// Returns whether another thread could run, or is delayed. A thread that was last delayed at
    /// this number of operations does not count.
    pub(super) fn has_other(&self, steps: u64) -> bool {
        let mut all = self.threads.alive().iter().map(|id| &self.threads[*id]);
        all.any(|thread| {
            (thread.state == State::Ready || thread.is_held()) && thread.delayed_at != Some(steps)
        })
    }

    /// Resumes the first delayed thread if no thread is ready or waits for a time.
    pub(super) fn resume_delayed(&mut self, world: &mut dyn World) {
        if self.ready.is_empty() && self.holding > 0 && self.timers_of_sleep() == 0 {
            self.pass_time(world);
        }
    }

    /// Resumes threads that were delayed for many operations of others, however much time is left.
    /// The others may only be waiting for them.
    pub(super) fn end_long_holds(&mut self) {
        let steps = self.lease.steps();
        if self.holding == 0 || steps < self.holds_at {
            return;
        }
        self.holds_at = steps + HOLD_STEPS / 16;
        let is_long = |machine: &Self, id: ThreadId| {
            let thread = &machine.threads[id];
            thread.is_held() && thread.held_at + HOLD_STEPS <= steps
        };
        while let Some(id) = self.threads.alive().iter().find(|id| is_long(self, **id)).copied() {
            self.make_next(id);
            self.preempts = true;
        }
    }
}
