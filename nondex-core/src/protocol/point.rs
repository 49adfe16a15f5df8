//! The choices that a run reached: points, single choices, and calls whose choice was given.

use crate::catalogue::Level;
use crate::json;

use super::site::{Frame, Site};

/// Number of choices of one thread at one site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointRecord {
    /// Call site.
    pub site: Site,
    /// Logical thread path: `0` is the test's own thread, `0.1` the second thread that it started,
    /// `0/1` the main thread of the second process that it started. `?` is a thread whose start was
    /// not observed.
    pub thread: String,
    /// Number of calls that had a choice. An order of fewer than two elements is not a choice.
    pub count: u64,
    /// Largest number of elements, or largest distance of the number from its base: see
    /// [`Choice::size`](crate::Choice::size).
    pub max_len: u64,
    /// Set of the [keys](crate::choice::key) from which orders were drawn. Each is one of 64 bits,
    /// by its hash. Empty in canonical order and at STD, where orders have no keys.
    pub keys: u64,
    /// Stack of the first call, innermost frame first, if the spec requests it.
    pub stack: Vec<Frame>,
}

json::object!(PointRecord { site, thread, count, max_len, keys = optional, stack = optional });

impl PointRecord {
    pub(super) fn merge(&mut self, other: PointRecord) {
        self.count += other.count;
        self.max_len = self.max_len.max(other.max_len);
        self.keys |= other.keys;
        if self.stack.is_empty() {
            self.stack = other.stack;
        }
    }
}

/// One choice of an order, with the data from which its orders are drawn: see
/// [`draw`](crate::choice::draw).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChoiceRecord {
    /// Hash of test, site and thread: see [`context::place`](crate::context::place).
    pub place: u64,
    /// Ordinal of the call at this place, from 0.
    pub ordinal: u64,
    /// Number of elements.
    pub len: u64,
    /// Value that its level considers, if any: the content at EQ, object and modification at ID.
    pub aspect: Option<u64>,
    /// For a reading of the environment, its relation to earlier readings.
    pub reading: Option<Reading>,
    /// For a reading of the environment, the number of variables that the process itself set. They
    /// follow the variables that it inherited.
    pub own: u64,
}

/// Relation of a reading of the environment to earlier readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// The thread's first reading, with the content that the process read first.
    First,
    /// A later reading of that content.
    Again,
    /// A reading of other content, after a variable was changed.
    Changed,
}

json::words!(Reading { First = "first", Again = "again", Changed = "changed" });

impl ChoiceRecord {
    /// Returns whether a run at `level` has the canonical order here, whatever the seed.
    ///
    /// STD shows that a process may inherit its environment in another order. ONE shows that
    /// another C library may put variables set by the process in other places. The other levels
    /// only determine which readings agree with each other, so a reading that agrees with all
    /// earlier ones does not vary.
    pub fn keeps_base(&self, level: Level) -> bool {
        match (self.reading, level) {
            (None, _) | (_, Level::Std) => false,
            (_, Level::One) => self.own == 0,
            (Some(Reading::First), _) => true,
            (Some(Reading::Again), _) => level != Level::Full,
            (Some(Reading::Changed), _) => false,
        }
    }
}

json::object!(ChoiceRecord {
    place as "p",
    ordinal as "o" = optional,
    len as "n",
    aspect as "a" = optional,
    reading as "r" = optional,
    own as "w" = optional,
});

/// Record of a call whose order or number was [given as
/// steps](crate::protocol::choices::GivenChoice::Steps).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// Call site.
    pub site: Site,
    /// Logical thread path.
    pub thread: String,
    /// Ordinal of the call among those of the thread at the site, from 0.
    pub ordinal: u64,
    /// Number of elements, or largest distance of the number from its base.
    pub len: u64,
    /// Number of steps to the order or number that was drawn.
    pub steps: u64,
    /// Current position of the first of the exchanged elements.
    pub position: u64,
    /// The two elements that the last step exchanged, in their current order. Empty in canonical
    /// order.
    pub exchanged: Vec<ElementRecord>,
    /// Stack of the collection's creation, innermost frame first. If the creation is not known, it
    /// is that of the insertion of the first element. Only for [traced](crate::RunSpec::trace)
    /// sites.
    pub created: Vec<Frame>,
    /// The number, if the choice is of a number.
    pub number: Option<NumberRecord>,
}

json::object!(StepRecord {
    site,
    thread,
    ordinal,
    len,
    steps,
    position,
    exchanged = optional,
    created = optional,
    number = optional,
});

/// A number that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRecord {
    /// Number that is used when the choice is turned off.
    pub base: u64,
    /// Number that was used.
    pub value: u64,
}

json::object!(NumberRecord { base, value });

/// An element of an ordered sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementRecord {
    /// Position in canonical order, from 0.
    pub rank: u64,
    /// For an element of a collection, the number of earlier insertions that are still present.
    pub index: Option<u64>,
    /// Name of a directory entry or variable.
    pub name: Option<String>,
    /// Stack of its insertion, innermost frame first. Only for [traced](crate::RunSpec::trace)
    /// sites.
    pub stack: Vec<Frame>,
}

json::object!(ElementRecord { rank, index = optional, name = optional, stack = optional });
