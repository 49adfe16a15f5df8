//! Real time, which virtual time keeps up with while a child or anything else lives in it.

use ::std::sync::atomic::{AtomicU64, Ordering};
use ::std::time::Duration;

use super::shared::LEASE;
use super::{MONOTONIC_START, kernel};
use crate::libc;

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
pub(super) fn since_start(real: u64) -> u64 {
    real.saturating_sub(MONOTONIC_START.load(Ordering::Relaxed))
}

/// Sleeps until real time has reached virtual time, so that a child that is about to start sees no
/// earlier time than its test did. Records a lead that is too long to wait for, or that waiting
/// would not shorten, because something is outside already.
pub(super) fn wait_for_lead() {
    let lead = LEASE.now().saturating_sub(since_start(real_time()));
    if lead < SEEN_LEAD {
        return;
    }
    if lead > MAX_WAITED_LEAD || LEASE.is_any_outside() {
        VISIBLE_LEAD.fetch_max(lead, Ordering::Relaxed);
    } else {
        kernel::sleep(Duration::from_nanos(lead));
    }
}

/// Returns by how much virtual time was ahead of the clock of a child, in nanoseconds.
pub(super) fn visible_lead() -> u64 {
    VISIBLE_LEAD.load(Ordering::Relaxed)
}
