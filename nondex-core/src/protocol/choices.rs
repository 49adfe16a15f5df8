//! What decides the choices of a run.

use crate::catalogue::Level;
use crate::json;

use super::schedule::Schedule;
use super::selection::Selection;
use super::site::Site;

/// What decides the choices of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choices {
    /// All take the canonical order, and nothing is late: a clean run. Choice points are recorded
    /// all the same.
    Canonical,
    /// A seed.
    Drawn(DrawnChoices),
}

json::variants!(Choices { Canonical = "canonical", Drawn(drawn) = "drawn" });

impl Choices {
    /// All choices at `level`, drawn from `seed`, which `schedule` gives its meaning.
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
    /// How freely they are made.
    pub level: Level,
    /// What they are made from.
    pub seed: u64,
    /// Which order a seed means.
    pub schedule: Schedule,
    /// Which choices are made at all; the others take the canonical order.
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

/// The choice at one call, given instead of drawn. It holds whether or not the choice is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The call site.
    pub site: Site,
    /// The logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// Which call of the thread at the site, from 0.
    pub ordinal: u64,
    /// What is chosen.
    pub choice: GivenChoice,
}

json::object!(strict Given { site, thread, ordinal, choice });

/// See [`Given`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenChoice {
    /// The base after a number of steps towards what the seed draws: an order by exchanges of
    /// neighbours (see [`between`](crate::choice::between)), a number one by one. The call is
    /// described in [`RunRecord::steps`](crate::RunRecord::steps).
    Steps(u64),
    /// The elements as numbered in canonical order. A list of another length than the collection's
    /// is not followed.
    Ranks(Vec<u32>),
    /// The number. One that the call cannot have is not followed.
    Number(u64),
}

json::variants!(GivenChoice { Steps(count) = "steps", Ranks(ranks) = "ranks",
    Number(number) = "number" });
