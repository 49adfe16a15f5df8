//! The source of the choices of a run.

use crate::catalogue::Level;
use crate::json;

use super::schedule::Schedule;
use super::selection::Selection;
use super::site::Site;

/// Source of the choices of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choices {
    /// A clean run: all choices take the canonical order, and no thread is delayed. Choice points
    /// are still recorded.
    Canonical,
    /// Choices drawn from a seed.
    Drawn(DrawnChoices),
}

json::variants!(Choices { Canonical = "canonical", Drawn(drawn) = "drawn" });

impl Choices {
    /// Returns choices that are all drawn from `seed` at `level`. `schedule` gives the seed its
    /// meaning.
    pub const fn all(schedule: Schedule, level: Level, seed: u64) -> Self {
        Choices::Drawn(DrawnChoices {
            level,
            seed,
            schedule,
            selection: Selection::All,
            given: Vec::new(),
        })
    }
}

/// Choices that are drawn from a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnChoices {
    /// Level of the choices.
    pub level: Level,
    /// Seed of the choices.
    pub seed: u64,
    /// Schedule, which determines the orders that a seed represents.
    pub schedule: Schedule,
    /// The choices that the seed decides; the others take the canonical order.
    pub selection: Selection,
    /// Calls whose choice is given.
    pub given: Vec<Given>,
}

json::object!(strict DrawnChoices {
    level,
    seed,
    schedule = optional,
    selection = optional,
    given = optional,
});

/// Choice at one call that is given instead of drawn. It applies even if the choice is not
/// selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Call site.
    pub site: Site,
    /// Logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// Ordinal of the call among those of the thread at the site, from 0.
    pub ordinal: u64,
    /// The result of the call.
    pub choice: GivenChoice,
}

json::object!(strict Given { site, thread, ordinal, choice });

/// Result of a call; see [`Given`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenChoice {
    /// The result after this number of steps from the base to what the seed draws. A step of an
    /// order exchanges neighbours (see [`between`](crate::choice::between)), a step of a number
    /// changes it by one. [`RunRecord::steps`](crate::RunRecord::steps) describes the call.
    Steps(u64),
    /// The elements, as numbered in canonical order. Ignored if the length differs from that of the
    /// collection.
    Ranks(Vec<u32>),
    /// The number. Ignored if it is not possible for the call.
    Number(u64),
}

json::variants!(GivenChoice { Steps(count) = "steps", Ranks(ranks) = "ranks",
    Number(number) = "number" });
