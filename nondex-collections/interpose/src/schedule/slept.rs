//! The longest sleep of a test, for when it takes more virtual time than a test may take of real
//! time.

use ::std::sync::atomic::{AtomicU64, Ordering};

use nondex_core::json::Object;

use super::lock::Lock;
use crate::origin;

/// From here on a sleep is long, in nanoseconds: shorter ones are not worth a look at the stack.
const LONG: u64 = 5_000_000_000;

/// How many return addresses are kept of one.
const DEPTH: usize = 32;

/// How long the longest one was.
static LONGEST: AtomicU64 = AtomicU64::new(0);

/// Maximum number of addresses of where it was.
static PLACE: Lock<(usize, [u64; DEPTH])> = Lock::new((0, [0; DEPTH]));

/// Forgets all sleeps.
pub(super) fn begin() {
    LONGEST.store(0, Ordering::Relaxed);
}

/// Notes that this thread has slept for this long, without what was added by choice. Takes no
/// memory.
pub(super) fn note(time: u64) {
    if time < LONG || LONGEST.fetch_max(time, Ordering::Relaxed) >= time {
        return;
    }
    let mut room = [0; DEPTH];
    let found = origin::addresses(&mut room).len();
    *PLACE.lock() = (found, room);
}

/// Writes the longest one as a field of the record, if there was a long one: a
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
