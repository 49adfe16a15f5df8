//! How long a thread is held back: the one choice of threads and time.

use rand_core::Rng;

use super::generator::ChaCha8Rng;
use super::number::number_at_level;
use crate::catalogue::{Level, Model};
use crate::protocol::site::Caller;

/// The shortest time that a thread is held back, in nanoseconds of virtual time: one operation of another thread.
pub const SHORTEST: u64 = 100;

/// The longest time that a thread is held back at `level`, in nanoseconds of virtual time. Up to STD's, a loaded machine does it.
#[must_use]
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

/// Decides for how many nanoseconds of virtual time a thread is held back at one call of `model` by `caller`: 0 when the spec
/// leaves the choice alone; no longer than `most`, if the level allows so much. `None` outside a test.
#[must_use]
pub fn hold(model: &'static Model, caller: Caller, most: u64) -> Option<u64> {
    let draw = |level, generator| draw(longest(level), most, generator);
    number_at_level(model, caller, |level| 0..=longest(level), 0, draw)
}

/// As [`hold`], for as long as the level allows.
#[must_use]
pub fn longest_hold(model: &'static Model, caller: Caller) -> Option<u64> {
    number_at_level(
        model,
        caller,
        |level| 0..=longest(level),
        0,
        |level, _| longest(level),
    )
}

/// A time between the shortest and the longest one, no longer than `most`. All powers of two are alike in it; but where any time
/// is allowed, one in three is within two of them of the longest, for what is programmed to wait waits for milliseconds.
pub(super) fn draw(longest: u64, most: u64, mut generator: ChaCha8Rng) -> u64 {
    if most >= longest && generator.next_u64().is_multiple_of(3) {
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
