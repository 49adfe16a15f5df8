//! When a seed chooses about time: whether a thread wakes late or reads a clock late, and whether a
//! shown time is an old one.

use super::policy::SELDOM;

/// Number of clock readings of a thread after which old times become rare. A waiting thread makes
/// many.
const MANY_READINGS: u64 = 1_000;

/// Duration of a reading in virtual time.
pub const READING: u64 = 1_000;

/// Returns whether to delay a thread that is alone before its reading with this number. Later
/// readings are delayed more rarely, so a program of many readings is delayed a few times.
pub fn is_late_alone(word: u64, number: u64) -> bool {
    let drawn = word >> 32;
    drawn.saturating_mul(number.max(4)) < 3 << 32
}

/// Returns whether the reading of a thread with this number shows an old time.
pub const fn is_old(word: u64, number: u64) -> bool {
    word % (if number < MANY_READINGS { 2 } else { SELDOM }) == 0
}

/// Returns how long a reading takes, for a thread that has done nothing but `idle` looks and
/// readings.
pub fn time_of_reading(idle: u32) -> u64 {
    /// Number of readings after which a thread that does nothing else waits for a time to come.
    /// Setting one clock by another takes fewer.
    const MEASURES: u32 = 1 << 16;
    READING << (idle.saturating_sub(MEASURES) / 1024).min(20)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of successive readings after which `until` nanoseconds have passed.
    fn readings(until: u64) -> u32 {
        let mut now = 0;
        (1..)
            .find(|&idle| {
                now += time_of_reading(idle);
                now >= until
            })
            .expect("time passes")
    }

    #[test]
    fn who_measures_is_not_hurried_and_who_waits_for_a_time_comes_to_it() {
        // As many as microseconds, while no more are read than to set a clock by another.
        for microseconds in [1, 2_000, 65_536] {
            assert_eq!(readings(microseconds * 1_000), microseconds as u32);
        }
        for (seconds, most) in [(1, 80_000), (60, 85_000), (3_600, 100_000)] {
            assert!(readings(seconds * 1_000_000_000) < most, "{seconds} s");
        }
    }
}
