//! The slots of a collection in the decided order.

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
    /// In ascending order.
    Range(Range<u32>),
    /// As drawn.
    Drawn(Permutation),
    /// In the order of std's table.
    Table(hash_table::Iter<'a, u32>),
    /// As listed, starting at a position.
    Listed(Vec<u32>, usize),
    /// As drawn from a list.
    Ranked(Box<Ranked>),
    /// In the order of insertion, or its reverse, after removals.
    Trail(Walk<'a>),
    /// In an order by content. It is not boxed: a destructor that might use the borrow would keep
    /// the collection borrowed until the iterator is dropped. A loop that removes the result of
    /// `keys().next()` would then not compile.
    Content(ByContent<'a>),
}

/// Sequence of slots, each at most once, that does not borrow the collection.
pub(super) type Order = Visit<'static>;

/// A lazily drawn permutation of listed slots.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    permutation: Permutation,
    slots: Vec<u32>,
}

/// Maximum length up to which an order of listed slots is created at once.
pub(super) const AT_ONCE: usize = 16;

impl Visit<'_> {
    /// Lists all slots.
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

    /// Returns the same order without borrowing the collection.
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
    /// Order without slots.
    pub(super) const NONE: Self = Visit::Range(0..0);

    /// Returns the slots of a list in the order of a permutation of their ranks.
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

    /// Returns the next slot. It is not inlined, so that loops over a [`Visit`] have room for the
    /// more common orders.
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
