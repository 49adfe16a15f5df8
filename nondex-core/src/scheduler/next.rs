//! The choice of the next thread: a ready one first, then one woken from outside or by time.

use crate::protocol::scheduling::ScheduleEndKind;

use super::SLICE;
use super::machine::Machine;
use super::operation::Operation;
use super::thread::{ThreadId, Woken};
use super::world::{Harness, World};

/// Real time without an event from outside, when only such an event could help, after which the
/// process ends.
const OUTSIDE_LIMIT: u64 = 10_000_000_000;

/// The same limit where a filter forbids to query the system, and no thread waits for a descriptor.
const FILTERED_LIMIT: u64 = 1_000_000_000;

/// Next step of the scheduler, when no thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This thread runs. The caller makes it the [running](Machine::run) one.
    Thread(ThreadId),
    /// No thread can run until something outside happens.
    Nobody,
    /// The process ends.
    End(ScheduleEndKind),
}

impl Machine<'_> {
    /// Polls the threads that wait for a condition that can be polled.
    pub(super) fn poll(&mut self, world: &mut dyn World) {
        let mut next = self.polls.first();
        while let Some(id) = next {
            next = self.threads[id].after;
            if world.is_true(id) {
                self.make_ready(id, Woken::Done);
            }
        }
    }

    /// Polls as [`poll`](Machine::poll) does, but not more often than it is worth. Threads that are
    /// always ready must not starve one that waits for a condition.
    fn poll_sometimes(&mut self, world: &mut dyn World) {
        let now = self.lease.now();
        if !self.polls.is_empty() && now.saturating_sub(self.polled_at) >= SLICE / 50 {
            self.polled_at = now;
            self.poll(world);
        }
    }

    /// Chooses the next thread. An end is reported once.
    pub fn pick(&mut self, world: &mut dyn World) -> Next {
        if self.is_ending {
            return Next::Nobody;
        }
        let next = self.find(world);
        self.is_ending = matches!(next, Next::End(_));
        next
    }

    fn find(&mut self, world: &mut dyn World) -> Next {
        self.sync_time(world);
        loop {
            self.wake_due();
            self.preempts = false;
            self.poll_sometimes(world);
            if let Some(next) = self.pop() {
                self.end_idling();
                return Next::Thread(next);
            }
            self.poll(world);
            if !self.ready.is_empty() {
                continue;
            }
            // Virtual time does not jump while a fence is open.
            if self.lease.is_any_outside() {
                if world.have_orphans_ended() {
                    self.remove_outside(world);
                    continue;
                }
                return Next::Nobody;
            }
            if self.pass_time(world) {
                if self.is_overslept() {
                    return Next::End(ScheduleEndKind::Time);
                }
                continue;
            }
            // A leaving thread may hold a lock for which the others wait.
            if world.is_any_leaving() && !self.has_idled(world) {
                return Next::Nobody;
            }
            let is_closed = self.is_closed(world);
            self.has_other_wakers = self.has_other_wakers
                || world.is_filtered()
                || is_closed && world.may_be_woken(&self.threads);
            let harness = world.harness();
            // The harness's thread may hold such a lock, too, and release it.
            if is_closed && !self.has_other_wakers && harness == Harness::Runs {
                return Next::Nobody;
            }
            if is_closed && !self.has_other_wakers && harness == Harness::Waits {
                // A descriptor that is ready did not count as a way out. It may have become ready
                // since the threads were polled.
                self.poll(world);
                if self.ready.is_empty() {
                    return Next::End(ScheduleEndKind::Deadlock);
                }
                continue;
            }
            if self.wake_unobserved(world) {
                continue;
            }
            if self.has_idled(world) {
                return Next::End(ScheduleEndKind::Outside);
            }
            return Next::Nobody;
        }
    }

    /// Returns whether nothing outside of this process could make a descriptor ready that a thread
    /// waits for.
    fn is_closed(&self, world: &dyn World) -> bool {
        let is_descriptor = |id: ThreadId| {
            let operation = self.threads.operation(id);
            matches!(operation, Operation::Poll | Operation::Read | Operation::Write)
        };
        // A call or child that was outside may have left a process running.
        let nobody_was = || self.counts.outside == 0 && self.counts.leaks == 0;
        !world.is_filtered()
            && (self.polls.is_empty()
                || nobody_was()
                    && self.polls.iter(&self.threads).all(is_descriptor)
                    && world.is_closed())
    }

    /// Wakes a thread whose futex was changed without a wake-up that was observed. Returns whether
    /// there was one.
    fn wake_unobserved(&mut self, world: &dyn World) -> bool {
        let has_changed = |id: &&ThreadId| {
            let address = self.threads.waits_for(**id, Operation::FutexWait);
            address.is_some_and(|address| world.has_changed(**id, address))
        };
        if !self.has_other_wakers {
            return false;
        }
        let changed = self.threads.alive().iter().find(has_changed).copied();
        if let Some(id) = changed {
            self.make_ready(id, Woken::Done);
        }
        changed.is_some()
    }

    /// Starts or continues waiting for an event from outside, and returns whether it took too long.
    fn has_idled(&mut self, world: &dyn World) -> bool {
        let real = world.real_time();
        self.run_with_real_time(real);
        let since = *self.idle_since.get_or_insert(real);
        let limit = if world.is_filtered() && self.polls.is_empty() {
            FILTERED_LIMIT
        } else {
            OUTSIDE_LIMIT
        };
        real - since > limit
    }
}
