//! The choices that a run reached: points, single choices, and calls whose choice was given.

use crate::catalogue::Level;
use crate::json;

use super::site::{Frame, Site};

/// How often one thread made choices at one site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointRecord {
    /// The call site.
    pub site: Site,
    /// The logical thread path: `0` is the test's own thread, `0.1` the second thread it started,
    /// `0/1` the main thread of the second process it started; `?` a thread that was not seen to
    /// start.
    pub thread: String,
    /// How many calls there had a choice: of an order only those with two elements or more.
    pub count: u64,
    /// The largest number of elements, or how far the number may be from its base: see
    /// [`Choice::size`](crate::Choice::size).
    pub max_len: u64,
    /// The stack of the first call, innermost frame first, when the spec asked for it.
    pub stack: Vec<Frame>,
}

json::object!(PointRecord { site, thread, count, max_len, stack = optional });

impl PointRecord {
    pub(super) fn merge(&mut self, other: PointRecord) {
        self.count += other.count;
        self.max_len = self.max_len.max(other.max_len);
        if self.stack.is_empty() {
            self.stack = other.stack;
        }
    }
}

/// One choice of an order, with what its orders are drawn from: see [`draw`](crate::choice::draw).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChoiceRecord {
    /// A hash of test, site and thread: see [`context::place`](crate::context::place).
    pub place: u64,
    /// Which call at this place it was, from 0.
    pub ordinal: u64,
    /// How many elements.
    pub len: u64,
    /// What its level looked at, if it did: the content at EQ, object and modification at ID.
    pub aspect: Option<u64>,
    /// Of a reading of the environment: how it follows others.
    pub reading: Option<Reading>,
    /// Of a reading of the environment: how many variables the process itself has set, after those
    /// that it was given.
    pub own: u64,
}

/// How one reading of the environment follows others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// The thread's first one, of what the process read first.
    First,
    /// Another one of that.
    Again,
    /// One of something else, after a variable was changed.
    Changed,
}

json::words!(Reading { First = "first", Again = "again", Changed = "changed" });

impl ChoiceRecord {
    /// Whether a run at `level` has the canonical order here, whatever the seed. That a process is
    /// given the environment in another order is what STD shows, and ONE that another C library may
    /// put what the process sets at another place. Beyond that a level only determines which
    /// readings agree with each other, so one that agrees with all before has nothing to vary.
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

/// A call whose order or number was [given as steps](crate::protocol::choices::GivenChoice::Steps).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// The call site.
    pub site: Site,
    /// The logical thread path.
    pub thread: String,
    /// Which call of the thread at the site, from 0.
    pub ordinal: u64,
    /// How many elements, or how far the number may be from its base.
    pub len: u64,
    /// How many steps there are to the order or the number that was drawn.
    pub steps: u64,
    /// The position that the first of the exchanged elements has now.
    pub position: u64,
    /// The two elements that the last step exchanged, in the order they have now. None in base
    /// order.
    pub exchanged: Vec<ElementRecord>,
    /// Where the collection is from, innermost frame first: where it was created or, when that is
    /// not known, where its first element was inserted. Only for sites to be
    /// [traced](crate::RunSpec::trace).
    pub created: Vec<Frame>,
    /// Of a number, what it is.
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
    /// What it is when it is turned off.
    pub base: u64,
    /// What it was.
    pub value: u64,
}

json::object!(NumberRecord { base, value });

/// An element of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementRecord {
    /// Its position in canonical order, from 0.
    pub rank: u64,
    /// How many elements were inserted before it that are still there, for a collection.
    pub index: Option<u64>,
    /// Its name, for entries of a directory and variables.
    pub name: Option<String>,
    /// Where it was inserted, innermost frame first. Only for sites to be
    /// [traced](crate::RunSpec::trace).
    pub stack: Vec<Frame>,
}

json::object!(ElementRecord { rank, index = optional, name = optional, stack = optional });
