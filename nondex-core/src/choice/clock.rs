//! The age of the time that a clock, or a file, shows: clocks tick, and a clock that can be set may
//! go back.

use rand_core::Rng;

use super::generator::ChaCha8Rng;
use super::hold;
use super::number::number_at_level;
use crate::catalogue::{Family, Level, Model};
use crate::protocol::site::{Caller, Site};

const MILLISECOND: u64 = 1_000_000;

/// Longest time for which a clock with a resolution of 100 ns, as on other systems, may stand
/// still. In nanoseconds of virtual time, in which a reading takes about fifty times as long as in
/// real time.
const LONGEST_STAND: u64 = 10_000;

/// Shortest tick at which a file system updates its time (`CONFIG_HZ=1000`), in nanoseconds.
pub const SHORTEST_TICK: u64 = MILLISECOND;

/// Returns the maximum age of the time that a call of `model` shows at `level`, in nanoseconds of
/// virtual time; 0 if it is always the present time.
pub fn oldest(model: &Model, level: Level) -> u64 {
    match (model.api, level) {
        // A clock with a resolution of nanoseconds, as on most machines, does not stand still.
        ("std::time::Instant::now" | "std::time::SystemTime::now", Level::Std) => 0,
        // Another program may set the clock back.
        ("std::time::SystemTime::now", Level::Full) => 3_600_000 * MILLISECOND,
        ("std::time::Instant::now", Level::Full) => MILLISECOND,
        ("std::time::Instant::now" | "std::time::SystemTime::now", _) => LONGEST_STAND,
        // The tick of Linux, at which file systems update their time.
        ("std::fs::Metadata::modified", Level::Std) => 4 * MILLISECOND,
        // FAT has a resolution of two seconds.
        ("std::fs::Metadata::modified", Level::Full) => 2_000 * MILLISECOND,
        // The tick of Windows, which is longer than that of any kernel.
        ("std::fs::Metadata::modified", _) => 16 * MILLISECOND,
        _ => 0,
    }
}

/// Returns whether calls of `model` show an [old](oldest) time.
pub fn is_clock(model: &Model) -> bool {
    oldest(model, Level::Full) > 0
}

/// Returns the weakest level at which the seed may draw a number of this size at `site`: a delay,
/// lateness, or an age. Returns `None` if the number does not determine the level. Whether a clock
/// may stand still, for example, also depends on the code between two readings.
pub fn weakest_level(site: &Site, number: u64) -> Option<Level> {
    let model = Model::by_api(&site.api)?;
    let most = |level| if is_clock(model) { oldest(model, level) } else { hold::longest(level) };
    let is_computed = is_clock(model) && most(Level::Std) == 0;
    Level::ALL.into_iter().filter(|_| !is_computed).find(|level| number <= most(*level))
}

/// Decides the age, in nanoseconds, of the time that a call of `model` by `caller` shows; 0 if the
/// spec does not vary the choice. A seed draws it by the `moment`, as in
/// [`hold`](super::hold::hold). Returns `None` outside a test.
pub fn age(model: &'static Model, caller: Caller, moment: u64) -> Option<u64> {
    debug_assert_eq!(model.family, Family::Time);
    // The range does not depend on the level, so that a clean run records that there is a choice.
    let range = |_| 0..=oldest(model, Level::Full);
    let draw = |level, mut generator: ChaCha8Rng| match oldest(model, level) {
        0 => 0,
        // Most clocks that tick have one of a few resolutions, and the longest one shows the most.
        oldest if generator.next_u64() % 2 == 0 => oldest,
        oldest => hold::draw(oldest, u64::MAX, generator),
    };
    number_at_level(model, caller, Some(moment), range, 0, draw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::model;

    #[test]
    fn only_levels_beyond_a_busy_machine_stop_clocks_and_only_advice_comes_of_one_set_back() {
        for level in Level::ALL {
            let instant = oldest(&model::INSTANT_NOW, level);
            assert_eq!(instant == 0, level == Level::Std);
            let steps = oldest(&model::SYSTEM_TIME_NOW, level) > MILLISECOND;
            assert_eq!(steps, level == Level::Full);
            assert!(oldest(&model::METADATA_MODIFIED, level) >= SHORTEST_TICK);
            assert_eq!(oldest(&model::THREAD_SLEEP, level), 0);
        }
    }
}
