//! The times that files have: those of the system, which are real, as virtual ones.
//!
//! What was written before a sleep has an earlier time than what was written after it, though the
//! sleep took none: where the times would be equal, the kernel's tick is waited for. Between two
//! sleeps files have the times, and the equal ones, that the system gives them. A seed may make the
//! time of a file somewhat older, as a system does that ticks more slowly: never older than what
//! was written earlier, and each time is shown the same again. What a program sets stays what it
//! set.

use ::std::sync::atomic::Ordering;

use super::lateness::{self, CLOCKS};
use super::shared::{NOW, SHARED};
use super::stamps::{self, Now, SLACK};
use super::{Busy, descriptor, kernel, me, start_of};
use crate::libc;

/// The real time that passes, in nanoseconds, until any usual kernel has ticked (`CONFIG_HZ=100`).
const LONG: u64 = 10_000_000;

/// Which of the clocks a file's time is.
const MODIFIED: usize = CLOCKS.len() - 1;

/// A time of a file, in real nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileTime {
    /// When it was written last, which may be chosen.
    Modified(u64),
    /// Any other.
    Other(u64),
}

/// Sees to it that what was written until now has no later time than the clock shows.
pub(super) fn will_read(now: u64) {
    let mut shared = SHARED.lock();
    shared.stamps.is_read = true;
    if stamps::take_written() {
        let real = kernel::clock(libc::CLOCK_REALTIME);
        shared.stamps.split(now, real, now);
    }
}

/// Notes a time that a file is given by the program.
pub(crate) fn set_time(time: u64) {
    let Some(me) = me().filter(|_| descriptor::is_scheduled()) else { return };
    let _busy = Busy::begin(me);
    SHARED.lock().stamps.set(time);
}

/// Gives `show` a function from the times of a file, which was `written` last at this one, to those
/// that this thread sees, if they differ.
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
    let now = Now { real: now, shown: NOW.load(Ordering::Relaxed) };
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
