//! Distinguishes whether the tests before a test decide its outcome, or its random choices.
//!
//! A test may draw other values after another test than alone, because the first of both sets up a
//! generator that they share. So a test with a different outcome after other tests is run under
//! several seeds, both alone and after them.

/// Number of seeds that are tried alone and after the other tests.
pub const SEEDS: u64 = 10;

/// Number of seeds that are tried alone if the other tests do not decide under each of the first
/// seeds.
pub const MORE_SEEDS: u64 = 60;

/// Result of several seeds for a test that depends on other tests in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// The other tests decide under all seeds.
    Confirmed,
    /// More seeds must be tried alone.
    Open,
    /// The other tests decide under some seeds only. Alone, no seed changes the outcome.
    Crossed,
    /// Seeds change the outcome alone, too.
    Chance,
}

/// Concludes from the number of seeds with the outcome of the canonical order, and the number of
/// all seeds: first alone, then after the other tests.
pub const fn draws([alone, seeds]: [u64; 2], [after, all]: [u64; 2]) -> Draws {
    if after == all && alone * 4 >= seeds * 3 {
        Draws::Confirmed
    } else if alone < seeds {
        Draws::Chance
    } else if seeds < MORE_SEEDS {
        Draws::Open
    } else {
        Draws::Crossed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_victim_is_one_whatever_the_seed_and_what_a_seed_changes_alone_is_chance() {
        for (alone, after, expected) in [
            ([10, 10], [10, 10], Draws::Confirmed),
            // A victim that fails by chance besides.
            ([8, 10], [10, 10], Draws::Confirmed),
            ([9, 10], [3, 10], Draws::Chance),
            ([1, 10], [10, 10], Draws::Chance),
            ([10, 10], [3, 10], Draws::Open),
            ([60, 60], [3, 10], Draws::Crossed),
            ([52, 60], [3, 10], Draws::Chance),
        ] {
            assert_eq!(draws(alone, after), expected, "{alone:?} {after:?}");
        }
    }
}
