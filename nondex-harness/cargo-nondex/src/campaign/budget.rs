//! Limits on the time in which a campaign explores, and explains what it found.
//!
//! The clean runs show what the suite costs. A campaign explores for a multiple of that time: it
//! tries seeds, enumerates schedules, and repeats runs for certainty. Then its budget is spent, and
//! every test is judged from the runs made until then. Findings are still confirmed. The search for
//! their culprits takes at most as long again. So do runs in a plain build, in which sleeps take
//! real time.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::stop::StopFlag;
use crate::judge::Spent;
use crate::locked::Locked;

/// Minimum time for exploring.
const LEAST: Duration = Duration::from_secs(30);

/// Minimum of the limit on the time for all pairs of tests. Pairs run in real time, mostly one by
/// one.
const LEAST_FOR_PAIRS: Duration = Duration::from_secs(120);

/// Part of the time limit (`--max-time`) in which a campaign explores. The rest is for explaining
/// what was found.
const SHARE: f64 = 0.75;

/// Returns the duration of `factor` runs of all tests, each of which takes `suite`.
fn times(factor: f64, suite: Duration) -> Duration {
    Duration::try_from_secs_f64(suite.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

/// Returns how many orders of all tests, each of which takes `suite`, are tried for what they
/// share.
pub(super) fn orders_of_sharers(factor: f64, suite: Duration) -> usize {
    let time = times(factor, suite).max(LEAST);
    usize::try_from(time.as_millis() / suite.as_millis().max(1)).unwrap_or(usize::MAX)
}

/// Returns the limit on the time for all pairs of tests. All interleavings may take as long again.
/// `suite` is the duration of one run of all tests.
pub(super) fn time_for_pairs(factor: f64, suite: Duration) -> Duration {
    times(factor, suite).max(LEAST_FOR_PAIRS)
}

/// Budget of a campaign. Its time starts when it is created.
#[derive(Debug)]
pub struct Budget {
    start: Instant,
    factor: Option<f64>,
    jobs: NonZeroUsize,
    /// Time in which the campaign may explore, if it has a time limit.
    limit: Option<Duration>,
    took: Mutex<Took>,
}

/// Durations of runs.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    /// Total of the first runs of all tests.
    clean: Duration,
    /// Time of the searches. A run that others ran concurrently with counts for its share.
    explaining: Duration,
    /// Time of the runs in a plain build.
    comparing: Duration,
    /// Time of the runs in real time without which a test cannot be judged, divided by the number
    /// of runs that are made concurrently.
    waiting: Duration,
}

impl Budget {
    /// Creates the budget of a campaign that makes `jobs` runs concurrently and that `stop` ends.
    /// Without a `factor`, only the time limit of `stop` counts.
    pub fn new(factor: Option<f64>, jobs: NonZeroUsize, stop: &StopFlag) -> Self {
        Budget {
            start: Instant::now(),
            factor,
            jobs,
            limit: stop.left().map(|left| left.mul_f64(SHARE)),
            took: Mutex::default(),
        }
    }

    /// Adds the duration of the first run of a test.
    pub fn begun(&self, took: Duration) {
        self.took.locked().clean += took;
    }

    /// Adds the duration of a run that searched for culprits. `is_alone` is whether nothing else
    /// ran at the same time.
    pub fn explained(&self, took: Duration, is_alone: bool) {
        let at_once = if is_alone { 1 } else { self.jobs.get() };
        self.took.locked().explaining += took.div_f64(at_once as f64);
    }

    /// Adds the duration of a run in a plain build. Nothing else runs at the same time.
    pub fn compared(&self, took: Duration) {
        self.took.locked().comparing += took;
    }

    /// Adds the duration of a run in real time without which its test cannot be judged. It may
    /// sleep for longer than the budget, so it is not part of the time for exploring.
    pub fn waited(&self, took: Duration) {
        self.took.locked().waiting += took.div_f64(self.jobs.get() as f64);
    }

    /// Returns whether no time is left for runs in a plain build.
    pub fn has_compared(&self) -> bool {
        let comparing = self.took.locked().comparing;
        self.allowed().is_some_and(|allowed| comparing >= allowed)
    }

    /// Returns the limit on the time for exploring, on the time for explaining, and on that of runs
    /// in a plain build. It grows as first runs of tests end. Returns `None` if there is no limit.
    pub fn allowed(&self) -> Option<Duration> {
        let suite = self.took.locked().clean.div_f64(self.jobs.get() as f64);
        let of_factor = self.factor.map(|factor| times(factor, suite).max(LEAST));
        of_factor.into_iter().chain(self.limit).min()
    }

    /// Returns the remaining time for exploring, or `None` if there is no limit.
    pub fn left(&self) -> Option<Duration> {
        let end = self.allowed()?.saturating_add(self.took.locked().waiting);
        let end = self.limit.map_or(end, |limit| end.min(limit));
        Some(end.saturating_sub(self.start.elapsed()))
    }

    /// Returns which activities have no time left.
    pub fn spent(&self) -> Spent {
        let explaining = self.took.locked().explaining;
        Spent {
            exploring: self.left() == Some(Duration::ZERO),
            explaining: self.allowed().is_some_and(|allowed| explaining > allowed),
        }
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
        assert!(!free.spent().exploring);
        free.begun(Duration::from_secs(5));
        assert_eq!(free.allowed(), Some(LEAST));
        free.begun(Duration::from_secs(15));
        assert_eq!(free.allowed(), Some(Duration::from_secs(100)));
        let huge = budget(Some(1e300), &StopFlag::new());
        huge.begun(Duration::MAX);
        assert_eq!(huge.allowed(), Some(Duration::MAX));
    }

    #[test]
    fn a_needed_run_in_real_time_leaves_time_for_exploring() {
        let budget = Budget {
            start: Instant::now().checked_sub(Duration::from_secs(50)).unwrap(),
            ..budget(Some(10.0), &StopFlag::new())
        };
        assert!(budget.spent().exploring);
        budget.waited(Duration::from_secs(50));
        assert!(!budget.spent().exploring);
        assert!(budget.left().unwrap() <= Duration::from_secs(5));
    }

    #[test]
    fn orders_of_a_slow_suite_are_few() {
        let orders = |millis| orders_of_sharers(10.0, Duration::from_millis(millis));
        assert_eq!([0, 100, 3_000, 60_000].map(orders), [30_000, 300, 10, 10]);
    }

    #[test]
    fn a_campaign_explains_for_as_long_as_it_explores() {
        for (is_alone, runs) in [(true, 31), (false, 61)] {
            let budget = budget(Some(10.0), &StopFlag::new());
            for _ in 1..runs {
                budget.explained(Duration::from_secs(1), is_alone);
                assert!(!budget.spent().explaining);
            }
            budget.explained(Duration::from_secs(1), is_alone);
            assert!(budget.spent().explaining);
        }
    }

    #[test]
    fn runs_in_a_plain_build_take_as_long_as_a_campaign_explores() {
        let budget = budget(Some(10.0), &StopFlag::new());
        budget.compared(LEAST / 2);
        assert!(!budget.has_compared());
        budget.compared(LEAST / 2);
        assert!(budget.has_compared());
    }

    #[test]
    fn without_a_factor_only_the_time_until_it_is_stopped_is_a_limit() {
        let endless = budget(None, &StopFlag::new());
        endless.compared(Duration::MAX);
        assert_eq!(endless.allowed(), None);
        assert!(!endless.has_compared());
        let soon = StopFlag::new().within(Some(Duration::ZERO));
        for factor in [None, Some(10.0)] {
            assert_eq!(budget(factor, &soon).allowed(), Some(Duration::ZERO));
            assert!(budget(factor, &soon).spent().exploring);
        }
    }

    #[test]
    fn pairs_of_tests_have_time_in_proportion_to_one_run_of_all_and_two_minutes_at_least() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(time_for_pairs(10.0, minutes(1)), minutes(10));
        assert_eq!(time_for_pairs(0.5, minutes(1)), minutes(2));
        assert_eq!(time_for_pairs(1e300, minutes(1)), Duration::MAX);
    }
}
