//! The real times of files and the virtual ones that are shown for them.

use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::time::Duration;

use nondex_core::hidden;

use super::{kernel, start_of};
use crate::libc;

/// How long time must be jumped over until files tell it apart: the shortest tick of a kernel
/// (`CONFIG_HZ=1000`), in nanoseconds.
const TICK: u64 = 1_000_000;

/// A file that was written this long before the test is not one of the test's, in nanoseconds.
pub(super) const SLACK: u64 = 20_000_000;

/// How many of each are kept.
const MOST: usize = 4096;

/// Whether a file was written since time passed.
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// A stretch of time in which virtual time does not jump.
struct Stretch {
    /// Its first real time.
    real: u64,
    /// Its first and, unless it is the last stretch, its last virtual time.
    from: u64,
    to: u64,
}

/// The present, as a real and as a virtual time.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) real: u64,
    pub(super) shown: u64,
}

/// What is known about the times of files.
pub(super) struct Stamps {
    stretches: hidden::Vec<Stretch>,
    /// How much virtual time was jumped over in the last stretch, less than a tick.
    passed: u64,
    /// Real times that were shown, sorted, and as what.
    shown: hidden::Vec<(u64, u64)>,
    /// Times that were set.
    set: hidden::Vec<u64>,
    /// Whether the clock was read that files are compared with.
    pub(super) is_read: bool,
}

/// Notes that a file may have been written.
#[inline]
pub(super) fn written() {
    IS_WRITTEN.store(true, Ordering::Relaxed);
}

/// Whether a file was written since the last call, or time passed.
pub(super) fn take_written() -> bool {
    IS_WRITTEN.swap(false, Ordering::Relaxed)
}

impl Stamps {
    pub(super) const fn new() -> Self {
        Stamps {
            stretches: hidden::vec(),
            passed: 0,
            shown: hidden::vec(),
            set: hidden::vec(),
            is_read: false,
        }
    }

    /// Notes a time that a file is given by the program.
    pub(super) fn set(&mut self, time: u64) {
        if self.set.len() < MOST {
            if let Err(at) = self.set.binary_search(&time) {
                self.set.insert(at, time);
            }
        }
    }

    /// Begins with virtual time.
    pub(super) fn begin(&mut self) {
        IS_WRITTEN.store(false, Ordering::Relaxed);
        self.stretches.push(Stretch {
            real: last_tick().min(start_of(libc::CLOCK_REALTIME)),
            from: 0,
            to: 0,
        });
    }

    /// Virtual time is about to jump.
    pub(super) fn will_pass(&mut self, now: u64, passed: u64) {
        let Some(last) = self.stretches.last_mut() else { return };
        let after = now + passed;
        if !IS_WRITTEN.load(Ordering::Relaxed) {
            // Nothing has a time of it. What is written next may have that of the last tick.
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

    /// Ends a stretch at a virtual time, and begins one.
    pub(super) fn split(&mut self, to: u64, real: u64, from: u64) {
        self.passed = 0;
        if self.stretches.len() >= MOST {
            return;
        }
        if let Some(last) = self.stretches.last_mut() {
            last.to = to;
            self.stretches.push(Stretch { real, from, to: 0 });
        }
    }

    /// The virtual time, on the clock, of a real one.
    fn virtual_time(&self, real: u64, now: u64) -> u64 {
        let start = start_of(libc::CLOCK_REALTIME);
        let number = self.stretches.partition_point(|one| one.real <= real);
        let Some(stretch) = number.checked_sub(1).map(|last| &self.stretches[last]) else {
            return start;
        };
        let to = if number == self.stretches.len() { now } else { stretch.to };
        let most = to.saturating_sub(stretch.from);
        start + stretch.from + (real - stretch.real).min(most)
    }

    fn is_ours(&self, real: u64, now: u64) -> bool {
        let start = start_of(libc::CLOCK_REALTIME);
        (start.saturating_sub(SLACK)..=now).contains(&real)
            && self.set.binary_search(&real).is_err()
    }

    /// Whether the shown time may vary.
    pub(super) fn is_open(&self, real: u64, now: u64) -> bool {
        let found = self.shown.binary_search_by_key(&real, |&(real, _)| real);
        let is_compared = |at| at > 0 || self.is_read;
        self.is_ours(real, now) && found.is_err_and(is_compared)
    }

    /// What is shown of a real time that may look this much older, unless a system that ticks has
    /// ticked since the one before it.
    pub(super) fn show(&mut self, real: u64, now: Now, age: u64, limit: u64) -> u64 {
        if !self.is_ours(real, now.real) {
            return real;
        }
        let at = match self.shown.binary_search_by_key(&real, |&(real, _)| real) {
            Ok(at) => return self.shown[at].1,
            Err(at) => at,
        };
        let earlier = at.checked_sub(1).map(|at| self.shown[at]);
        let later = self.shown.get(at).map_or(u64::MAX, |&(_, shown)| shown);
        let has_ticked = earlier.is_some_and(|(earlier, _)| {
            let stretch = |real| self.stretches.partition_point(|one| one.real <= real);
            stretch(earlier) == stretch(real) && real - earlier > limit
        });
        let age = if has_ticked || age < TICK { 0 } else { age };
        let least = earlier.map_or(0, |(_, shown)| shown);
        let shown = self.virtual_time(real, now.shown).saturating_sub(age);
        let shown = shown.max(least).min(later);
        if self.shown.len() < MOST {
            self.shown.insert(at, (real, shown));
        }
        shown
    }
}

/// The real time of the last tick, which is what a file has that is written now.
fn last_tick() -> u64 {
    kernel::clock(libc::CLOCK_REALTIME_COARSE)
}

/// Waits until the clock that files have their times from is later than this real time; what it
/// shows then.
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
            // Somebody reads the clock after a file was written.
            stamps.split(BEFORE, kernel::clock(libc::CLOCK_REALTIME), BEFORE);
            stamps.will_pass(BEFORE, AFTER - BEFORE);
            let written = last_tick();
            let start = start_of(libc::CLOCK_REALTIME);
            assert!(stamps.virtual_time(written, AFTER) >= start + AFTER);
        }
    }
}
