//! Virtual time: it passes with each operation, and jumps to the next deadline when all threads
//! wait.

use super::machine::Machine;
use super::operation::Operation;
use super::thread::Woken;
use super::world::World;

impl Machine<'_> {
    /// Wakes the threads whose deadlines have passed.
    pub(super) fn wake_due(&mut self) {
        let now = self.lease.now();
        while let Some(first) = self.timers.first() {
            let thread = &self.threads[first];
            if thread.deadline > now {
                return;
            }
            self.lease.tick();
            if thread.operation == Operation::Hold {
                self.make_next(first);
                self.preempts = true;
            } else {
                self.make_ready(first, Woken::Time);
            }
        }
    }

    /// Advances time to the next deadline. Returns false if no thread waits for one.
    pub(super) fn pass_time(&mut self, world: &mut dyn World) -> bool {
        let Some(first) = self.timers.first() else { return false };
        let thread = &self.threads[first];
        let passed = thread.deadline.saturating_sub(self.lease.now());
        if self.timers_of_sleep() == 0 {
            // The thread was delayed until no other can do anything: only a clock shows for how
            // long.
            if thread.reads_clock {
                self.jump(passed, world);
            }
            self.make_next(first);
            return true;
        }
        self.slept = self.slept.saturating_add(passed);
        self.jump(passed, world);
        self.wake_due();
        true
    }

    /// Advances virtual time by this duration at once.
    pub fn jump(&mut self, passed: u64, world: &mut dyn World) {
        let now = self.lease.now();
        world.will_jump(now, passed);
        self.lease.set_now(now + passed);
        self.lease.tick();
    }

    /// Returns whether the threads have slept for longer than is allowed.
    pub(super) const fn is_overslept(&self) -> bool {
        self.slept > self.sleep_limit
    }

    /// Returns the wake-up times of the threads that wait for a time.
    pub fn sleepers(&self) -> impl Iterator<Item = u64> {
        let threads = self.timers.iter().map(|id| &self.threads[id]);
        let own = threads.filter(|thread| thread.operation != Operation::Hold);
        own.map(|thread| thread.deadline)
    }

    pub(super) fn timers_of_sleep(&self) -> usize {
        self.timers.len() - self.holding
    }

    /// Raises the limit on slept time by a time that was added to a wait.
    pub(super) fn prolong(&mut self, time: u64) {
        self.sleep_limit = self.sleep_limit.saturating_add(time);
    }

    /// Counts time that a choice adds to a wait.
    pub fn add_delay(&mut self, time: u64) {
        self.delayed = self.delayed.saturating_add(time);
        self.prolong(time);
    }
}
