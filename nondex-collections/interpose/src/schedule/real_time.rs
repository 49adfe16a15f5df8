//! What only real time sees the end of: while a thread, or a child, does such a thing, virtual time is as late as real time.

use ::std::sync::atomic::{AtomicU32, Ordering};

use super::shared::{NOW, Shared, tick};
use super::{kernel, stamps};
use crate::libc;

/// How many threads, or children, do something that only real time sees the end of. Written with the lock.
static OUTSIDE: AtomicU32 = AtomicU32::new(0);

impl Shared {
    /// Lets time that passes by sleeping be longer, because it was prolonged.
    pub(super) fn prolong(&mut self, time: u64) {
        self.sleep_limit = self.sleep_limit.saturating_add(time);
    }

    /// Counts what real time sees the end of.
    pub(super) fn add_outside(&mut self) {
        self.sync_time();
        OUTSIDE.fetch_add(1, Ordering::Relaxed);
        if self.real_at.is_none() {
            self.real_at = Some(kernel::clock(libc::CLOCK_MONOTONIC));
        }
    }

    /// See [`add_outside`](Shared::add_outside).
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
        if let Some(at) = self.real_at {
            let real = kernel::clock(libc::CLOCK_MONOTONIC);
            let passed = real.saturating_sub(at);
            NOW.fetch_add(passed, Ordering::Relaxed);
            tick();
            self.prolong(passed);
            self.real_at = Some(real);
        }
    }
}

/// Whether a thread, or a child, does something that only real time sees the end of.
pub(super) fn is_any_outside() -> bool {
    OUTSIDE.load(Ordering::Relaxed) > 0
}
