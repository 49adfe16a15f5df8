//! Pauses between the runs of a test that reads the date, as [`pace`](super::super::pace) defines
//! them. Runs alone, which check an earlier result, are spread over more than six seconds. Runs of
//! other tests use the pauses.

use std::time::Duration;

use nondex_core::{RunSpec, Source};

use crate::campaign::pace::{self, INTERVAL};
use crate::judge::Runs;

/// Like [`INTERVAL`], for runs alone after runs together with other tests had two outcomes.
const INTERVAL_ALONE: Duration = pace::interval(20);

/// Minimum number of equal runs that estimate a failure rate, rather than confirm a choice.
const MANY: usize = 5;

/// Returns the minimum time between the starts of two of the runs `specs`, for a test with the runs
/// `runs`. With `alone`, no other test runs meanwhile.
pub(super) fn interval(runs: &Runs, specs: &[RunSpec], alone: bool) -> Duration {
    let is_repeated = specs.len() >= MANY && specs.windows(2).all(|pair| pair[0] == pair[1]);
    let mut all = runs.together.all().chain(runs.alone.all()).map(|(_, run)| run);
    if is_repeated && all.any(|run| run.sources.contains(&Source::Date)) {
        if alone { INTERVAL_ALONE } else { INTERVAL }
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::run::Run;
    use crate::judge::simulation;

    #[test]
    fn the_runs_of_a_test_that_reads_the_date_are_spread_over_seconds() {
        let clean = RunSpec::clean("t");
        let known = |source: Source| {
            let mut runs = Runs::new(true, true);
            let run = Run { sources: vec![source], ..simulation::run(true, [1]) };
            runs.together.add(clean.clone(), run);
            runs
        };
        let repeated = vec![clean.clone(); 60];
        let date = known(Source::Date);
        assert!(interval(&date, &repeated, false) * 60 > Duration::from_secs(2));
        assert!(interval(&date, &repeated, true) * 60 > Duration::from_secs(6));
        assert_eq!(interval(&known(Source::Clock), &repeated, true), Duration::ZERO);
        assert_eq!(interval(&date, &repeated[..MANY - 1], false), Duration::ZERO);
        let mut others = repeated;
        others[3] = RunSpec::clean("another");
        assert_eq!(interval(&date, &others, false), Duration::ZERO);
    }
}
