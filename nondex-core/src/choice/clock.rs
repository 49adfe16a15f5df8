//! How old the time is that a clock, or a file, shows: clocks tick, and one that another may set
//! can go back.

use rand_core::Rng;

use super::generator::ChaCha8Rng;
use super::hold;
use super::number::number_at_level;
use crate::catalogue::{Family, Level, Model};
use crate::protocol::site::{Caller, Site};

const MILLISECOND: u64 = 1_000_000;

/// The longest time that a clock with a resolution of 100 ns, as those of other systems do, can
/// stand still. In nanoseconds of virtual time, by which a reading takes some fifty times what it
/// really takes.
const LONGEST_STAND: u64 = 10_000;

/// The shortest tick by which a file system gets the time (`CONFIG_HZ=1000`), in nanoseconds.
pub const SHORTEST_TICK: u64 = MILLISECOND;

/// How old the time may be that a call of `model` shows at `level`, in nanoseconds of virtual time;
/// 0 where it is the present one.
pub fn oldest(model: &Model, level: Level) -> u64 {
    match (model.api, level) {
        // A clock of nanoseconds, as on most machines, does not stand still.
        ("std::time::Instant::now" | "std::time::SystemTime::now", Level::Std) => 0,
        // A step back, by whoever sets the clock.
        ("std::time::SystemTime::now", Level::Full) => 3_600_000 * MILLISECOND,
        ("std::time::Instant::now", Level::Full) => MILLISECOND,
        ("std::time::Instant::now" | "std::time::SystemTime::now", _) => LONGEST_STAND,
        // The tick of Linux, by which file systems get the time.
        ("std::fs::Metadata::modified", Level::Std) => 4 * MILLISECOND,
        // FAT keeps every other second.
        ("std::fs::Metadata::modified", Level::Full) => 2_000 * MILLISECOND,
        // The tick of Windows, and more than that of any kernel.
        ("std::fs::Metadata::modified", _) => 16 * MILLISECOND,
        _ => 0,
    }
}

/// Whether `model` is one whose calls show an [old](oldest) time.
pub fn is_clock(model: &Model) -> bool {
    oldest(model, Level::Full) > 0
}

/// The weakest level at which the seed may draw as large a number as this one at `site`: of a hold,
/// of lateness, or of an age. `None` where the number does not say it: whether a clock may stand
/// still depends on what is computed meanwhile, too.
pub fn weakest_level(site: &Site, number: u64) -> Option<Level> {
    let model = Model::by_api(&site.api)?;
    let most = |level| if is_clock(model) { oldest(model, level) } else { hold::longest(level) };
    let is_computed = is_clock(model) && most(Level::Std) == 0;
    Level::ALL.into_iter().filter(|_| !is_computed).find(|level| number <= most(*level))
}

/// Decides how many nanoseconds old the time is that a call of `model` by `caller` shows: 0 when
/// the spec leaves the choice alone. A seed draws it by the `moment`, as in
/// [`hold`](super::hold::hold). `None` outside a test.
pub fn age(model: &'static Model, caller: Caller, moment: u64) -> Option<u64> {
    debug_assert_eq!(model.family, Family::Time);
    // A clean run, whatever its level, records that there is something to choose.
    let range = |_| 0..=oldest(model, Level::Full);
    let draw = |level, mut generator: ChaCha8Rng| match oldest(model, level) {
        0 => 0,
        // Most clocks that tick have one of a few ticks, and the longest shows the most.
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
