//! Slots in the order that was decided.

use ::std::ops::Range;

use hashbrown::hash_table;
use nondex_core::Permutation;

use super::contents::ByContent;
use super::trail::Walk;
use nondex_core::hidden::{self, Box, Vec};

/// All slots of a collection, each once, in the order of one visit. Draws an order only as far as it is consumed.
#[derive(Clone, Debug)]
pub(super) enum Visit<'a> {
    /// An order that needs nothing of the collection.
    Own(Order),
    /// The order of std's table.
    Table(hash_table::Iter<'a, u32>),
    /// The order of insertion, or its reverse, after removals.
    Trail(Walk<'a>),
    /// An order by content. Not in a box: one whose destructor might look at the loan would keep the collection borrowed until
    /// the iterator is dropped, and a loop that removes what `keys().next()` gives would not compile.
    Content(ByContent<'a>),
}

/// A sequence of slots, each at most once.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// From first to last.
    Range(Range<u32>),
    /// As listed, from a position on.
    Listed(Vec<u32>, usize),
    /// As drawn.
    Drawn(Permutation),
    /// As drawn from a list.
    Ranked(Box<Ranked>),
}

/// A permutation that is drawn as far as it is looked at, of slots that are listed.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    permutation: Permutation,
    slots: Vec<u32>,
}

/// Up to this length an order of listed slots is made at once.
pub(super) const AT_ONCE: usize = 16;

impl Visit<'_> {
    /// No slot.
    pub(super) const NONE: Self = Visit::Own(Order::NONE);

    /// All slots one by one.
    pub(super) fn list(self) -> Vec<u32> {
        match self {
            Visit::Own(Order::Listed(slots, 0)) => slots,
            Visit::Table(table) => hidden::collect(table.copied()),
            visit => hidden::collect(visit),
        }
    }

    /// The same order without a loan of the collection.
    pub(super) fn own(self) -> Order {
        match self {
            Visit::Own(order) => order,
            visit => Order::Listed(visit.list(), 0),
        }
    }
}

impl Order {
    /// No slot.
    pub(super) const NONE: Self = Order::Range(0..0);

    /// The slots of a list in the order of a permutation of their ranks.
    pub(super) fn ranked(permutation: Permutation, slots: &[u32]) -> Self {
        if slots.len() <= AT_ONCE {
            return Order::Drawn(Permutation::listed(permutation.map(|rank| slots[rank])));
        }
        let slots = hidden::collect(slots.iter().copied());
        Order::Ranked(hidden::boxed(Ranked { permutation, slots }))
    }
}

impl Iterator for Ranked {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.permutation.next().map(|rank| self.slots[rank])
    }
}

impl Iterator for Order {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Order::Range(slots) => slots.next(),
            Order::Listed(slots, at) => {
                let slot = slots.get(*at).copied();
                *at += 1;
                slot
            }
            Order::Drawn(permutation) => permutation.next().map(|slot| slot as u32),
            Order::Ranked(ranked) => ranked.next(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, u32) -> B>(self, init: B, mut f: F) -> B {
        match self {
            Order::Range(slots) => slots.fold(init, f),
            Order::Listed(slots, at) => {
                let rest = slots.get(at..).unwrap_or_default();
                rest.iter().copied().fold(init, f)
            }
            Order::Drawn(permutation) => permutation.fold(init, |acc, slot| f(acc, slot as u32)),
            Order::Ranked(ranked) => {
                let Ranked { permutation, slots } = Box::into_inner(ranked);
                permutation.fold(init, |acc, rank| f(acc, slots[rank]))
            }
        }
    }
}

impl Iterator for Visit<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Visit::Own(order) => order.next(),
            Visit::Table(table) => table.next().copied(),
            Visit::Trail(walk) => walk.next(),
            Visit::Content(by_content) => by_content.next(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, u32) -> B>(self, init: B, mut f: F) -> B {
        match self {
            Visit::Own(order) => order.fold(init, f),
            Visit::Table(table) => table.fold(init, |acc, &slot| f(acc, slot)),
            Visit::Trail(walk) => walk.fold(init, f),
            Visit::Content(by_content) => by_content.fold(init, f),
        }
    }
}
