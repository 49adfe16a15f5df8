//! Real time alongside virtual time. Some things live in real time and are *outside*: a child
//! process, a call whose end another process decides, and a thread that the scheduler does not see.
//! While anything is outside, a *fence* is open, and virtual time keeps up with real time.
//!
//! R is the real time and V the virtual time since the start of the test. Three rules hold:
//!
//! 1. Opening: R is read before the call that starts something. Where a child can see the clock, V
//!    is at least R from then on. Delays that the tool injected end: they would take real time.
//! 2. Open: between any two readings V advances at least as much as R. V does not jump.
//! 3. Closing: V is brought up to date after the call that reports the end.

use ::std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use ::std::time::Duration;

use super::shared::{Anchor, NOW, Shared, tick};
use super::thread::Ref;
use super::{MONOTONIC_START, Operation, kernel, stamps};
use crate::libc;

/// Number of threads and children that are outside. Written under the lock.
static OUTSIDE: AtomicU32 = AtomicU32::new(0);

/// Smallest lead of virtual time over real time that a child could see, in nanoseconds.
const SEEN_LEAD: u64 = 1_000_000;

/// Largest lead that is waited for before a child starts, in nanoseconds. A longer one is a long
/// sleep of the test or an injected delay, and is recorded.
const MAX_WAITED_LEAD: u64 = 3_000_000_000;

/// Largest lead that a child may have seen, in nanoseconds.
static VISIBLE_LEAD: AtomicU64 = AtomicU64::new(0);

/// Returns the present real time, on the monotonic clock.
pub(super) fn real_time() -> u64 {
    kernel::clock(libc::CLOCK_MONOTONIC)
}

/// Returns the real time since the start of the test.
fn since_start(real: u64) -> u64 {
    real.saturating_sub(MONOTONIC_START.load(Ordering::Relaxed))
}

/// Sleeps until real time has reached virtual time, so that a child that is about to start sees no
/// earlier time than its test did. Records a lead that is too long to wait for.
pub(super) fn wait_for_lead() {
    if is_any_outside() {
        return;
    }
    let now = NOW.load(Ordering::Relaxed);
    let lead = now.saturating_sub(since_start(real_time()));
    if lead > MAX_WAITED_LEAD {
        VISIBLE_LEAD.fetch_max(lead, Ordering::Relaxed);
    } else if lead >= SEEN_LEAD {
        kernel::sleep(Duration::from_nanos(lead));
    }
}

/// Returns by how much virtual time was ahead of the clock of a child, in nanoseconds.
pub(super) fn visible_lead() -> u64 {
    VISIBLE_LEAD.load(Ordering::Relaxed)
}

impl Shared {
    /// Raises the limit on slept time by a time that was added to a wait.
    pub(super) fn prolong(&mut self, time: u64) {
        self.sleep_limit = self.sleep_limit.saturating_add(time);
    }

    /// Counts time that a choice adds to a wait.
    pub(super) fn delay(&mut self, time: u64) {
        self.delayed = self.delayed.saturating_add(time);
        self.prolong(time);
    }

    /// Counts one more thread or child that is outside from now on.
    pub(super) fn add_outside(&mut self) {
        self.add_outside_since(real_time());
    }

    /// Counts one more that is outside from this real time on, as
    /// [`add_outside`](Self::add_outside) does.
    pub(super) fn add_outside_since(&mut self, real: u64) {
        self.sync_time();
        if OUTSIDE.fetch_add(1, Ordering::Relaxed) == 0 {
            self.end_delays();
        }
        self.run_with_real_time(real);
        self.sync_time();
    }

    /// Makes virtual time run with real time from this real time on, unless it does already.
    pub(super) fn run_with_real_time(&mut self, real: u64) {
        let now = NOW.load(Ordering::Relaxed);
        self.real_at.get_or_insert(Anchor { real, now });
    }

    /// Advances virtual time to this real time, unless it is later already.
    pub(super) fn catch_up_with(&mut self, real: u64) {
        let lag = since_start(real).saturating_sub(NOW.load(Ordering::Relaxed));
        if lag > 0 {
            self.prolong(lag);
            self.jump(lag);
        }
    }

    /// Counts one less that is outside. The last one closes the fence.
    pub(super) fn remove_outside(&mut self) {
        self.sync_time();
        OUTSIDE.fetch_sub(1, Ordering::Relaxed);
        stamps::written();
        if !is_any_outside() {
            self.real_at = None;
        }
    }

    /// Brings virtual time up to date, where it runs with real time.
    pub(super) fn sync_time(&mut self) {
        let Some(anchor) = self.real_at else { return };
        let due = anchor.now + real_time().saturating_sub(anchor.real);
        // Operations take virtual time, too, so it may be ahead already.
        let passed = due.saturating_sub(NOW.load(Ordering::Relaxed));
        NOW.fetch_add(passed, Ordering::Relaxed);
        tick();
        self.prolong(passed);
    }

    /// Ends all delays that this tool has injected.
    fn end_delays(&mut self) {
        let is_delay = |thread: &Ref| thread.operation.get() == Operation::Hold;
        while let Some(delayed) = { self.timers.iter().find(is_delay) } {
            self.make_next(delayed);
        }
        let is_late = |thread: &Ref| thread.late.get() > 0;
        while let Some(late) = { self.timers.iter().find(is_late) } {
            let added = late.late.take();
            self.delayed = self.delayed.saturating_sub(added);
            let deadline = late.deadline.get().saturating_sub(added);
            self.timers.remove(late);
            self.timers.insert(late, deadline, late.order.get());
        }
    }
}

/// Returns whether a thread or a child is outside.
pub(super) fn is_any_outside() -> bool {
    OUTSIDE.load(Ordering::Relaxed) > 0
}
