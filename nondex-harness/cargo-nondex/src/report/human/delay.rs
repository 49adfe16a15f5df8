//! Formats durations of delays.

/// Limit below which a delay, in nanoseconds, is a preemption: the thread stops only while others
/// do a few operations.
pub(super) const MOMENT: u64 = 100_000;

/// Formats nanoseconds for people, rounded up: `800 ns`, `26 ms`, `1.5 s`.
pub(super) fn time(nanoseconds: u64) -> String {
    let (unit, name) = match nanoseconds {
        0..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        1_000_000_000..120_000_000_000 => (1_000_000_000, "s"),
        _ => (60_000_000_000, "min"),
    };
    let tenths = (nanoseconds * 10).div_ceil(unit);
    match (tenths / 10, tenths % 10) {
        (whole @ 0..10, rest @ 1..) => format!("{whole}.{rest} {name}"),
        _ => format!("{} {name}", nanoseconds.div_ceil(unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_told_in_the_unit_that_people_use_and_never_as_less_than_it_is() {
        for (nanoseconds, text) in [
            (105, "105 ns"),
            (1_500, "1.5 µs"),
            (2_000_000, "2 ms"),
            (26_120_000, "27 ms"),
            (999_000_000, "999 ms"),
            (1_450_000_000, "1.5 s"),
            (61_000_000_000, "61 s"),
            (3_600_000_000_000, "60 min"),
        ] {
            assert_eq!(time(nanoseconds), text);
        }
    }
}
