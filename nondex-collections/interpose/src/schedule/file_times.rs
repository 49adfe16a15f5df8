//! Times of files: maps the system's real ones to virtual ones.
//!
//! A file written before a sleep has an earlier time than one written after it, though the sleep
//! took no real time. Where the times would be equal, the scheduler waits for the kernel's next
//! tick. Between two sleeps, files have the times that the system gives them, also equal ones.
//!
//! A seed may make the time of a file somewhat older, as on a system with a slower tick. It is
//! never older than what was written earlier, and does not change once it was shown. Times that the
//! program sets stay unchanged.

use super::lateness::{self, CLOCKS};
use super::shared::{LEASE, SHARED};
use super::stamps::{self, Now, SLACK};
use super::{Busy, descriptor, kernel, me, start_of};
use crate::libc;

/// Real time in nanoseconds within which any usual kernel has ticked (`CONFIG_HZ=100`).
const LONG: u64 = 10_000_000;

/// Index in [`CLOCKS`] of a file's modification time.
const MODIFIED: usize = CLOCKS.len() - 1;

/// A time of a file, in real nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileTime {
    /// Time of the last modification, whose age may be chosen.
    Modified(u64),
    /// Any other time.
    Other(u64),
}

/// Ensures that files written until now have no later time than the clock shows.
pub(super) fn will_read(now: u64) {
    let mut shared = SHARED.lock();
    shared.stamps.is_read = true;
    if stamps::take_written() {
        let real = kernel::clock(libc::CLOCK_REALTIME);
        shared.stamps.split(now, real, now);
    }
}

/// Records a time that the program gives a file.
pub(crate) fn set_time(time: u64) {
    let Some(me) = me().filter(|_| descriptor::is_scheduled()) else { return };
    let _busy = Busy::begin(me);
    SHARED.lock().stamps.set(time);
}

/// Passes `show` a function that maps the times of a file to those that this thread sees. Does
/// nothing for a file that was `written` before the test, or in a thread that is not scheduled.
pub(crate) fn show_times(written: FileTime, show: impl FnOnce(&mut dyn FnMut(FileTime) -> u64)) {
    let (FileTime::Modified(real) | FileTime::Other(real)) = written;
    let start = start_of(libc::CLOCK_REALTIME);
    if real < start.saturating_sub(SLACK) {
        return;
    }
    let Some(me) = me().filter(|_| descriptor::is_scheduled()) else { return };
    let _busy = Busy::begin(me);
    let now = kernel::clock(libc::CLOCK_REALTIME);
    let may_age = matches!(written, FileTime::Modified(_));
    let age = if may_age && SHARED.lock().stamps.is_open(real, now) {
        lateness::age(me, MODIFIED)
    } else {
        0
    };
    let now = Now { real: now, shown: LEASE.now() };
    let limit = LONG.max(lateness::oldest(MODIFIED));
    let mut shared = SHARED.lock();
    show(&mut |time| {
        let times = &mut shared.stamps;
        match time {
            FileTime::Modified(real) => times.show(real, now, age, limit),
            FileTime::Other(real) => times.show(real, now, 0, limit),
        }
    });
}
