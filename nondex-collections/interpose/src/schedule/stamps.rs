//! Mapping from real times of files to the virtual ones that are shown for them.

use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::time::Duration;

use nondex_core::hidden;

use super::{kernel, start_of};
use crate::libc;

/// Shortest jump of virtual time that file times must reflect, in nanoseconds: the shortest tick of
/// a kernel (`CONFIG_HZ=1000`).
const TICK: u64 = 1_000_000;

/// Time before the test, in nanoseconds, in which a written file still counts as the test's.
pub(super) const SLACK: u64 = 20_000_000;

/// Maximum number of entries in each list.
const MOST: usize = 4096;

/// Whether a file may have been written since virtual time last jumped.
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Segment of the mapping, in which virtual time does not jump.
struct Segment {
    /// First real time of the segment.
    real: u64,
    /// First and, unless the segment is the last one, last virtual time.
    from: u64,
    to: u64,
}

/// Present time, as a real and as a virtual one.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) real: u64,
    pub(super) shown: u64,
}

/// File-time mapping, and the file times that were shown or set.
pub(super) struct Stamps {
    segments: hidden::Vec<Segment>,
    /// Virtual time that was jumped over in the last segment; less than a tick.
    passed: u64,
    /// Real times that were shown, sorted, and the virtual times shown for them.
    shown: hidden::Vec<(u64, u64)>,
    /// Times that the program has set, sorted.
    set: hidden::Vec<u64>,
    /// Whether the clock to which file times compare was read.
    pub(super) is_read: bool,
}

/// Records that a file may have been written.
#[inline]
pub(super) fn written() {
    IS_WRITTEN.store(true, Ordering::Relaxed);
}

/// Returns whether a file may have been written since the last call or jump, and resets that.
pub(super) fn take_written() -> bool {
    IS_WRITTEN.swap(false, Ordering::Relaxed)
}

impl Stamps {
    pub(super) const fn new() -> Self {
        Stamps {
            segments: hidden::vec(),
            passed: 0,
            shown: hidden::vec(),
            set: hidden::vec(),
            is_read: false,
        }
    }

    /// Records a time that the program gives a file.
    pub(super) fn set(&mut self, time: u64) {
        if self.set.len() < MOST {
            if let Err(at) = self.set.binary_search(&time) {
                self.set.insert(at, time);
            }
        }
    }

    /// Starts the mapping at the beginning of virtual time.
    pub(super) fn begin(&mut self) {
        IS_WRITTEN.store(false, Ordering::Relaxed);
        self.segments.push(Segment {
            real: last_tick().min(start_of(libc::CLOCK_REALTIME)),
            from: 0,
            to: 0,
        });
    }

    /// Updates the mapping before virtual time jumps.
    pub(super) fn will_pass(&mut self, now: u64, passed: u64) {
        let Some(last) = self.segments.last_mut() else { return };
        let after = now + passed;
        if !IS_WRITTEN.load(Ordering::Relaxed) {
            // No file has a time of this segment yet, so its start can be moved. A write right
            // after the jump gets the time of the last tick, so the segment must not begin after
            // that tick.
            let tick = last_tick();
            last.real = if tick < last.real && passed >= TICK {
                await_tick(last.real)
            } else {
                tick.max(last.real)
            };
            last.from = after;
            self.passed = 0;
            return;
        }
        self.passed += passed;
        if self.passed >= TICK {
            IS_WRITTEN.store(false, Ordering::Relaxed);
            let real = kernel::clock(libc::CLOCK_REALTIME);
            self.split(now, await_tick(real), after);
        }
    }

    /// Ends a segment at the virtual time `to`, and begins another one.
    pub(super) fn split(&mut self, to: u64, real: u64, from: u64) {
        self.passed = 0;
        if self.segments.len() >= MOST {
            return;
        }
        if let Some(last) = self.segments.last_mut() {
            last.to = to;
            self.segments.push(Segment { real, from, to: 0 });
        }
    }

    /// Returns the virtual time, on the clock, for a real one.
    fn virtual_time(&self, real: u64, now: u64) -> u64 {
        let start = start_of(libc::CLOCK_REALTIME);
        let number = self.segments.partition_point(|one| one.real <= real);
        let Some(segment) = number.checked_sub(1).map(|last| &self.segments[last]) else {
            return start;
        };
        let to = if number == self.segments.len() { now } else { segment.to };
        let most = to.saturating_sub(segment.from);
        start + segment.from + (real - segment.real).min(most)
    }

    fn is_of_test(&self, real: u64, now: u64) -> bool {
        let start = start_of(libc::CLOCK_REALTIME);
        (start.saturating_sub(SLACK)..=now).contains(&real)
            && self.set.binary_search(&real).is_err()
    }

    /// Returns whether the shown time may vary: it was not shown before, and something can compare
    /// it.
    pub(super) fn is_open(&self, real: u64, now: u64) -> bool {
        let found = self.shown.binary_search_by_key(&real, |&(real, _)| real);
        let is_compared = |at| at > 0 || self.is_read;
        self.is_of_test(real, now) && found.is_err_and(is_compared)
    }

    /// Returns the time that is shown for a real one. It may look older by `age`, unless more than
    /// `limit` lies between it and the time before it. Any system has ticked within that limit.
    pub(super) fn show(&mut self, real: u64, now: Now, age: u64, limit: u64) -> u64 {
        if !self.is_of_test(real, now.real) {
            return real;
        }
        let at = match self.shown.binary_search_by_key(&real, |&(real, _)| real) {
            Ok(at) => return self.shown[at].1,
            Err(at) => at,
        };
        let earlier = at.checked_sub(1).map(|at| self.shown[at]);
        let later = self.shown.get(at).map_or(u64::MAX, |&(_, shown)| shown);
        let has_ticked = earlier.is_some_and(|(earlier, _)| {
            let segment = |real| self.segments.partition_point(|one| one.real <= real);
            segment(earlier) == segment(real) && real - earlier > limit
        });
        let age = if has_ticked || age < TICK { 0 } else { age };
        let least = earlier.map_or(0, |(_, shown)| shown);
        let aged = self.virtual_time(real, now.shown).saturating_sub(age);
        let shown = aged.max(least).min(later);
        if self.shown.len() < MOST {
            self.shown.insert(at, (real, shown));
        }
        shown
    }
}

/// Returns the real time of the last tick, which is the time of a file that is written now.
fn last_tick() -> u64 {
    kernel::clock(libc::CLOCK_REALTIME_COARSE)
}

/// Waits until the clock of file times is later than this real time, and returns its time.
fn await_tick(real: u64) -> u64 {
    const ROUNDS: usize = 40;
    for _ in 0..ROUNDS {
        let coarse = last_tick();
        if coarse > real {
            return coarse;
        }
        kernel::sleep(Duration::from_micros(500));
    }
    kernel::clock(libc::CLOCK_REALTIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_the_rest_of_a_tick_is_later_than_the_jump_in_it() {
        const BEFORE: u64 = 10;
        const AFTER: u64 = BEFORE + 1_100_000_000;
        for _ in 0..20 {
            let mut stamps = Stamps::new();
            stamps.begin();
            // A file was written before, and a thread then read the clock.
            stamps.split(BEFORE, kernel::clock(libc::CLOCK_REALTIME), BEFORE);
            stamps.will_pass(BEFORE, AFTER - BEFORE);
            let written = last_tick();
            let start = start_of(libc::CLOCK_REALTIME);
            assert!(stamps.virtual_time(written, AFTER) >= start + AFTER);
        }
    }
}
