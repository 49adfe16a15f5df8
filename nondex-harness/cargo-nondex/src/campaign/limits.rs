//! The time limits of tests that run in one process.

use std::cell::Cell;
use std::time::{Duration, Instant};

use nondex_core::Event;

use super::record::RecordFile;

/// How often it is looked whether a test has ended in a process of several.
const INTERVAL: Duration = Duration::from_millis(100);

/// The time limit of each test of a process.
pub(super) struct TestLimits<'a> {
    record: &'a RecordFile,
    limits: &'a [Duration],
    /// How many tests had ended when the last end was seen, and when that was.
    seen: Cell<(usize, Instant)>,
}

impl<'a> TestLimits<'a> {
    /// Those of the tests that are recorded there, which begin now.
    pub(super) fn new(record: &'a RecordFile, limits: &'a [Duration]) -> Self {
        TestLimits { record, limits, seen: Cell::new((0, Instant::now())) }
    }

    /// When the process is to be looked at first.
    pub(super) fn first(&self) -> Duration {
        match self.limits {
            [only] => *only,
            limits => limits.first().map_or(INTERVAL, |limit| INTERVAL.min(*limit)),
        }
    }

    /// When it is to be looked at again; `None` when a test has taken longer than it may.
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
        // Behind the last one, the process has its time to end.
        let left = self.limits.get(known).or(self.limits.last())?.checked_sub(now - since)?;
        // A record may be long: the longer nothing ends, the less often it is read.
        (!left.is_zero()).then(|| left.min(INTERVAL.max((now - since) / 2)))
    }
}
