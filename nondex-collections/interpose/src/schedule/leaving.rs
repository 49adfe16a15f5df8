//! Threads whose scheduled life has ended, and that the system has not ended yet. It frees what
//! they had, with locks of the program's allocator, and nobody sees when.
//!
//! Who needs such a lock waits for them in real time, which is a few microseconds. Otherwise it
//! would depend on the machine who waits for whom, and a wait for them would be a deadlock.

use ::std::sync::atomic::{AtomicI32, Ordering};

use nondex_core::process_number;

use super::{filter, kernel};
use crate::{Errno, libc};

/// The numbers of these threads for the system; 0 where there is none.
static LEAVING: [AtomicI32; 16] = [const { AtomicI32::new(0) }; 16];

/// How often is looked, with the processor given away in between.
const LOOKS: u32 = 10_000;

/// After how many looks a thread that sleeps is not waited for: another one may have to go on
/// first.
const LOOKS_AT_SLEEP: u32 = 64;

/// Notes that the scheduled life of a thread ends.
pub(super) fn note(number: i32) {
    let take = |place: &AtomicI32, from| {
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        place.compare_exchange(from, number, success, failure).is_ok()
    };
    if LEAVING.iter().any(|place| take(place, 0)) {
        return;
    }
    // One of them has gone.
    let gone = |place: &&AtomicI32| !is_there(place.load(Ordering::Relaxed));
    if let Some(place) = LEAVING.iter().find(gone) {
        place.store(number, Ordering::Relaxed);
    }
}

/// Whether a thread of this process is there, for the system.
fn is_there(number: i32) -> bool {
    let _errno = Errno::save();
    let arguments = [process_number::of_system().into(), number.into(), 0, 0, 0, 0];
    // SAFETY: no signal is sent.
    unsafe { kernel::syscall(libc::SYS_tgkill, arguments) == 0 }
}

/// Whether there is one, also one that waits for what a scheduled thread has. Where the system may
/// not be queried, those that were noted are.
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

/// Waits for them, as long as they go on; whether one has gone. Without the lock.
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

/// Waits until a thread has gone; false when it sleeps, or takes long.
fn has_gone_soon(number: i32) -> bool {
    for look in 1..=LOOKS {
        if !is_there(number) {
            return true;
        }
        if look % LOOKS_AT_SLEEP == 0 && kernel::sleeps(number) == Some(true) {
            return false;
        }
        kernel::give_way();
    }
    false
}

/// Forgets one that has gone; whether it was not forgotten already.
fn forget(place: &AtomicI32, number: i32) -> bool {
    let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
    place.compare_exchange(number, 0, success, failure).is_ok()
}
