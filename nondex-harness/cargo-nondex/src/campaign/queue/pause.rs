//! Pauses between the runs of a test that reads the date, as [`pace`](super::super::pace) defines
//! them. Runs alone, which check an earlier result, are spread over three times as long. Runs of
//! other tests use the pauses.

use std::time::Duration;

use nondex_core::{RunSpec, Source};

use crate::campaign::pace;
use crate::judge::Runs;
use crate::judge::certainty::ENOUGH;

/// Factor for the pauses of runs alone, after runs together with other tests had two outcomes.
const ALONE: u32 = 3;

/// Minimum number of equal runs that estimate a failure rate, rather than confirm a choice.
const MANY: usize = 5;

/// Returns the minimum time between the starts of two of the runs `specs`, for a test with the runs
/// `runs`. With `alone`, no other test runs meanwhile.
pub(super) fn interval(runs: &Runs, specs: &[RunSpec], alone: bool) -> Duration {
    let is_repeated = pace::are_equal(specs, MANY);
    let mut all = runs.together.all().chain(runs.alone.all()).map(|(_, run)| run);
    if !is_repeated || !all.any(|run| run.sources.contains(&Source::Date)) {
        return Duration::ZERO;
    }
    let made = if alone { &runs.alone } else { &runs.together }.of(&specs[0]).len();
    // Others may follow after the first few.
    let number = (made + specs.len()).max(ENOUGH);
    let interval = pace::interval(number as u64);
    if alone { interval * ALONE } else { interval }
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
        let repeated = vec![clean.clone(); 59];
        let date = known(Source::Date);
        assert!(interval(&date, &repeated, false) * 59 > Duration::from_secs(2));
        assert!(interval(&date, &repeated, true) * 59 > Duration::from_secs(6));
        // Fewer runs are farther apart.
        assert!(interval(&date, &repeated[40..], false) * 20 > Duration::from_secs(2));
        assert_eq!(interval(&known(Source::Clock), &repeated, true), Duration::ZERO);
        assert_eq!(interval(&date, &repeated[..MANY - 1], false), Duration::ZERO);
        let mut others = repeated;
        others[3] = RunSpec::clean("another");
        assert_eq!(interval(&date, &others, false), Duration::ZERO);
    }
}
