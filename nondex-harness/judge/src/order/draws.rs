//! Whether the tests before a test decide its outcome, or its random choices do.
//!
//! A test that runs after another one may draw other values than alone: the first of both sets up a
//! generator that they share. So a test that has a different outcome after others is run alone and
//! after them under several seeds.

/// Number of seeds that are tried alone and after the other tests.
pub const SEEDS: u64 = 10;

/// Number of seeds that are tried alone where the other tests do not decide under each of the first
/// ones.
pub const MORE_SEEDS: u64 = 60;

/// What runs under several seeds show of a test that depends on others in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// The other tests decide, whatever the seed.
    Confirmed,
    /// More seeds must be tried alone.
    Open,
    /// The other tests decide under some seeds. Alone, no seed changes the outcome.
    Crossed,
    /// Alone, seeds decide, too.
    Chance,
}

/// Concludes from the number of seeds under which the outcome was that of the canonical order, and
/// the number of all seeds, first alone, then after the other tests.
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
