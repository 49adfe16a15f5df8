//! Flag that ends a campaign early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Flag that ends a campaign early. Once it is set, running tests are killed, no other test is
/// started, and the report is marked as partial.
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl StopFlag {
    /// Creates a flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same flag, which is also set once `time` has passed. An earlier deadline of this
    /// flag still applies.
    pub fn within(&self, time: Option<Duration>) -> Self {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        StopFlag {
            flag: Arc::clone(&self.flag),
            deadline: [self.deadline, deadline].into_iter().flatten().min(),
        }
    }

    /// Returns the same flag, which is also set once half of the remaining time has passed.
    pub fn half(&self) -> Self {
        self.within(self.left().map(|left| left / 2))
    }

    /// Returns the remaining time, if the flag has a deadline.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Sets the flag. Takes effect within a fraction of a second.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Returns whether the flag is set or its deadline has passed.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.is_late()
    }

    /// Returns whether its deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the flag itself, for `signal_hook::flag::register`.
    pub fn handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_with_a_time_is_set_by_its_time_or_by_the_flag_it_is_of() {
        let flag = StopFlag::new();
        let unlimited = flag.within(None);
        let long = flag.within(Some(Duration::MAX));
        let over = flag.within(Some(Duration::ZERO));
        assert!(over.is_set() && over.is_late());
        assert!(over.within(None).is_late() && over.within(Some(Duration::MAX)).is_late());
        assert_eq!((over.left(), unlimited.left()), (Some(Duration::ZERO), None));
        assert!(over.half().is_late() && !long.half().is_late() && !unlimited.half().is_set());
        assert!(!unlimited.is_set() && !long.is_set() && !flag.is_set());
        flag.stop();
        assert!(unlimited.is_set() && long.is_set() && !long.is_late());
    }
}
