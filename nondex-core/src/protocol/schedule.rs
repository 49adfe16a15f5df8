//! From which orders a campaign's seeds are made.

use crate::catalogue::Family;
use crate::json;
use crate::word::word;

/// From which orders a campaign's seeds are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// The first seeds are a covering design, the others are random.
    #[default]
    Covering,
    /// Every seed is random.
    Random,
    /// A seed is a list of the operations at which threads are [stopped](crate::choice::stops); all
    /// else is left at its base.
    Systematic,
}

json::words!(Schedule { Covering = "covering", Random = "random", Systematic = "systematic" });

impl Schedule {
    /// Those of which every number is a seed.
    pub const DRAWN: [Schedule; 2] = [Schedule::Covering, Schedule::Random];

    /// Whether it is the one that need not be written down.
    pub fn is_default(&self) -> bool {
        *self == Schedule::default()
    }

    /// Whether the choices of a family are left to the seed.
    pub const fn chooses(self, family: Family) -> bool {
        !matches!(self, Schedule::Systematic) || matches!(family, Family::Schedule)
    }

    /// Whether `seed` reverses every canonical order, whichever choice it is of.
    pub fn reverses(self, seed: u64) -> bool {
        self == Schedule::Covering && seed == 0
    }
}

word!(Schedule, "schedule");
