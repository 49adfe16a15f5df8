//! How long a campaign explores.
//!
//! Its clean runs show what the suite costs. A campaign explores for a multiple of that: it tries
//! seeds, lists schedules, and repeats runs for certainty. Then its budget is spent. What was found
//! by then is still confirmed and explained, and every test is judged, from fewer runs.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::stop::StopFlag;

/// How long it explores at least.
const LEAST: Duration = Duration::from_secs(30);

/// The part of the time until it is stopped (`--max-time`) in which it explores. The rest is for
/// explaining what was found.
const SHARE: f64 = 0.75;

/// The budget of a campaign, which begins when it is made.
#[derive(Debug)]
pub struct Budget {
    start: Instant,
    factor: Option<f64>,
    jobs: NonZeroUsize,
    /// The time until it is stopped in which it may explore.
    limit: Option<Duration>,
    /// How long the first runs of the tests took together.
    clean: Mutex<Duration>,
}

impl Budget {
    /// That of a campaign that makes `jobs` runs at once, with this factor, if any, and that `stop`
    /// ends.
    #[must_use]
    pub fn new(factor: Option<f64>, jobs: NonZeroUsize, stop: &StopFlag) -> Self {
        Budget {
            start: Instant::now(),
            factor,
            jobs,
            limit: stop.left().map(|left| left.mul_f64(SHARE)),
            clean: Mutex::default(),
        }
    }

    /// Adds how long the first run of a test took.
    pub fn add(&self, took: Duration) {
        *self.clean.lock().unwrap_or_else(PoisonError::into_inner) += took;
    }

    /// How long the campaign explores, as far as it is known.
    #[must_use]
    pub fn allowed(&self) -> Option<Duration> {
        let clean = *self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        let suite = clean.as_secs_f64() / self.jobs.get() as f64;
        let of_factor = self.factor.map(|factor| {
            let wanted = Duration::try_from_secs_f64(suite * factor);
            wanted.unwrap_or(Duration::MAX).max(LEAST)
        });
        of_factor.into_iter().chain(self.limit).min()
    }

    /// How long it still explores, as far as it is known.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let allowed = self.allowed()?;
        Some(allowed.saturating_sub(self.start.elapsed()))
    }

    /// Whether it explores no longer.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.left() == Some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(factor: Option<f64>, stop: &StopFlag) -> Budget {
        Budget::new(factor, NonZeroUsize::new(2).unwrap(), stop)
    }

    #[test]
    fn a_campaign_explores_a_multiple_of_its_suite_and_for_half_a_minute_at_least() {
        let free = budget(Some(10.0), &StopFlag::new());
        assert_eq!(free.allowed(), Some(LEAST));
        assert!(!free.is_spent());
        free.add(Duration::from_secs(5));
        assert_eq!(free.allowed(), Some(LEAST));
        free.add(Duration::from_secs(15));
        assert_eq!(free.allowed(), Some(Duration::from_secs(100)));
        let huge = budget(Some(1e300), &StopFlag::new());
        huge.add(Duration::MAX);
        assert_eq!(huge.allowed(), Some(Duration::MAX));
    }

    #[test]
    fn without_a_factor_only_the_time_until_it_is_stopped_is_a_limit() {
        assert_eq!(budget(None, &StopFlag::new()).allowed(), None);
        let soon = StopFlag::new().within(Some(Duration::ZERO));
        for factor in [None, Some(10.0)] {
            assert_eq!(budget(factor, &soon).allowed(), Some(Duration::ZERO));
            assert!(budget(factor, &soon).is_spent());
        }
    }
}
