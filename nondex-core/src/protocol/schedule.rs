//! How the seeds of a campaign determine orders.

use crate::catalogue::Family;
use crate::json;
use crate::word::word;

/// How the seeds of a campaign determine orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// The first seeds are a covering design, the others are random.
    #[default]
    Covering,
    /// All seeds are random.
    Random,
    /// A seed is a list of the operations at which threads are [delayed](crate::choice::stops). All
    /// other choices take their base.
    Systematic,
}

json::words!(Schedule { Covering = "covering", Random = "random", Systematic = "systematic" });

impl Schedule {
    /// The schedules for which every number is a seed.
    pub const DRAWN: [Schedule; 2] = [Schedule::Covering, Schedule::Random];

    /// Returns whether this is the default, which need not be written.
    pub fn is_default(&self) -> bool {
        *self == Schedule::default()
    }

    /// Returns whether the seed decides the choices of a family.
    pub const fn chooses(self, family: Family) -> bool {
        !matches!(self, Schedule::Systematic) || matches!(family, Family::Schedule)
    }

    /// Returns whether `seed` reverses every canonical order.
    pub fn reverses(self, seed: u64) -> bool {
        self == Schedule::Covering && seed == 0
    }
}

word!(Schedule, "schedule");
