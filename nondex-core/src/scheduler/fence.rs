//! Real time alongside virtual time. Some things live in real time and are *outside*: a child
//! process, a call whose end another process decides, and a thread that the machine does not see.
//! While anything is outside, a *fence* is open, and virtual time keeps up with real time.
//!
//! R is the real time and V the virtual time since the start of the test. Three rules hold:
//!
//! 1. Opening: R is read before the call that starts something. Where a child can see the clock, V
//!    is at least R from then on. Delays that the tool injected end: they would take real time.
//! 2. Open: between any two readings V advances at least as much as R. V does not jump.
//! 3. Closing: V is brought up to date after the call that reports the end.

use super::machine::{Anchor, Machine};
use super::operation::Operation;
use super::thread::{Thread, ThreadId};
use super::world::World;

impl Machine<'_> {
    /// Counts one more thread or child that is outside from this real time on.
    pub fn add_outside(&mut self, real: u64, world: &mut dyn World) {
        self.sync_time(world);
        if self.lease.add_outside() {
            self.end_delays();
        }
        self.run_with_real_time(real);
        self.sync_time(world);
    }

    /// Makes virtual time run with real time from this real time on, unless it does already.
    pub(super) fn run_with_real_time(&mut self, real: u64) {
        let now = self.lease.now();
        self.real_at.get_or_insert(Anchor { real, now });
    }

    /// Advances virtual time to this real time since the start, unless it is later already.
    pub fn catch_up_with(&mut self, since_start: u64, world: &mut dyn World) {
        let lag = since_start.saturating_sub(self.lease.now());
        if lag > 0 {
            self.prolong(lag);
            self.jump(lag, world);
            // Otherwise virtual time would stand still until real time has passed as much again.
            if let Some(anchor) = &mut self.real_at {
                anchor.now += lag;
            }
        }
    }

    /// Counts one less that is outside. The last one closes the fence.
    pub fn remove_outside(&mut self, world: &mut dyn World) {
        self.sync_time(world);
        self.lease.remove_outside();
        if !self.lease.is_any_outside() {
            self.real_at = None;
        }
    }

    /// Brings virtual time up to date, where it runs with real time.
    pub fn sync_time(&mut self, world: &mut dyn World) {
        let Some(anchor) = self.real_at else { return };
        let real = world.real_time().max(anchor.real);
        let due = anchor.now + (real - anchor.real);
        // Operations take virtual time, too, so it may be ahead already.
        let passed = due.saturating_sub(self.lease.now());
        self.lease.pass(passed);
        self.lease.tick();
        self.prolong(passed);
        // From here on it advances with real time again, also if it is ahead.
        self.real_at = Some(Anchor { real, now: self.lease.now() });
    }

    /// Ends the wait for something outside.
    pub fn end_idling(&mut self) {
        if self.idle_since.take().is_some() {
            self.counts.outside += 1;
            if !self.lease.is_any_outside() {
                self.real_at = None;
            }
        }
    }

    /// Ends all delays that choices have injected.
    fn end_delays(&mut self) {
        let is_delay = |thread: &Thread| thread.operation == Operation::Hold;
        while let Some(id) = self.timer_of(is_delay) {
            self.make_next(id);
        }
        while let Some(id) = self.timer_of(|thread| thread.late > 0) {
            let thread = &mut self.threads[id];
            let added = std::mem::take(&mut thread.late);
            let (deadline, order) = (thread.deadline.saturating_sub(added), thread.order);
            self.delayed = self.delayed.saturating_sub(added);
            self.timers.remove(&mut self.threads, id);
            self.timers.insert(&mut self.threads, id, deadline, order);
        }
    }

    fn timer_of(&self, is_it: impl Fn(&Thread) -> bool) -> Option<ThreadId> {
        self.timers.iter().find(|id| is_it(&self.threads[*id]))
    }
}
