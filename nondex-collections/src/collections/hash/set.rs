//! Mirror of std's `HashSet`.
#![expect(clippy::multiple_bound_locations, reason = "signatures are std's, word for word")]

mod into_iter;
mod iter;
mod operations;
mod operators;
mod traits;

use ::std::borrow::Borrow;
use ::std::hash::{BuildHasher, Hash};
use ::std::marker::PhantomData;
use ::std::mem;

use nondex_core::model;

use super::extract::Extract;
use super::joined::Joined;
use super::slots::Inserted;
use super::store::Store;
use super::values::IntoEntries;
use super::visit::Entries;
use crate::hash::RandomState;

/// A hash set with the API of std's, whose order of iteration the run decides.
///
/// Outside a run, a set with std's [`RandomState`] iterates in insertion order. A set with any
/// other hasher iterates in the order of std's own set.
pub struct HashSet<T, S = RandomState> {
    store: Store<T, (), S>,
}

/// Iterator of [`HashSet::iter`](HashSet::iter). Lazy: draws an order only as far as it is
/// consumed.
pub struct Iter<'a, K: 'a> {
    entries: Entries<'a, K, ()>,
}

/// Iterator of [`HashSet`'s `into_iter`](HashSet#method.into_iter).
pub struct IntoIter<K> {
    entries: IntoEntries<K, ()>,
}

/// Iterator of [`HashSet::drain`](HashSet::drain). It owns the drained elements, so leaking it
/// leaks only these.
pub struct Drain<'a, K: 'a> {
    entries: IntoEntries<K, ()>,
    set: PhantomData<&'a ()>,
}

/// Iterator of [`HashSet::extract_if`](HashSet::extract_if).
#[must_use = "iterators are lazy and do nothing unless consumed; \
    use `retain` to remove and discard elements"]
pub struct ExtractIf<'a, K, F> {
    extract: Extract<'a, K, ()>,
    pred: F,
}

/// Iterator of [`HashSet::symmetric_difference`].
#[must_use = "this returns the difference as an iterator, without modifying either input set"]
pub struct SymmetricDifference<'a, T: 'a, S: 'a> {
    joined: Joined<'a, T>,
    first: &'a HashSet<T, S>,
    second: &'a HashSet<T, S>,
}

/// Iterator of [`HashSet::union`].
#[must_use = "this returns the union as an iterator, without modifying either input set"]
pub struct Union<'a, T: 'a, S: 'a> {
    joined: Joined<'a, T>,
    first: &'a HashSet<T, S>,
}

/// Iterator of [`HashSet::intersection`].
#[must_use = "this returns the intersection as an iterator, without modifying either input set"]
pub struct Intersection<'a, T: 'a, S: 'a> {
    entries: Entries<'a, T, ()>,
    other: &'a HashSet<T, S>,
}

/// Iterator of [`HashSet::difference`].
#[must_use = "this returns the difference as an iterator, without modifying either input set"]
pub struct Difference<'a, T: 'a, S: 'a> {
    entries: Entries<'a, T, ()>,
    other: &'a HashSet<T, S>,
}

impl<T> HashSet<T, RandomState> {
    /// Creates an empty set. Does not allocate.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn new() -> HashSet<T, RandomState> {
        Default::default()
    }

    /// Creates an empty set with room for at least `capacity` elements.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> HashSet<T, RandomState> {
        HashSet::with_capacity_and_hasher(capacity, Default::default())
    }
}

impl<T, S> HashSet<T, S> {
    /// Creates an empty set that hashes with `hasher`.
    #[inline]
    #[track_caller]
    pub const fn with_hasher(hasher: S) -> HashSet<T, S> {
        HashSet { store: Store::set(hasher) }
    }

    /// Creates an empty set with room for at least `capacity` elements that hashes with `hasher`.
    #[inline]
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> HashSet<T, S> {
        HashSet { store: Store::set_with_capacity(capacity, hasher) }
    }

    /// Visits the elements in the decided order.
    #[inline]
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { entries: self.store.entries(&model::HASH_SET_ITER) }
    }

    /// Takes out all elements, in the decided order. The set is empty even if not all are consumed.
    #[inline]
    #[track_caller]
    pub fn drain(&mut self) -> Drain<'_, T> {
        Drain { entries: self.store.drain(&model::HASH_SET_DRAIN), set: PhantomData }
    }

    /// Visits the elements in the decided order as far as the iterator is consumed, and takes out
    /// those that `pred` accepts.
    #[cfg(nondex_std_extract_if)]
    #[inline]
    #[track_caller]
    pub fn extract_if<F>(&mut self, pred: F) -> ExtractIf<'_, T, F>
    where
        F: FnMut(&T) -> bool,
    {
        ExtractIf { extract: self.store.extract(&model::HASH_SET_EXTRACT_IF), pred }
    }

    /// Visits the elements in the decided order, and drops those that `f` rejects.
    #[track_caller]
    pub fn retain<F>(&mut self, mut f: F)
    where
        F: FnMut(&T) -> bool,
    {
        self.store.retain(&model::HASH_SET_RETAIN, |element, ()| f(element));
    }
}

room!(HashSet<T>);

impl<T, S> HashSet<T, S>
where
    T: Eq + Hash,
    S: BuildHasher,
{
    /// Visits the elements of this set that are not in `other`, in the decided order.
    #[inline]
    #[track_caller]
    pub fn difference<'a>(&'a self, other: &'a HashSet<T, S>) -> Difference<'a, T, S> {
        let entries = self.store.entries_with(&other.store, &model::HASH_SET_DIFFERENCE);
        Difference { entries, other }
    }

    /// Visits the elements that are in exactly one of the two sets, in the decided order.
    #[inline]
    #[track_caller]
    pub fn symmetric_difference<'a>(
        &'a self,
        other: &'a HashSet<T, S>,
    ) -> SymmetricDifference<'a, T, S> {
        let model = &model::HASH_SET_SYMMETRIC_DIFFERENCE;
        SymmetricDifference {
            joined: Joined::new(&self.store, &other.store, model),
            first: self,
            second: other,
        }
    }

    /// Visits the elements that are in both sets, in the decided order. As in std, it walks the
    /// smaller set.
    #[inline]
    #[track_caller]
    pub fn intersection<'a>(&'a self, other: &'a HashSet<T, S>) -> Intersection<'a, T, S> {
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        let entries = small.store.entries_with(&large.store, &model::HASH_SET_INTERSECTION);
        Intersection { entries, other: large }
    }

    /// Visits the elements that are in either set, once each, in the decided order. As in std, it
    /// walks the larger set first.
    #[inline]
    #[track_caller]
    pub fn union<'a>(&'a self, other: &'a HashSet<T, S>) -> Union<'a, T, S> {
        let (first, second) = if self.len() >= other.len() { (self, other) } else { (other, self) };
        let model = &model::HASH_SET_UNION;
        Union { joined: Joined::new(&first.store, &second.store, model), first }
    }

    /// Returns whether an element is present.
    #[inline]
    pub fn contains<Q: ?Sized>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.find(value).is_some()
    }

    /// Returns the element of the set that is equal to `value`.
    #[inline]
    pub fn get<Q: ?Sized>(&self, value: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
        Q: Hash + Eq,
    {
        let slot = self.store.find(value)?;
        Some(&self.store.slots.get(slot).0)
    }

    /// Returns whether the two sets have no element in common.
    #[track_caller]
    pub fn is_disjoint(&self, other: &HashSet<T, S>) -> bool {
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        small.compared().all(|v| !large.contains(v))
    }

    /// Returns whether every element is in `other` too.
    #[track_caller]
    pub fn is_subset(&self, other: &HashSet<T, S>) -> bool {
        self.len() <= other.len() && self.compared().all(|v| other.contains(v))
    }

    /// Returns whether every element of `other` is in this set too.
    #[inline]
    #[track_caller]
    pub fn is_superset(&self, other: &HashSet<T, S>) -> bool {
        other.is_subset(self)
    }

    /// Adds an element. Returns false, and keeps the present element, if an equal one is present.
    #[inline]
    pub fn insert(&mut self, value: T) -> bool {
        matches!(self.store.insert(value, ()), Inserted::Added)
    }

    /// Adds an element, and returns the equal one that was present.
    #[inline]
    pub fn replace(&mut self, value: T) -> Option<T> {
        match self.store.insert(value, ()) {
            Inserted::Added => None,
            Inserted::Present(slot, value, ()) => {
                Some(mem::replace(&mut self.store.slots.get_mut(slot).0, value))
            }
        }
    }

    /// Drops an element. Returns false if it is not present.
    #[inline]
    pub fn remove<Q: ?Sized>(&mut self, value: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.remove(value).is_some()
    }

    /// Takes out an element.
    #[inline]
    pub fn take<Q: ?Sized>(&mut self, value: &Q) -> Option<T>
    where
        T: Borrow<Q>,
        Q: Hash + Eq,
    {
        Some(self.store.remove(value)?.0)
    }
}

impl<T, S> HashSet<T, S> {
    /// Returns the elements in the order in which a comparison looks them up in another set.
    #[track_caller]
    fn compared(&self) -> Iter<'_, T> {
        Iter { entries: self.store.compared() }
    }
}
