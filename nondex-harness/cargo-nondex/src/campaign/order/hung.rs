//! Shorter time limits for a test that has hung before.
//!
//! A test that hangs after another one runs after it ten times before a verdict, and several more
//! times to find the state that both share. Each of these runs would take the whole limit, one
//! minute by default.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use nondex_core::Outcome;

use crate::judge::Run;
use crate::judge::patience::once_more;
use crate::locked::Locked;

/// Number of hangs after the same tests before the limit is shortened.
const TIMES: u32 = 2;

/// Minimum of a shortened limit, because the machine may be busy.
const LEAST: Duration = Duration::from_secs(1);

/// Factor on the longest duration seen without a hang, which is also a minimum of the limit.
const FACTOR: u32 = 10;

/// Hangs of the tests of a binary.
#[derive(Debug, Default)]
pub(in crate::campaign) struct Hung(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Number of hangs of the last of these tests after the others.
    times: HashMap<Vec<usize>, u32>,
    /// Longest duration of each test when it ended.
    longest: HashMap<usize, Duration>,
}

impl Hung {
    /// Returns the time limit on the last of these tests, where `usual` is the usual limit.
    pub(super) fn limit(&self, order: &[usize], usual: Duration) -> Duration {
        let known = self.0.locked();
        if known.times.get(order).is_none_or(|times| *times < TIMES) {
            return usual;
        }
        let seen = order.last().and_then(|test| known.longest.get(test));
        let longest = seen.copied().unwrap_or(usual);
        let least = LEAST.max(once_more(usual));
        usual.min(least.max(longest.saturating_mul(FACTOR)))
    }

    /// Records how these tests ended.
    pub(super) fn note(&self, order: &[usize], runs: &[Run]) {
        let mut known = self.0.locked();
        for (place, (test, run)) in order.iter().zip(runs).enumerate() {
            match run.outcome {
                Outcome::TimedOut => {
                    *known.times.entry(order[..=place].to_vec()).or_default() += 1;
                    break;
                }
                Outcome::Passed | Outcome::Failed => {
                    let longest = known.longest.entry(*test).or_default();
                    *longest = run.took.max(*longest);
                }
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcome: Outcome, milliseconds: u64) -> Run {
        Run { took: Duration::from_millis(milliseconds), ..Run::ended(outcome) }
    }

    #[test]
    fn what_hung_twice_after_the_same_tests_gets_a_tenth_of_its_limit_or_ten_times_its_usual_time()
    {
        let hung = Hung::default();
        let usual = Duration::from_secs(60);
        let runs = [run(Outcome::Passed, 9000), run(Outcome::TimedOut, 60_000)];
        hung.note(&[1], &[run(Outcome::Passed, 2)]);
        hung.note(&[0, 1], &runs);
        assert_eq!(hung.limit(&[0, 1], usual), usual, "once");
        hung.note(&[0, 1, 2], &runs);
        assert_eq!(hung.limit(&[0, 1], usual), Duration::from_secs(6));
        for short in [300, 2000] {
            let short = Duration::from_millis(short);
            let expected = short.min(Duration::from_secs(1));
            assert_eq!(hung.limit(&[0, 1], short), expected);
        }
        for other in [&[0][..], &[1], &[2, 1], &[0, 2, 1], &[0, 1, 2]] {
            assert_eq!(hung.limit(other, usual), usual, "{other:?}");
        }
        hung.note(&[2, 1], &[run(Outcome::Passed, 1), run(Outcome::Failed, 700)]);
        assert_eq!(hung.limit(&[0, 1], usual), Duration::from_secs(7));
        hung.note(&[1], &[run(Outcome::Passed, 9000)]);
        assert_eq!(hung.limit(&[0, 1], usual), usual);
    }

    /// Returns the outcomes of runs with these durations, where `None` hangs. `limit` returns the
    /// time limit on each.
    fn ends(durations: &[Option<u64>], mut limit: impl FnMut(&Hung) -> Duration) -> Vec<Outcome> {
        let hung = Hung::default();
        let end = |duration: &Option<u64>| {
            let limit = u64::try_from(limit(&hung).as_millis()).unwrap();
            let (outcome, took) = match duration {
                Some(duration) if *duration < limit => (Outcome::Passed, *duration),
                _ => (Outcome::TimedOut, limit),
            };
            let before = run(Outcome::Passed, 1);
            hung.note(&[0, 1], &[before, run(outcome.clone(), took)]);
            outcome
        };
        durations.iter().map(end).collect()
    }

    #[test]
    fn runs_end_as_with_the_whole_limit_unless_one_takes_ten_times_as_long_as_those_that_ended() {
        let usual = Duration::from_secs(60);
        let short = |hung: &Hung| hung.limit(&[0, 1], usual);
        let (mut compared, mut shortened) = (0, 0);
        for seed in 0..10_000_u64 {
            let mut state = seed;
            let mut draw = |below: u64| {
                state = nondex_core::hash::mix(state + 1);
                state % below
            };
            let scale = [1, 40, 900, 5_000][draw(4) as usize];
            let durations: Vec<Option<u64>> =
                (0..12).map(|_| (draw(3) > 0).then(|| scale + draw(9 * scale))).collect();
            assert_eq!(ends(&durations, short), ends(&durations, |_| usual), "{durations:?}");
            compared += 1;
            shortened += u32::from(durations.iter().filter(|one| one.is_none()).count() > 2);
        }
        assert!(compared == 10_000 && shortened > 5_000, "{shortened}");
        // The test hung for a minute, twice, and then takes seven times the shortened limit. Only
        // `--no-prune` sees its end.
        let odd = [None, None, Some(42_000)];
        assert_eq!(ends(&odd, |_| usual)[2], Outcome::Passed);
    }

    #[test]
    fn nothing_is_known_of_a_test_that_never_ended() {
        let hung = Hung::default();
        for _ in 0..3 {
            hung.note(&[0], &[run(Outcome::TimedOut, 60_000)]);
        }
        let usual = Duration::from_secs(60);
        assert_eq!(hung.limit(&[0], usual), usual);
    }
}
