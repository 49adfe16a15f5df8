//! System timers that send a signal. They expire in real time, so virtual time is kept in step with
//! it while one is set. Otherwise a test that checks for the signal between short sleeps would
//! reach any deadline first.

use ::std::sync::atomic::{AtomicUsize, Ordering};

use super::descriptor::is_scheduled;
use super::real_time::real_time;
use super::shared::{IS_ON, SHARED};
use super::{Busy, me};

/// Number of the timer that `alarm`, `ualarm` and `setitimer` set.
pub(crate) const OF_PROCESS: usize = usize::MAX - 1;

/// Numbers of the set timers, plus one; 0 marks a free place. Timers beyond this capacity are
/// ignored.
static SET: [AtomicUsize; 16] = [const { AtomicUsize::new(0) }; 16];

/// Makes a call that sets or stops a timer. An expired timer still counts as set.
pub(crate) fn set<R: Copy>(
    timer: usize,
    is_set: bool,
    has_succeeded: impl FnOnce(R) -> bool,
    next: impl FnOnce() -> R,
) -> R {
    if !is_scheduled() {
        return next();
    }
    // The timer may expire soon after the call, so the time is read before it.
    let before = real_time();
    let result = next();
    if has_succeeded(result) {
        note(timer.wrapping_add(1), is_set, before);
    }
    result
}

fn note(timer: usize, is_set: bool, before: u64) {
    let Some(me) = me() else { return };
    let _busy = Busy::begin(me);
    let mut shared = SHARED.lock();
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let was_any = is_any();
    // The scheduler's lock is held, so relaxed operations suffice.
    let place = |content| {
        let mut places = SET.iter();
        places.find(|place| place.load(Ordering::Relaxed) == content)
    };
    match (place(timer), is_set) {
        (Some(place), false) => place.store(0, Ordering::Relaxed),
        (None, true) => {
            if let Some(place) = place(0) {
                place.store(timer, Ordering::Relaxed);
            }
        }
        (Some(_), true) | (None, false) => {}
    }
    match (was_any, is_any()) {
        (false, true) => {
            shared.machine.counts.outside += 1;
            shared.add_outside_since(before);
        }
        (true, false) => shared.remove_outside(),
        (true, true) | (false, false) => {}
    }
}

/// Returns whether a timer is set.
fn is_any() -> bool {
    SET.iter().any(|timer| timer.load(Ordering::Relaxed) != 0)
}
