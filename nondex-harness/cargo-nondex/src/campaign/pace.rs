//! Pace of runs that are only repeated to see whether chance decides.
//!
//! Sixty runs of a small test take a fifth of a second. A test may fail in the last third of each
//! second, or in every other second. Then all of these runs pass, or all fail. So the runs of a
//! test that reads the date are spread over more than two seconds.

use std::thread;
use std::time::{Duration, Instant};

use nondex_core::Source;

use crate::judge::Run;

/// Minimum time between the starts of two runs of sixty.
const INTERVAL: Duration = interval(60);

/// Returns the minimum time between the starts of two runs, so that this number of runs takes more
/// than two seconds.
pub(super) const fn interval(runs: u64) -> Duration {
    Duration::from_millis(2160 / runs)
}

/// Returns whether these runs are equal, and at least `least` of them.
pub(super) fn are_equal<R: PartialEq>(runs: &[R], least: usize) -> bool {
    runs.len() >= least && runs.windows(2).all(|pair| pair[0] == pair[1])
}

/// Start times of the runs of one test that are made one after the other.
#[derive(Debug)]
pub struct Pace {
    /// Minimum time between the starts of two runs that read the date.
    interval: Duration,
    /// Whether a run of the test read the date.
    reads_date: bool,
    /// Start of the last run.
    started: Option<Instant>,
}

impl Pace {
    /// Returns the pace of sixty runs of a test that is known to use these sources.
    pub fn of(sources: &[Source]) -> Self {
        Pace { interval: INTERVAL, reads_date: sources.contains(&Source::Date), started: None }
    }

    /// Returns the pace of this number of runs.
    pub(super) fn over(self, runs: u64) -> Self {
        Pace { interval: interval(runs), ..self }
    }

    /// Waits until the next run may start, and records that it starts now.
    pub fn wait(&mut self) {
        let since = self.started.filter(|_| self.reads_date).map(|started| started.elapsed());
        thread::sleep(since.map_or(Duration::ZERO, |since| self.interval.saturating_sub(since)));
        self.started = Some(Instant::now());
    }

    /// Records the sources that a run used.
    pub fn heed(&mut self, run: &Run) {
        self.reads_date |= run.sources.contains(&Source::Date);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::simulation;

    #[test]
    fn runs_are_spread_once_one_of_them_has_read_the_date() {
        let run = |source: Source| Run { sources: vec![source], ..simulation::run(true, [1]) };
        let mut pace = Pace::of(&[Source::Clock]);
        pace.heed(&run(Source::Clock));
        assert!(!pace.reads_date);
        pace.wait();
        pace.heed(&run(Source::Date));
        let first = pace.started.unwrap();
        pace.wait();
        assert!(pace.started.unwrap() - first >= INTERVAL);
        for runs in [20, 60] {
            let interval = Pace::of(&[Source::Date]).over(runs).interval;
            assert!(interval * u32::try_from(runs).unwrap() > Duration::from_secs(2));
        }
        assert!(Pace::of(&[Source::Date]).reads_date);
    }
}
