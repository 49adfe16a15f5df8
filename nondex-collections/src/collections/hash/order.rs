//! Slots in the order that was decided.

use ::std::ops::Range;
use ::std::vec;

use nondex_core::Permutation;

/// How one call visits a collection. The two orders that are there anyway are not written out.
#[derive(Debug)]
pub(super) enum Plan {
    /// In insertion order: the slots from first to last.
    Insertion,
    /// In the order of std's table: as the index has them.
    Table,
    /// In another order.
    Other(Order),
}

/// A sequence of slots.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// From first to last. Free slots are in it.
    Scan(Range<usize>),
    /// As listed. Every slot is in use.
    Listed(vec::IntoIter<usize>),
    /// As drawn. Every slot is in use.
    Drawn(Permutation),
    /// As drawn from a list. Every slot is in use.
    Ranked(Box<Ranked>),
}

/// A permutation that is drawn as far as it is looked at, of slots that are listed.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    permutation: Permutation,
    slots: Box<[usize]>,
}

/// The slot of each rank in the order that is permuted.
#[derive(Clone, Debug)]
pub(super) enum Ranks {
    /// No slot is free: rank and slot are the same.
    Dense,
    /// One by one.
    Listed(Box<[usize]>),
}

impl Order {
    pub(super) fn listed(slots: Vec<usize>) -> Self {
        Order::Listed(slots.into_iter())
    }

    pub(super) fn drawn(permutation: Permutation, ranks: Ranks) -> Self {
        match ranks {
            Ranks::Dense => Order::Drawn(permutation),
            Ranks::Listed(slots) => Order::Ranked(Box::new(Ranked { permutation, slots })),
        }
    }
}

impl Iterator for Ranked {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.permutation.next().map(|rank| self.slots[rank])
    }
}

impl Iterator for Order {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match self {
            Order::Scan(slots) => slots.next(),
            Order::Listed(slots) => slots.next(),
            Order::Drawn(permutation) => permutation.next(),
            Order::Ranked(ranked) => ranked.next(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, usize) -> B>(self, init: B, f: F) -> B {
        match self {
            Order::Scan(slots) => slots.fold(init, f),
            Order::Listed(slots) => slots.fold(init, f),
            Order::Drawn(permutation) => permutation.fold(init, f),
            Order::Ranked(ranked) => ranked.fold(init, f),
        }
    }
}
