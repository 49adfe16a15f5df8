//! The longest sleep of a test, reported when the test takes more virtual time than its limit on
//! real time allows.

use ::std::sync::atomic::{AtomicU64, Ordering};

use nondex_core::json::Object;

use super::lock::Lock;
use crate::origin;

/// Shortest time of a long sleep, in nanoseconds. A shorter one is not worth the cost of a stack
/// trace.
const LONG: u64 = 5_000_000_000;

/// Maximum number of return addresses that are kept of a sleep.
const DEPTH: usize = 32;

/// Length of the longest sleep, in nanoseconds.
static LONGEST: AtomicU64 = AtomicU64::new(0);

/// Number of return addresses of the longest sleep, and these addresses.
static PLACE: Lock<(usize, [u64; DEPTH])> = Lock::new((0, [0; DEPTH]));

/// Forgets all sleeps.
pub(super) fn begin() {
    LONGEST.store(0, Ordering::Relaxed);
}

/// Records that this thread has slept for this long, without what choices added. Allocates no
/// memory.
pub(super) fn note(time: u64) {
    if time < LONG || LONGEST.fetch_max(time, Ordering::Relaxed) >= time {
        return;
    }
    let mut room = [0; DEPTH];
    let found = origin::addresses(&mut room).len();
    *PLACE.lock() = (found, room);
}

/// Writes the longest sleep, if there was a long one, as a field of the record: a
/// [`SleepRecord`](nondex_core::SleepRecord).
pub(super) fn write(record: &mut Object<'_>) {
    let longest = LONGEST.load(Ordering::Relaxed);
    if longest == 0 {
        return;
    }
    let (len, place) = *PLACE.lock();
    record.object("longest_sleep", |object| {
        object.number("us", longest / 1000);
        object.object("stack", |stack| {
            stack.numbers("addresses", place[..len].iter().copied());
        });
    });
}
