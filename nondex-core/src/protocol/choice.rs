//! What one choice point chooses: an order or a number.

use std::ops::RangeInclusive;

use crate::catalogue::family::Scale;

/// What one choice point chooses. Turned off, each has its base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The order of a number of elements. Its base is the order that they come in.
    Order {
        /// How many.
        len: u64,
    },
    /// A number.
    Number {
        /// Every number that it may be.
        range: RangeInclusive<u64>,
        /// What it is when it is turned off.
        base: u64,
        /// Whether numbers near each other are alike.
        scale: Scale,
    },
}

impl Choice {
    /// The number of a value that has no order: a key, or what random bytes are made from.
    pub const fn opaque(base: u64) -> Self {
        Choice::Number { range: 0..=u64::MAX, base, scale: Scale::Nominal }
    }

    /// How much there is to choose: the number of elements, or how far a number may be from its
    /// base; 1 when it is just another one.
    pub fn size(&self) -> u64 {
        match self {
            Choice::Order { len } => *len,
            Choice::Number { scale: Scale::Nominal, .. } => 1,
            Choice::Number { range, base, .. } => {
                base.abs_diff(*range.start()).max(base.abs_diff(*range.end()))
            }
        }
    }

    /// The number after a number of steps from its base to the one that was `drawn`, and how many
    /// steps there are. On a [nominal](Scale::Nominal) scale nothing lies between the two.
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
