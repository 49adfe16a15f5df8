//! Time limits of tests that run in one process.

use std::cell::Cell;
use std::time::{Duration, Instant};

use nondex_core::Event;

use super::record::RecordFile;

/// Interval between checks for ended tests in a process of several tests.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time limits of the tests of a process.
pub(super) struct TestLimits<'a> {
    record: &'a RecordFile,
    limits: &'a [Duration],
    /// Number of tests that had ended at the last check that found a new end, and the time of that
    /// check.
    seen: Cell<(usize, Instant)>,
}

impl<'a> TestLimits<'a> {
    /// Starts the time limits of the tests that `record` shows.
    pub(super) fn new(record: &'a RecordFile, limits: &'a [Duration]) -> Self {
        TestLimits { record, limits, seen: Cell::new((0, Instant::now())) }
    }

    /// Returns the time until the first check of the process.
    pub(super) fn first(&self) -> Duration {
        match self.limits {
            [only] => *only,
            limits => limits.first().map_or(INTERVAL, |limit| INTERVAL.min(*limit)),
        }
    }

    /// Returns the time until the next check, or `None` if a test has exceeded its limit.
    pub(super) fn more(&self) -> Option<Duration> {
        let (known, since) = self.seen.get();
        let now = Instant::now();
        if self.limits.len() > 1 {
            let events = self.record.read().unwrap_or_default().events;
            let is_end = |event: &&Event| matches!(event, Event::End { .. });
            let ended = events.iter().filter(is_end).count();
            if ended > known {
                self.seen.set((ended, now));
                return Some(INTERVAL);
            }
        }
        // After the last test, the process has that test's limit to exit.
        let left = self.limits.get(known).or(self.limits.last())?.checked_sub(now - since)?;
        // A record may be long, so it is read less often the longer no test ends.
        (!left.is_zero()).then(|| left.min(INTERVAL.max((now - since) / 2)))
    }
}
