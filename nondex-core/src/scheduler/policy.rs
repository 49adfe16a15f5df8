//! Where and for how long a seed delays a thread.
//!
//! A hash decides whether to delay a thread at an operation, and for how long. It covers the seed,
//! the level, the thread and the number of the operation in its thread. So the decision costs next
//! to nothing, and depends neither on other decisions nor on code addresses.
//!
//! Two kinds of seeds alternate. A random walk delays threads again and again. The others delay at
//! a few operations, ever more rarely as the run goes on. Most races need at most three delays: see
//! Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs", 2010, where the length of the run is known. These seeds also aim at
//! a few of the operations that write a place that the thread [has read](super::Reads). There they
//! delay the thread for as long as the level allows, so that other threads can write the place.

use crate::catalogue::Level;
use crate::hash::mix;

use super::STEP;
use super::operation::Class;

/// Chances with which operations are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chances {
    /// Number of 2^32 operations that are delayed on average.
    Walk {
        /// Of the operations of libc.
        system: u32,
        /// Of the atomic operations.
        atomic: u32,
    },
    /// Number of delays, in thirds, each time that the number of operations is multiplied by e.
    Few {
        /// The number.
        thirds: u32,
    },
}

/// How a seed chooses where a thread is delayed, and the longest delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Chances of the operations.
    pub chances: Chances,
    /// Maximum number of doublings of the shortest delay. Short delays alternate the steps of
    /// threads, long ones let other threads do all that they can.
    doublings: u32,
}

/// Returns a policy with on average one delay per `2^system` operations of libc, and per `2^atomic`
/// atomic operations.
const fn walk(system: u32, atomic: u32, doublings: u32) -> Policy {
    let chances = Chances::Walk { system: u32::MAX >> system, atomic: u32::MAX >> atomic };
    Policy { chances, doublings }
}

const fn few(thirds: u32, doublings: u32) -> Policy {
    Policy { chances: Chances::Few { thirds }, doublings }
}

/// Number of doublings with which only the level limits a delay.
const ANY: u32 = 40;

/// Policies of successive seeds. Those for programs of a few operations come first.
static POLICIES: [Policy; 12] = [
    walk(0, 0, 4),
    few(12, 8),
    walk(1, 1, 3),
    few(6, ANY),
    walk(1, 2, 10),
    few(24, 5),
    walk(1, 3, ANY),
    few(3, ANY),
    walk(0, 0, 5),
    few(1, ANY),
    walk(2, 5, ANY),
    few(9, 12),
];

/// Number of delays after which only one in [`SELDOM`] remains, so that threads that wait for each
/// other's progress make some.
const MANY: u64 = 20_000;

/// Proportion of the choices that remain when there were very many.
pub(super) const SELDOM: u64 = 64;

/// What a decision is about, which separates it from other ones with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Whether to delay a thread at an operation.
    Operation = 0,
    /// How late a thread wakes.
    Time = 1,
    /// Whether a wait ends without a cause.
    Spurious = 2,
    /// Which waiting thread a wake-up reaches.
    Order = 3,
    /// Whether other threads run after a read, not before it.
    After = 4,
    /// How old a shown time is.
    Age = 5,
    /// Whether to delay a thread that is alone.
    Alone = 6,
    /// How long a delay at an operation is.
    Length = 7,
    /// Whether to aim at a write.
    Act = 8,
}

impl Purpose {
    const fn bits(self) -> u64 {
        (self as u64) << 56
    }
}

/// Returns the part that all hashes of a run have in common.
pub fn run_key(seed: u64, level: Level) -> u64 {
    mix(mix(seed) ^ (level as u64 + 1).rotate_left(32))
}

/// Returns the hash that decides an event of a thread. `run` is the [key of the run](run_key).
#[inline]
pub fn word(run: u64, thread: u64, purpose: Purpose, number: u64) -> u64 {
    mix(thread ^ run ^ purpose.bits() ^ number.wrapping_mul(ODD))
}

/// Returns the hash that draws a length, when the one for the same event has decided that there is
/// one.
#[inline]
pub fn length_word(run: u64, thread: u64, purpose: Purpose, number: u64) -> u64 {
    /// Bit that separates lengths from decisions. No purpose has it.
    const LENGTH: u64 = 1 << 55;
    word(run ^ LENGTH, thread, purpose, number)
}

/// Multiplier that spreads successive numbers (2^64 divided by the golden ratio).
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Policy {
    /// Returns the policy of a seed.
    pub fn of_seed(seed: u64) -> Self {
        POLICIES[(seed % POLICIES.len() as u64) as usize]
    }

    /// Returns the longest delay, in nanoseconds. The shortest one is one operation.
    pub const fn longest(self) -> u64 {
        STEP << self.doublings
    }
}

impl Chances {
    /// Returns whether a thread is delayed at the operation with this number in its thread, which
    /// the hash `word` decides. There were `delays` of all threads until now.
    #[inline]
    pub fn fire(self, word: u64, class: Class, number: u64, delays: u64) -> bool {
        let drawn = match class {
            Class::Count => word >> 29,
            Class::System | Class::Atomic | Class::Act => word >> 32,
        };
        let fires = match self {
            Chances::Few { thirds } => (3 * drawn).saturating_mul(number) < u64::from(thirds) << 32,
            Chances::Walk { system, .. } if class == Class::System => drawn < system.into(),
            Chances::Walk { atomic, .. } => drawn < atomic.into(),
        };
        fires && (delays < MANY || word % SELDOM == 0)
    }
}

/// Returns whether a seed that aims chooses the last write of a thread to a place that it had read:
/// one in four, and ever fewer later.
#[inline]
pub fn is_aimed_at(word: u64, number: u64) -> bool {
    /// Operations below this number have equal probability.
    const FIRST: u64 = 16;
    let drawn = word >> 32;
    drawn * number.max(FIRST) < (FIRST / 4) << 32
}

/// Returns whether the wait of a thread with this number may end without a cause.
pub fn is_spurious(word: u64, number: u64) -> bool {
    /// Chance of 2^32 for the first waits of a thread: one in four. Later ones are rarer, down to
    /// one in sixteen, because a thread that is woken waits again.
    const FIRST: u64 = 1 << 30;
    const RAREST: u64 = 4;
    let drawn = word >> 32;
    drawn * number.min(RAREST) < FIRST
}

/// Returns whether an event of an even chance happens.
#[inline]
pub const fn is_even(word: u64) -> bool {
    word % 2 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of the first `operations` of a thread at which a seed delays it.
    fn delays(seed: u64, class: Class, operations: u64) -> u64 {
        let run = run_key(seed, Level::Std);
        let fires = |number: &u64| {
            let word = word(run, 7, Purpose::Operation, *number);
            Policy::of_seed(seed).chances.fire(word, class, *number, 0)
        };
        (1..=operations).filter(fires).count() as u64
    }

    #[test]
    fn a_walk_delays_at_a_fixed_proportion_of_the_operations() {
        assert_eq!(delays(0, Class::System, 1_000), 1_000);
        let half = delays(2, Class::Atomic, 100_000);
        assert!((49_000..51_000).contains(&half), "{half}");
        let few = delays(10, Class::Atomic, 100_000);
        assert!((2_800..3_500).contains(&few), "{few}");
        // An update of an owner count is eight times as rare.
        let counts = delays(2, Class::Count, 100_000);
        assert!((5_500..7_000).contains(&counts), "{counts}");
    }

    #[test]
    fn other_seeds_delay_ever_more_rarely() {
        let all = |operations| -> u64 {
            (0..100).map(|number| delays(12 * number + 3, Class::System, operations)).sum()
        };
        // Two delays, on average, each time that the number is multiplied by e.
        let (short, long) = (all(1_000), all(20_000));
        let more = long - short;
        assert!((500..700).contains(&more), "{short} {long}");
    }

    #[test]
    fn after_very_many_delays_few_are_left() {
        let chances = Policy::of_seed(0).chances;
        let fires = |number: &u64| {
            let word = word(1, 2, Purpose::Operation, *number);
            chances.fire(word, Class::System, *number, MANY)
        };
        let left = (0..64_000).filter(fires).count();
        assert!((900..1_100).contains(&left), "{left}");
    }
}
