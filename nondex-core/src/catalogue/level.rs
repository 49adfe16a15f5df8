//! Levels: how far a run may depart from what std does today.

use crate::json;
use crate::word::word;

/// How far the choices of a run may depart from what std does today.
///
/// The upper four are the levels of the NonDex paper (Shi, Gyori, Legunsen, Marinov, ICST 2016);
/// [`Level::Std`] is below them. The variants are ordered from most to least realistic. The weakest
/// level that makes a test fail shows how realistic the finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What std and the platform do under another seed. A failure is a flaky test today.
    Std,
    /// Another fixed implementation for the whole run. The failing code breaks on another platform
    /// or std version.
    One,
    /// Order by content: equal collections have equal orders.
    Eq,
    /// Order by object and modification: an unmodified object keeps its order.
    Id,
    /// A new order at every read. The failing code relies on what std does but does not promise.
    Full,
}

json::words!(Level { Std = "STD", One = "ONE", Eq = "EQ", Id = "ID", Full = "FULL" });

impl Level {
    /// Returns the meaning of a failure whose weakest level is this one, as one clause.
    pub const fn meaning(self) -> &'static str {
        match self {
            Level::Std => "flaky today, now reproducible",
            Level::One => "breaks on another platform, std or hasher version",
            Level::Eq => "relies on equal collections built differently having equal orders",
            Level::Id => "relies on a rebuilt or modified collection keeping its order",
            Level::Full => {
                "relies on an unmodified collection keeping its order, which std does but does \
                 not promise"
            }
        }
    }

    /// Returns the meaning, as one clause, of a test that fails in canonical order, and passes at
    /// this level but not below it.
    pub const fn meaning_of_a_pass(self) -> &'static str {
        match self {
            Level::Std => "flaky today, now reproducible",
            Level::One => {
                "fails in every order of today's std that was tried, and passes in another fixed \
                 order"
            }
            Level::Eq => {
                "fails in every order of today's std that was tried, and passes where equal \
                 collections have equal orders"
            }
            Level::Id => {
                "fails in every order of today's std that was tried, and passes where a rebuilt or \
                 modified collection has another order"
            }
            Level::Full => {
                "fails in every order of today's std that was tried, and passes where an \
                 unmodified collection has another order when it is read again"
            }
        }
    }

    /// Returns the tag that separates this level's generators from those of other levels.
    pub(crate) const fn tag(self) -> u64 {
        match self {
            Level::Std => 0,
            Level::One => 1,
            Level::Eq => 2,
            Level::Id => 3,
            Level::Full => 4,
        }
    }
}

word!(Level, "level");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_parses_from_its_own_name_in_any_case() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
            assert_eq!(level.name().to_lowercase().parse(), Ok(level));
            assert_eq!(serde_json::to_string(&level).unwrap(), format!("\"{level}\""));
        }
    }

    #[test]
    fn an_unknown_level_says_what_was_found_and_what_was_expected() {
        let message = "FUL".parse::<Level>().unwrap_err().to_string();
        assert_eq!(message, "unknown level `FUL`, expected one of STD, ONE, EQ, ID, FULL");
    }
}
