//! The choice of the next thread: a ready one first, then one woken from outside or by time.

use ::std::sync::atomic::Ordering;

use nondex_core::ScheduleEndKind;

use super::Operation;
use super::real_time::is_any_outside;
use super::shared::{NOW, SLICE, Shared, tick};
use super::thread::{Ref, Woken};
use super::wakers::Harness;
use super::{closed_system, filter, kernel, leaving, stamps};
use crate::libc;

/// Real time without an event from outside, when only such an event could help, after which the
/// process ends.
const OUTSIDE_LIMIT: u64 = 10_000_000_000;

/// The same limit where a filter forbids to query the system, and no thread waits for a descriptor.
const FILTERED_LIMIT: u64 = 1_000_000_000;

/// Next step of the scheduler.
pub(super) enum Next {
    Thread(Ref),
    /// No thread can run until something outside happens.
    Nobody,
    End(ScheduleEndKind),
}

impl Shared {
    /// Polls the threads that wait for a condition that can be polled.
    pub(super) fn poll(&mut self) {
        for thread in self.polls.iter() {
            let Some(condition) = thread.condition.get() else { continue };
            // SAFETY: the thread waits in the function that owns the condition, and the lock
            // excludes a second call.
            if unsafe { (*condition)() } {
                self.make_ready(thread, Woken::Done);
            }
        }
    }

    /// Polls as [`poll`](Shared::poll) does, but not more often than it is worth. Threads that are
    /// always ready must not starve one that waits for a condition.
    fn poll_sometimes(&mut self) {
        let now = NOW.load(Ordering::Relaxed);
        if !self.polls.is_empty() && now.saturating_sub(self.polled_at) >= SLICE / 50 {
            self.polled_at = now;
            self.poll();
        }
    }

    /// Advances time to the next deadline. Returns false if no thread waits for one.
    pub(super) fn pass_time(&mut self) -> bool {
        let Some(first) = self.timers.first() else { return false };
        let passed = first.deadline.get().saturating_sub(NOW.load(Ordering::Relaxed));
        if self.timers_of_sleep() == 0 {
            // The thread was delayed until no other can do anything: only a clock shows for how
            // long.
            if first.reads_clock.get() {
                self.jump(passed);
            }
            self.make_next(first);
            return true;
        }
        self.slept = self.slept.saturating_add(passed);
        self.jump(passed);
        self.wake_due();
        true
    }

    /// Advances virtual time by this duration at once.
    pub(super) fn jump(&mut self, passed: u64) {
        if is_any_outside() {
            // A child's writes are not observed, so they are assumed.
            stamps::written();
        }
        let now = NOW.load(Ordering::Relaxed);
        self.stamps.will_pass(now, passed);
        NOW.store(now + passed, Ordering::Relaxed);
        tick();
    }

    /// Returns the wake-up times of the threads that wait for a time.
    pub(super) fn sleepers(&self) -> impl Iterator<Item = u64> {
        let own = |thread: &Ref| thread.operation.get() != Operation::Hold;
        self.timers.iter().filter(own).map(|thread| thread.deadline.get())
    }

    pub(super) fn timers_of_sleep(&self) -> usize {
        self.timers.len() - self.holding
    }

    /// Chooses the next thread. An end is reported once.
    pub(super) fn pick(&mut self) -> Next {
        if self.is_ending {
            return Next::Nobody;
        }
        let next = self.find();
        self.is_ending = matches!(next, Next::End(_));
        next
    }

    fn find(&mut self) -> Next {
        self.sync_time();
        loop {
            self.wake_due();
            self.preempts = false;
            self.poll_sometimes();
            if let Some(next) = self.pop() {
                self.end_idling();
                return Next::Thread(next);
            }
            self.poll();
            if !self.ready.is_empty() {
                continue;
            }
            // Virtual time does not jump while a fence is open.
            if is_any_outside() {
                if self.orphans_have_ended() {
                    continue;
                }
                return Next::Nobody;
            }
            if self.pass_time() {
                if self.slept > self.sleep_limit {
                    return Next::End(ScheduleEndKind::Time);
                }
                continue;
            }
            // A leaving thread may hold a lock for which the others wait.
            if leaving::is_any() && !self.has_idled() {
                return Next::Nobody;
            }
            let is_closed = self.is_closed();
            self.has_other_wakers =
                self.has_other_wakers || filter::is_there() || is_closed && self.may_be_woken();
            let harness = self.harness();
            // The harness's thread may hold such a lock, too, and release it.
            if is_closed && !self.has_other_wakers && harness == Harness::Runs {
                return Next::Nobody;
            }
            if is_closed && !self.has_other_wakers && harness == Harness::Waits {
                // A descriptor that is ready did not count as a way out. It may have become ready
                // since the threads were polled.
                self.poll();
                if self.ready.is_empty() {
                    return Next::End(ScheduleEndKind::Deadlock);
                }
                continue;
            }
            if self.wake_unobserved() {
                continue;
            }
            if self.has_idled() {
                return Next::End(ScheduleEndKind::Outside);
            }
            return Next::Nobody;
        }
    }

    /// Returns whether nothing outside of this process could make a descriptor ready that a thread
    /// waits for.
    fn is_closed(&self) -> bool {
        let is_descriptor = |thread: Ref| {
            matches!(thread.operation.get(), Operation::Poll | Operation::Read | Operation::Write)
        };
        // A call or child that was outside may have left a process running.
        let nobody_was = || self.counts.outside == 0 && self.counts.leaks == 0;
        !filter::is_there()
            && (self.polls.is_empty()
                || nobody_was()
                    && self.polls.iter().all(is_descriptor)
                    && closed_system::is_closed())
    }

    /// Starts or continues waiting for an event from outside, and returns whether it took too long.
    fn has_idled(&mut self) -> bool {
        let real = kernel::clock(libc::CLOCK_MONOTONIC);
        self.run_with_real_time(real);
        let since = *self.idle_since.get_or_insert(real);
        let limit = if filter::is_there() && self.polls.is_empty() {
            FILTERED_LIMIT
        } else {
            OUTSIDE_LIMIT
        };
        real - since > limit
    }

    pub(super) fn end_idling(&mut self) {
        if self.idle_since.take().is_some() {
            self.counts.outside += 1;
            if !is_any_outside() {
                self.real_at = None;
            }
        }
    }
}
