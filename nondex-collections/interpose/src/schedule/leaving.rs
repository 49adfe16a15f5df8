//! Threads whose scheduled life has ended, but which the system has not ended yet. It frees their
//! resources under locks of the program's allocator, at an unknown time.
//!
//! A thread that needs such a lock waits for them in real time, for a few microseconds. Otherwise
//! the machine would determine which thread waits for which, and a wait for them would be a
//! deadlock.

use ::std::sync::atomic::{AtomicI32, Ordering};

use nondex_core::process_number;

use super::{filter, kernel};
use crate::{Errno, libc};

/// System numbers of these threads; 0 marks a free place.
static LEAVING: [AtomicI32; 16] = [const { AtomicI32::new(0) }; 16];

/// Maximum number of checks, which yield the processor in between.
const LOOKS: u32 = 10_000;

/// Number of checks after which a sleeping thread is no longer waited for, because another thread
/// may have to run first.
const LOOKS_AT_SLEEP: u32 = 64;

/// Records that the scheduled life of a thread ends.
pub(super) fn note(number: i32) {
    let take = |place: &AtomicI32, from| {
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        place.compare_exchange(from, number, success, failure).is_ok()
    };
    if LEAVING.iter().any(|place| take(place, 0)) {
        return;
    }
    // All places are taken, so the place of a thread that has gone is reused.
    let gone = |place: &&AtomicI32| !is_there(place.load(Ordering::Relaxed));
    if let Some(place) = LEAVING.iter().find(gone) {
        place.store(number, Ordering::Relaxed);
    }
}

/// Returns whether the system still has this thread of this process.
fn is_there(number: i32) -> bool {
    let _errno = Errno::save();
    let arguments = [process_number::of_system().into(), number.into(), 0, 0, 0, 0];
    // SAFETY: no signal is sent.
    unsafe { kernel::syscall(libc::SYS_tgkill, arguments) == 0 }
}

/// Returns whether any such thread exists, including one that waits for a resource of a scheduled
/// thread. If a filter forbids to query the system, all recorded threads count.
pub(super) fn is_any() -> bool {
    if filter::is_there() {
        return LEAVING.iter().any(|place| place.load(Ordering::Relaxed) != 0);
    }
    LEAVING.iter().any(|place| {
        let number = place.load(Ordering::Relaxed);
        let is_there = number != 0 && is_there(number);
        if !is_there {
            forget(place, number);
        }
        is_there
    })
}

/// Waits for these threads as long as they make progress, and returns whether one has gone. Must be
/// called without the lock.
pub(super) fn wait() -> bool {
    let mut has_gone = false;
    if filter::is_there() {
        return has_gone;
    }
    for place in &LEAVING {
        let number = place.load(Ordering::Relaxed);
        has_gone |= number != 0 && has_gone_soon(number) && forget(place, number);
    }
    has_gone
}

/// Waits until a thread has gone. Returns false if it sleeps or takes long.
fn has_gone_soon(number: i32) -> bool {
    for look in 1..=LOOKS {
        if !is_there(number) {
            return true;
        }
        if look % LOOKS_AT_SLEEP == 0 && kernel::sleeps(number) == Some(true) {
            return false;
        }
        kernel::yield_processor();
    }
    false
}

/// Forgets a thread that has gone, and returns whether this call did so first.
fn forget(place: &AtomicI32, number: i32) -> bool {
    let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
    place.compare_exchange(number, 0, success, failure).is_ok()
}
