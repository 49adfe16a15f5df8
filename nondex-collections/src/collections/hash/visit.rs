//! Iterators over entries in the decided order: by reference, by unique reference, and by value.

use ::std::{slice, vec};

use hashbrown::hash_table;

use super::order::{Order, Plan};
use super::slots::{Bucket, Slot, Slots};

/// Entries by reference. Draws an order only as far as it is consumed.
#[derive(Debug)]
pub(super) struct Entries<'a, K, V> {
    visit: Visit<'a, K, V>,
    left: usize,
}

#[derive(Debug)]
enum Visit<'a, K, V> {
    Insertion(slice::Iter<'a, Slot<K, V>>),
    Table(&'a [Slot<K, V>], hash_table::Iter<'a, usize>),
    Other(&'a [Slot<K, V>], Order),
}

impl<'a, K, V> Entries<'a, K, V> {
    pub(super) fn new(slots: &'a Slots<K, V>, plan: Plan) -> Self {
        Entries {
            left: slots.len(),
            visit: match plan {
                Plan::Insertion => Visit::Insertion(slots.as_slice().iter()),
                Plan::Table => Visit::Table(slots.all(), slots.table()),
                Plan::Other(order) => Visit::Other(slots.all(), order),
            },
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(&'a K, &'a V)> {
        let bucket = match &mut self.visit {
            Visit::Insertion(slots) => slots.find_map(Option::as_ref)?,
            Visit::Table(slots, table) => slots[*table.next()?].as_ref()?,
            Visit::Other(slots, order) => slots[order.next()?].as_ref()?,
        };
        self.left -= 1;
        Some(pair(bucket))
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.left
    }

    #[inline]
    pub(super) fn fold<B>(self, init: B, mut f: impl FnMut(B, (&'a K, &'a V)) -> B) -> B {
        let mut f = |acc, slot: &'a Slot<K, V>| match slot {
            Some(bucket) => f(acc, pair(bucket)),
            None => acc,
        };
        match self.visit {
            Visit::Insertion(slots) => slots.fold(init, f),
            Visit::Table(slots, table) => table.fold(init, |acc, &slot| f(acc, &slots[slot])),
            Visit::Other(slots, order) => order.fold(init, |acc, slot| f(acc, &slots[slot])),
        }
    }
}

#[inline]
const fn pair<K, V>(bucket: &Bucket<K, V>) -> (&K, &V) {
    (&bucket.key, &bucket.value)
}

impl<K, V> Clone for Entries<'_, K, V> {
    fn clone(&self) -> Self {
        Entries {
            left: self.left,
            visit: match &self.visit {
                Visit::Insertion(slots) => Visit::Insertion(slots.clone()),
                Visit::Table(slots, table) => Visit::Table(slots, table.clone()),
                Visit::Other(slots, order) => Visit::Other(slots, order.clone()),
            },
        }
    }
}

impl<K, V> Default for Entries<'_, K, V> {
    fn default() -> Self {
        Entries {
            visit: Visit::Insertion([].iter()),
            left: 0,
        }
    }
}

/// Entries whose values may be changed. An order other than insertion order is set up in O(n): references are listed
/// by slot, and taken from there.
#[derive(Debug)]
pub(super) struct EntriesMut<'a, K, V> {
    visit: VisitMut<'a, K, V>,
    left: usize,
}

#[derive(Debug)]
enum VisitMut<'a, K, V> {
    Insertion(slice::IterMut<'a, Slot<K, V>>),
    // Unique references to the keys as well: with shared ones, to send the iterator would need `K: Sync`.
    Other(Box<[Option<&'a mut Bucket<K, V>>]>, Order),
}

impl<'a, K, V> EntriesMut<'a, K, V> {
    pub(super) fn new(slots: &'a mut Slots<K, V>, plan: Plan) -> Self {
        let left = slots.len();
        let visit = match plan {
            Plan::Insertion => VisitMut::Insertion(slots.as_mut_slice().iter_mut()),
            plan => {
                let order = slots.order(plan);
                let slots = slots.all_mut().iter_mut();
                VisitMut::Other(slots.map(Option::as_mut).collect(), order)
            }
        };
        EntriesMut { visit, left }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(&'a K, &'a mut V)> {
        let pair = match &mut self.visit {
            VisitMut::Insertion(slots) => pair_mut(slots.find_map(Option::as_mut)?),
            VisitMut::Other(slots, order) => pair_mut(slots[order.next()?].take()?),
        };
        self.left -= 1;
        Some(pair)
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.left
    }

    #[inline]
    pub(super) fn fold<B>(self, init: B, mut f: impl FnMut(B, (&'a K, &'a mut V)) -> B) -> B {
        match self.visit {
            VisitMut::Insertion(slots) => slots.fold(init, |acc, slot| match slot {
                Some(bucket) => f(acc, pair_mut(bucket)),
                None => acc,
            }),
            VisitMut::Other(mut slots, order) => {
                order.fold(init, |acc, slot| match slots[slot].take() {
                    Some(bucket) => f(acc, pair_mut(bucket)),
                    None => acc,
                })
            }
        }
    }

    /// Shows what is left, in order.
    pub(super) fn peek(&self, mut f: impl FnMut(&K, &V)) {
        match &self.visit {
            VisitMut::Insertion(slots) => {
                for bucket in slots.as_slice().iter().flatten() {
                    f(&bucket.key, &bucket.value);
                }
            }
            VisitMut::Other(slots, order) => {
                for bucket in order.clone().filter_map(|slot| slots[slot].as_ref()) {
                    f(&bucket.key, &bucket.value);
                }
            }
        }
    }
}

#[inline]
const fn pair_mut<K, V>(bucket: &mut Bucket<K, V>) -> (&K, &mut V) {
    (&bucket.key, &mut bucket.value)
}

impl<K, V> Default for EntriesMut<'_, K, V> {
    fn default() -> Self {
        EntriesMut {
            visit: VisitMut::Insertion([].iter_mut()),
            left: 0,
        }
    }
}

/// Entries by value; those that are not consumed are dropped with it.
#[derive(Debug)]
pub(super) struct IntoEntries<K, V> {
    visit: IntoVisit<K, V>,
    left: usize,
}

#[derive(Debug)]
enum IntoVisit<K, V> {
    Insertion(vec::IntoIter<Slot<K, V>>),
    Other(Vec<Slot<K, V>>, Order),
}

impl<K, V> IntoEntries<K, V> {
    /// Leaves `slots` empty.
    pub(super) fn new(slots: &mut Slots<K, V>, plan: Plan) -> Self {
        let left = slots.len();
        let visit = match plan {
            Plan::Insertion => IntoVisit::Insertion(slots.take().into_iter()),
            plan => {
                let order = slots.order(plan);
                IntoVisit::Other(slots.take(), order)
            }
        };
        IntoEntries { visit, left }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(K, V)> {
        let bucket = match &mut self.visit {
            IntoVisit::Insertion(slots) => slots.find_map(|slot| slot)?,
            IntoVisit::Other(slots, order) => slots[order.next()?].take()?,
        };
        self.left -= 1;
        Some((bucket.key, bucket.value))
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.left
    }

    #[inline]
    pub(super) fn fold<B>(self, init: B, mut f: impl FnMut(B, (K, V)) -> B) -> B {
        let mut f = |acc, slot: Slot<K, V>| match slot {
            Some(bucket) => f(acc, (bucket.key, bucket.value)),
            None => acc,
        };
        match self.visit {
            IntoVisit::Insertion(slots) => slots.fold(init, f),
            IntoVisit::Other(mut slots, order) => {
                order.fold(init, |acc, slot| f(acc, slots[slot].take()))
            }
        }
    }

    /// Shows what is left, in order.
    pub(super) fn peek(&self, mut f: impl FnMut(&K, &V)) {
        let mut f = |slot: &Slot<K, V>| {
            if let Some(bucket) = slot {
                f(&bucket.key, &bucket.value);
            }
        };
        match &self.visit {
            IntoVisit::Insertion(slots) => slots.as_slice().iter().for_each(f),
            IntoVisit::Other(slots, order) => order.clone().for_each(|slot| f(&slots[slot])),
        }
    }
}

impl<K, V> Default for IntoEntries<K, V> {
    fn default() -> Self {
        IntoEntries {
            visit: IntoVisit::Insertion(Vec::new().into_iter()),
            left: 0,
        }
    }
}
