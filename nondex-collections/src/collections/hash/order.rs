//! Slots in the order that was decided.

use ::std::ops::Range;

use hashbrown::hash_table;
use nondex_core::Permutation;

use super::contents::ByContent;
use super::trail::Walk;
use nondex_core::hidden::{self, Box, Vec};

/// All slots of a collection, each once, in the order of one visit. Draws an order only as far as
/// it is consumed.
#[derive(Clone, Debug)]
pub(super) enum Visit<'a> {
    /// From first to last.
    Range(Range<u32>),
    /// As drawn.
    Drawn(Permutation),
    /// The order of std's table.
    Table(hash_table::Iter<'a, u32>),
    /// As listed, from a position on.
    Listed(Vec<u32>, usize),
    /// As drawn from a list.
    Ranked(Box<Ranked>),
    /// The order of insertion, or its reverse, after removals.
    Trail(Walk<'a>),
    /// An order by content. Not in a box: one whose destructor might look at the loan would keep
    /// the collection borrowed until the iterator is dropped, and a loop that removes what
    /// `keys().next()` gives would not compile.
    Content(ByContent<'a>),
}

/// A sequence of slots, each at most once, that needs nothing of the collection.
pub(super) type Order = Visit<'static>;

/// A permutation that is drawn as far as it is looked at, of slots that are listed.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    permutation: Permutation,
    slots: Vec<u32>,
}

/// Up to this length an order of listed slots is made at once.
pub(super) const AT_ONCE: usize = 16;

impl Visit<'_> {
    /// All slots one by one.
    pub(super) fn list(self) -> Vec<u32> {
        match self {
            Visit::Listed(slots, 0) => slots,
            Visit::Table(table) => hidden::collect(table.copied()),
            visit => {
                let mut slots = hidden::vec();
                visit.for_each(|slot| slots.push(slot));
                slots
            }
        }
    }

    /// The same order without a loan of the collection.
    pub(super) fn own(self) -> Order {
        match self {
            Visit::Range(slots) => Visit::Range(slots),
            Visit::Drawn(permutation) => Visit::Drawn(permutation),
            Visit::Listed(slots, at) => Visit::Listed(slots, at),
            Visit::Ranked(ranked) => Visit::Ranked(ranked),
            visit => Visit::Listed(visit.list(), 0),
        }
    }
}

impl Order {
    /// No slot.
    pub(super) const NONE: Self = Visit::Range(0..0);

    /// The slots of a list in the order of a permutation of their ranks.
    pub(super) fn ranked(permutation: Permutation, slots: &[u32]) -> Self {
        if slots.len() <= AT_ONCE {
            return Visit::Drawn(Permutation::listed(permutation.map(|rank| slots[rank])));
        }
        let slots = hidden::collect(slots.iter().copied());
        Visit::Ranked(hidden::boxed(Ranked { permutation, slots }))
    }
}

impl Iterator for Ranked {
    type Item = u32;

    /// Not in line: a loop over a [`Visit`] has room for the commoner orders.
    fn next(&mut self) -> Option<u32> {
        self.permutation.next().map(|rank| self.slots[rank])
    }
}

impl Iterator for Visit<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Visit::Range(slots) => slots.next(),
            Visit::Drawn(permutation) => permutation.next().map(|slot| slot as u32),
            Visit::Table(table) => table.next().copied(),
            Visit::Listed(slots, at) => {
                let slot = slots.get(*at).copied();
                *at += 1;
                slot
            }
            Visit::Ranked(ranked) => ranked.next(),
            Visit::Trail(walk) => walk.next(),
            Visit::Content(by_content) => by_content.next(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, u32) -> B>(self, init: B, mut f: F) -> B {
        match self {
            Visit::Range(slots) => slots.fold(init, f),
            Visit::Drawn(permutation) => permutation.fold(init, |acc, slot| f(acc, slot as u32)),
            Visit::Table(table) => table.fold(init, |acc, &slot| f(acc, slot)),
            Visit::Listed(slots, at) => {
                slots.get(at..).unwrap_or_default().iter().copied().fold(init, f)
            }
            Visit::Ranked(ranked) => {
                let Ranked { permutation, slots } = Box::into_inner(ranked);
                permutation.fold(init, |acc, rank| f(acc, slots[rank]))
            }
            Visit::Trail(walk) => walk.fold(init, f),
            Visit::Content(by_content) => by_content.fold(init, f),
        }
    }
}
