//! The length of injected delays, which is the only choice of threads and time.

use std::ops::Range;

use rand_core::Rng;

use super::generator::ChaCha8Rng;
use super::number::number_at_level;
use crate::catalogue::{Level, Model};
use crate::protocol::site::Caller;
use crate::scheduler::STEP;

/// Shortest delay of a thread, in nanoseconds of virtual time: one operation of another thread.
pub const SHORTEST: u64 = STEP;

/// Returns the longest delay of a thread at `level`, in nanoseconds of virtual time. A loaded
/// machine causes delays up to that of STD.
pub const fn longest(level: Level) -> u64 {
    const MILLISECOND: u64 = 1_000_000;
    match level {
        Level::Std => 20 * MILLISECOND,
        Level::One => 100 * MILLISECOND,
        Level::Eq => 1_000 * MILLISECOND,
        Level::Id => 10_000 * MILLISECOND,
        Level::Full => 3_600_000 * MILLISECOND,
    }
}

/// Decides how long a thread is delayed at one call of `model` by `caller`, in nanoseconds of
/// virtual time. Returns 0 if the spec does not vary the choice, and at most `most` or the limit of
/// the level. `awaited` has the times at which other threads wake. Returns `None` outside a test.
///
/// A seed draws the delay by the `moment`, which is identified within the run by the thread and how
/// often it got there. It is therefore the same wherever the code is located. Without a moment, the
/// call identifies it.
pub fn hold(
    model: &'static Model,
    caller: Caller,
    moment: Option<u64>,
    most: u64,
    awaited: &[u64],
) -> Option<u64> {
    let draw = |level, generator: ChaCha8Rng| draw_past(longest(level), most, awaited, generator);
    let range = |level| 0..=longest(level);
    number_at_level(model, caller, moment, range, 0, draw)
}

/// Decides a delay as [`hold`] does, but one that is as long as the level allows.
pub fn longest_hold(model: &'static Model, caller: Caller) -> Option<u64> {
    let range = |level| 0..=longest(level);
    number_at_level(model, caller, None, range, 0, |level, _| longest(level))
}

/// Draws a time of at most `longest` and `most`. What counts is which other threads wake before the
/// delay has passed; they wait until the times `awaited`, relative to now. Half of the delays
/// therefore end a moment after one of these threads woke, regardless of when that is.
fn draw_past(longest: u64, most: u64, awaited: &[u64], mut generator: ChaCha8Rng) -> u64 {
    /// Range of the number of doublings of the shortest delay that give such a moment. In 3 µs, a
    /// thread that woke performs a few operations; in 1.6 ms, all that it does at once.
    const MOMENTS: Range<u64> = 5..15;
    let within = |time: &&u64| **time < longest.min(most);
    let reached = awaited.iter().filter(within).count() as u64;
    if reached == 0 || generator.next_u64() % 2 == 0 {
        return draw(longest, most, generator);
    }
    let chosen = generator.next_u64() % reached;
    let time = awaited.iter().filter(within).nth(chosen as usize);
    let doublings = MOMENTS.start + generator.next_u64() % (MOMENTS.end - MOMENTS.start);
    let moment = SHORTEST << doublings;
    time.map_or(0, |time| time + moment).min(longest.min(most))
}

/// Draws a time between the shortest and the longest one, of at most `most`. All powers of two are
/// equally likely. But if any time is allowed, half of the results are at least a quarter of the
/// longest, because programmed waits take milliseconds.
pub(super) fn draw(longest: u64, most: u64, mut generator: ChaCha8Rng) -> u64 {
    if most >= longest && generator.next_u64() % 2 == 0 {
        return longest - generator.next_u64() % (longest / 4 * 3);
    }
    let longest = longest.min(most);
    let doublings = (longest / SHORTEST).ilog2();
    let from = SHORTEST << (generator.next_u64() % u64::from(doublings + 1));
    (from + generator.next_u64() % from).min(longest)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    #[test]
    fn half_of_the_times_end_a_moment_after_somebody_else_woke_who_wakes_in_time() {
        let longest = longest(Level::Std);
        let awaited = [3 * MILLISECOND, 50 * MILLISECOND, 12 * MILLISECOND];
        let draw = |awaited: &[u64], seed| {
            draw_past(longest, u64::MAX, awaited, ChaCha8Rng::seed_from_u64(seed))
        };
        let near = |time: u64| {
            let times = (0..1_000).map(|seed| draw(&awaited, seed));
            times.filter(|drawn| (time..time + 2 * MILLISECOND).contains(drawn)).count()
        };
        assert!((200..400).contains(&near(awaited[0])));
        assert!((200..400).contains(&near(awaited[2])));
        for seed in 0..1_000 {
            assert!((SHORTEST..=longest).contains(&draw(&awaited, seed)));
            let alone = super::draw(longest, u64::MAX, ChaCha8Rng::seed_from_u64(seed));
            assert_eq!(draw(&awaited[1..2], seed), alone, "nobody wakes in time");
        }
    }

    #[test]
    fn a_thread_is_held_back_no_longer_than_its_level_allows_and_any_magnitude_comes() {
        for level in Level::ALL {
            let mut magnitudes: Vec<u32> = (0..2_000)
                .map(|seed| draw(longest(level), u64::MAX, ChaCha8Rng::seed_from_u64(seed)))
                .inspect(|hold| assert!((SHORTEST..=longest(level)).contains(hold), "{hold}"))
                .map(|hold| (hold / SHORTEST).ilog2())
                .collect();
            magnitudes.sort_unstable();
            magnitudes.dedup();
            let all: Vec<u32> = (0..=(longest(level) / SHORTEST).ilog2()).collect();
            assert_eq!(magnitudes, all, "{level}");
        }
    }
}
