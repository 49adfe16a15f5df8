//! What only real time sees the end of: while a thread, or a child, does such a thing, virtual time keeps up with real time.
//!
//! Such a thing opens a *fence*. R is the real time and V the virtual time since the start of the test. Three rules hold:
//!
//! 1. Opening: R is read before the call that may start something, and V is at least R then where a child may see the clock. Delays
//!    that the tool injected end, because they would now pass in real time.
//! 2. Open: V goes on by at least as much as R between any two readings, and does not jump.
//! 3. Closing: V is brought up after the call that reports the end.

use ::std::sync::atomic::{AtomicU32, Ordering};
use ::std::time::Duration;

use super::shared::{Anchor, NOW, Shared, tick};
use super::thread::Ref;
use super::{MONOTONIC_START, Operation, kernel, stamps};
use crate::libc;

/// Number of threads and children that do something which only real time sees the end of. Written with the lock.
static OUTSIDE: AtomicU32 = AtomicU32::new(0);

/// The smallest lead of virtual time over real time that a child could see, in nanoseconds.
const SEEN_LEAD: u64 = 1_000_000;

/// The largest lead that is waited for before a child starts. A longer one is an hour that the test sleeps, or a delay of the tool.
const MAX_WAITED_LEAD: u64 = 3_000_000_000;

/// The real time now, on the monotonic clock.
pub(super) fn real_time() -> u64 {
    kernel::clock(libc::CLOCK_MONOTONIC)
}

/// The real time since the start of the test.
fn since_start(real: u64) -> u64 {
    real.saturating_sub(MONOTONIC_START.load(Ordering::Relaxed))
}

/// Waits in real time until that has come to virtual time, so that a child which is about to start sees no earlier time than the
/// test did.
pub(super) fn wait_for_lead() {
    let lead = NOW
        .load(Ordering::Relaxed)
        .saturating_sub(since_start(real_time()));
    if !is_any_outside() && (SEEN_LEAD..=MAX_WAITED_LEAD).contains(&lead) {
        kernel::sleep(Duration::from_nanos(lead));
    }
}

impl Shared {
    /// Allows more time to pass by sleeping, because it was prolonged.
    pub(super) fn prolong(&mut self, time: u64) {
        self.sleep_limit = self.sleep_limit.saturating_add(time);
    }

    /// Counts what real time sees the end of, and which begins now.
    pub(super) fn add_outside(&mut self) {
        self.add_outside_since(real_time());
    }

    /// As [`add_outside`](Self::add_outside), for what began at this real time or later.
    pub(super) fn add_outside_since(&mut self, real: u64) {
        self.sync_time();
        if OUTSIDE.fetch_add(1, Ordering::Relaxed) == 0 {
            self.end_delays();
        }
        self.run_with_real_time(real);
        self.sync_time();
    }

    /// Lets virtual time run with real time from this real time on, if it does not yet.
    pub(super) fn run_with_real_time(&mut self, real: u64) {
        let now = NOW.load(Ordering::Relaxed);
        self.real_at.get_or_insert(Anchor { real, now });
    }

    /// Lets virtual time be no earlier than this real time.
    pub(super) fn catch_up_with(&mut self, real: u64) {
        let behind = since_start(real).saturating_sub(NOW.load(Ordering::Relaxed));
        if behind > 0 {
            self.prolong(behind);
            self.jump(behind);
        }
    }

    /// See [`add_outside`](Self::add_outside).
    pub(super) fn remove_outside(&mut self) {
        self.sync_time();
        OUTSIDE.fetch_sub(1, Ordering::Relaxed);
        stamps::written();
        if !is_any_outside() {
            self.real_at = None;
        }
    }

    /// Lets virtual time be as late as real time, where it runs with it.
    pub(super) fn sync_time(&mut self) {
        let Some(anchor) = self.real_at else {
            return;
        };
        let due = anchor.now + real_time().saturating_sub(anchor.real);
        // Operations take virtual time, too: it may be there already.
        let passed = due.saturating_sub(NOW.load(Ordering::Relaxed));
        NOW.fetch_add(passed, Ordering::Relaxed);
        tick();
        self.prolong(passed);
    }

    /// Ends all delays that this tool has injected: they would take real time from now on.
    fn end_delays(&mut self) {
        let is_delay = |thread: &Ref| thread.operation.get() == Operation::Hold;
        while let Some(delayed) = { self.timers.iter().find(is_delay) } {
            self.make_next(delayed);
        }
        let is_late = |thread: &Ref| thread.late.get() > 0;
        while let Some(late) = { self.timers.iter().find(is_late) } {
            let deadline = late.deadline.get().saturating_sub(late.late.take());
            self.timers.remove(late);
            self.timers.insert(late, deadline, late.order.get());
        }
    }
}

/// Whether a thread, or a child, does something that only real time sees the end of.
pub(super) fn is_any_outside() -> bool {
    OUTSIDE.load(Ordering::Relaxed) > 0
}
