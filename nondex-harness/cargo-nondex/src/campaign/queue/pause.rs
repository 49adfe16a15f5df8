//! Pauses between the runs of a test that the date may decide.
//!
//! Sixty runs of a small test take a fifth of a second. A test that fails in the last third of each
//! second passes in all of them, or in none. So runs that are only repeated to see whether chance
//! decides are spread over more than a second.

use std::time::Duration;

use nondex_core::{RunSpec, Source};

use crate::judge::isolation::Runs;

/// From the start of a run to that of the next one, at least: sixty take more than a second.
const INTERVAL: Duration = Duration::from_millis(18);

/// Minimum number of equal runs that are made for certainty, rather than to confirm a choice.
const MANY: usize = 5;

/// How long to wait before each of the runs `specs` of a test with these `runs`.
pub(super) fn before_each(runs: &Runs, specs: &[RunSpec]) -> Duration {
    let is_repeated = specs.len() >= MANY && specs.windows(2).all(|pair| pair[0] == pair[1]);
    let all = || runs.together.all().chain(runs.alone.all()).map(|(_, run)| run);
    if !is_repeated || !all().any(|run| run.sources.contains(&Source::Date)) {
        return Duration::ZERO;
    }
    let shortest = all().map(|run| run.took).min().unwrap_or_default();
    INTERVAL.saturating_sub(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::run::Run;
    use crate::judge::simulation;

    #[test]
    fn the_runs_of_a_test_that_reads_the_date_are_spread_over_a_second() {
        let clean = RunSpec::clean("t");
        let ms = Duration::from_millis;
        let known = |sources: &[Source], took| {
            let mut runs = Runs::new(true, true);
            let run = Run { sources: sources.to_vec(), took, ..simulation::run(true, [1]) };
            runs.together.add(clean.clone(), run);
            runs
        };
        let repeated = vec![clean.clone(); 60];
        let date = known(&[Source::Date], ms(3));
        let pause = before_each(&date, &repeated);
        assert!((pause + ms(3)) * 60 > Duration::from_secs(1), "{pause:?}");
        assert_eq!(before_each(&known(&[Source::Date], ms(50)), &repeated), Duration::ZERO);
        assert_eq!(before_each(&known(&[Source::Clock], ms(3)), &repeated), Duration::ZERO);
        assert_eq!(before_each(&date, &repeated[..MANY - 1]), Duration::ZERO);
        let mut others = repeated;
        others[3] = RunSpec::clean("another");
        assert_eq!(before_each(&date, &others), Duration::ZERO);
    }
}
