//! The result of one choice point: an order or a number.

use std::ops::RangeInclusive;

use crate::catalogue::family::Scale;

/// What is chosen at one choice point. A choice that is turned off takes its base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Order of a number of elements. The base is the order in which the shim passes them.
    Order {
        /// Number of elements.
        len: u64,
    },
    /// A number.
    Number {
        /// All possible numbers.
        range: RangeInclusive<u64>,
        /// Number that is used when the choice is turned off.
        base: u64,
        /// Whether numbers close to each other have similar effects.
        scale: Scale,
    },
}

impl Choice {
    /// Returns the choice of a value without order: a key, or the seed of random bytes.
    pub const fn opaque(base: u64) -> Self {
        Choice::Number { range: 0..=u64::MAX, base, scale: Scale::Nominal }
    }

    /// Returns how much there is to choose: the number of elements, or the largest distance of a
    /// number from its base. A number on a nominal scale has size 1.
    pub fn size(&self) -> u64 {
        match self {
            Choice::Order { len } => *len,
            Choice::Number { scale: Scale::Nominal, .. } => 1,
            Choice::Number { range, base, .. } => {
                base.abs_diff(*range.start()).max(base.abs_diff(*range.end()))
            }
        }
    }

    /// Returns the number after `steps` steps from the base to the `drawn` number, and the number
    /// of steps between the two. On a [nominal](Scale::Nominal) scale the distance is one step.
    pub fn between(&self, drawn: u64, steps: u64) -> (u64, u64) {
        let Choice::Number { base, scale, .. } = self else { return (drawn, 0) };
        let all = match scale {
            Scale::Nominal => u64::from(*base != drawn),
            Scale::Metric => base.abs_diff(drawn),
        };
        let value = match (steps, scale) {
            (0, _) => *base,
            (steps, _) if steps >= all => drawn,
            (steps, _) if *base < drawn => base + steps,
            (steps, _) => base - steps,
        };
        (value, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_goes_step_by_step_from_its_base_to_the_one_that_was_drawn() {
        let bytes = Choice::Number { range: 1..=4096, base: 4096, scale: Scale::Metric };
        assert_eq!(bytes.size(), 4095);
        for (steps, value) in [(0, 4096), (1, 4095), (4000, 96), (9000, 90)] {
            assert_eq!(bytes.between(90, steps), (value, 4006));
        }
        let late = Choice::Number { range: 0..=100, base: 0, scale: Scale::Metric };
        assert_eq!([0, 7, 50].map(|steps| late.between(20, steps).0), [0, 7, 20]);
        let key = Choice::opaque(3);
        assert_eq!([0, 1, 2].map(|steps| key.between(9, steps).0), [3, 9, 9]);
        assert_eq!((key.size(), key.between(3, 1)), (1, (3, 0)));
    }
}
