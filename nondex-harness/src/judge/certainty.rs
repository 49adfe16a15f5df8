//! How sure it is that a test that always passed is stable.
//!
//! A test that reads a clock, sleeps, or starts threads or programs may fail though every choice is the same. Two runs say little
//! about that, so it is run more often before it is called stable.

use std::time::Duration;

use nondex_core::{RunSpec, Source};

use super::evidence::{Evidence, Missing};
use super::run::Run;

/// So many passing runs leave a failure rate below 14 percent, with a confidence of 95 percent.
pub const ENOUGH: usize = 20;

/// How long the runs may take together that are made only for certainty.
const MAX_TIME: Duration = Duration::from_secs(10);

/// What its runs used that no choice controls: each source once.
#[must_use]
pub fn sources(evidence: &Evidence) -> Vec<Source> {
    let is_used = |source: &Source| evidence.all().any(|(_, run)| run.sources.contains(source));
    Source::ALL.into_iter().filter(is_used).collect()
}

/// The failure rate above which `runs` independent runs that all passed would be a surprise of one in twenty: 1 − 0.05^(1/n).
/// 1 when there were none.
#[must_use]
pub fn bound(runs: usize) -> f64 {
    match runs {
        0 => 1.0,
        runs => 1.0 - 0.05_f64.powf(1.0 / runs as f64),
    }
}

/// Whether a test that passed in every run so far also does so as often as is [enough](ENOUGH), where chance may decide.
///
/// # Errors
/// The runs of `clean` to make first.
pub(super) fn is_confirmed(clean: &RunSpec, evidence: &Evidence) -> Result<bool, Missing> {
    let first = evidence.of(clean);
    let uses_nothing = first.iter().all(|run| run.sources.is_empty());
    if uses_nothing {
        return Ok(true);
    }
    let made = evidence.count();
    let took = first.iter().map(|run| run.took).min().unwrap_or_default();
    let affordable = MAX_TIME.as_micros() / took.as_micros().max(1);
    // Those that were made for certainty before count among those that there may be.
    let others = made - first.len();
    let wanted = ENOUGH.saturating_sub(others);
    let wanted = wanted.min(usize::try_from(affordable).unwrap_or(usize::MAX));
    let runs = evidence.made(clean, wanted.max(first.len()))?;
    Ok(runs.iter().all(Run::passed))
}

#[cfg(test)]
mod tests {
    use super::super::conclusion::Conclusion;
    use super::super::simulation::{options, run, simulate};
    use super::*;

    fn timed(passed: bool, took: Duration) -> Run {
        Run {
            sources: vec![Source::Clock],
            took,
            ..run(passed, [])
        }
    }

    #[test]
    fn a_test_that_reads_a_clock_is_run_often_before_it_is_called_stable() {
        let (conclusion, evidence) = simulate(&options(), |_| timed(true, Duration::ZERO));
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(evidence.count(), ENOUGH);
        assert!(bound(evidence.count()) < 0.14);
        assert_eq!(sources(&evidence), [Source::Clock]);
    }

    #[test]
    fn a_failure_among_them_is_non_deterministic() {
        let mut runs = 0;
        let (conclusion, _) = simulate(&options(), |_| {
            runs += 1;
            timed(runs != 12, Duration::ZERO)
        });
        assert!(matches!(conclusion, Conclusion::NonDeterministic { .. }));
    }

    #[test]
    fn runs_under_seeds_count_too() {
        let (conclusion, evidence) = simulate(&options(), |_| Run {
            sources: vec![Source::Thread],
            ..run(true, [1])
        });
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(evidence.count(), 2 + 5 * 10);
    }

    #[test]
    fn a_test_that_takes_long_is_not_run_more_often_than_there_is_time() {
        let (_, evidence) = simulate(&options(), |_| timed(true, Duration::from_secs(3)));
        assert_eq!(evidence.count(), 3);
        let (_, evidence) = simulate(&options(), |_| timed(true, Duration::from_secs(30)));
        assert_eq!(evidence.count(), 2);
    }

    #[test]
    fn the_bound_is_the_rule_of_three_for_many_runs() {
        for (runs, expected) in [
            (0, 1.0),
            (1, 0.95),
            (2, 0.7764),
            (20, 0.1391),
            (300, 0.0099),
        ] {
            assert!(
                (bound(runs) - expected).abs() < 1e-4,
                "{runs}: {}",
                bound(runs)
            );
        }
    }
}
