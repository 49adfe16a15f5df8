//! How long a thread is delayed: the one choice of threads and time.

use std::ops::Range;

use rand_core::Rng;

use super::generator::ChaCha8Rng;
use super::number::number_at_level;
use crate::catalogue::{Level, Model};
use crate::protocol::site::Caller;

/// The shortest time that a thread is delayed, in nanoseconds of virtual time: one operation of
/// another thread.
pub const SHORTEST: u64 = 100;

/// The longest time that a thread is delayed at `level`, in nanoseconds of virtual time. Up to
/// STD's, a loaded machine does it.
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

/// Decides for how many nanoseconds of virtual time a thread is delayed at one call of `model` by
/// `caller`: 0 when the spec leaves the choice alone; no longer than `most`, if the level allows so
/// much. `awaited` is when others wake. `None` outside a test.
///
/// A seed draws it by the `moment`, which is identified within the run by who comes to it and how
/// often. So it is the same wherever the code lies; or, if there is none, by the call.
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

/// As [`hold`], for as long as the level allows.
pub fn longest_hold(model: &'static Model, caller: Caller) -> Option<u64> {
    let range = |level| 0..=longest(level);
    number_at_level(model, caller, None, range, 0, |level, _| longest(level))
}

/// A time no longer than `longest` and `most`. Where others wait for a time (`awaited`, from now
/// on), what counts is who of them wakes before it has passed: half of the times end a moment after
/// one of them woke, however near or far that is.
fn draw_past(longest: u64, most: u64, awaited: &[u64], mut generator: ChaCha8Rng) -> u64 {
    /// Number of doublings of the shortest time until whoever woke has done a few operations, and
    /// all that it does at once: 3 µs, 1.6 ms.
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

/// A time between the shortest and the longest one, no longer than `most`. All powers of two are
/// alike in it; but where any time is allowed, every other one is within two of them of the
/// longest, for what is programmed to wait waits for milliseconds.
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
