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

/// A hash set with the API of std's, whose order of iteration is decided by the run.
///
/// Where no run decides it, a set with std's [`RandomState`] iterates in insertion order, and a set
/// with any other hasher in the order that std's own set would have.
pub struct HashSet<T, S = RandomState> {
    store: Store<T, (), S>,
}

/// See [`HashSet::iter`](HashSet::iter). Lazy: an order is drawn only as far as it is consumed.
pub struct Iter<'a, K: 'a> {
    entries: Entries<'a, K, ()>,
}

/// See [`HashSet`'s `into_iter`](HashSet#method.into_iter).
pub struct IntoIter<K> {
    entries: IntoEntries<K, ()>,
}

/// See [`HashSet::drain`](HashSet::drain). Owns what it drains, so to leak it leaks only that.
pub struct Drain<'a, K: 'a> {
    entries: IntoEntries<K, ()>,
    set: PhantomData<&'a ()>,
}

/// See [`HashSet::extract_if`](HashSet::extract_if).
#[must_use = "iterators are lazy and do nothing unless consumed; \
    use `retain` to remove and discard elements"]
pub struct ExtractIf<'a, K, F> {
    extract: Extract<'a, K, ()>,
    pred: F,
}

/// See [`HashSet::symmetric_difference`].
#[must_use = "this returns the difference as an iterator, without modifying either input set"]
pub struct SymmetricDifference<'a, T: 'a, S: 'a> {
    joined: Joined<'a, T>,
    first: &'a HashSet<T, S>,
    second: &'a HashSet<T, S>,
}

/// See [`HashSet::union`].
#[must_use = "this returns the union as an iterator, without modifying either input set"]
pub struct Union<'a, T: 'a, S: 'a> {
    joined: Joined<'a, T>,
    first: &'a HashSet<T, S>,
}

/// See [`HashSet::intersection`].
#[must_use = "this returns the intersection as an iterator, without modifying either input set"]
pub struct Intersection<'a, T: 'a, S: 'a> {
    entries: Entries<'a, T, ()>,
    other: &'a HashSet<T, S>,
}

/// See [`HashSet::difference`].
#[must_use = "this returns the difference as an iterator, without modifying either input set"]
pub struct Difference<'a, T: 'a, S: 'a> {
    entries: Entries<'a, T, ()>,
    other: &'a HashSet<T, S>,
}

impl<T> HashSet<T, RandomState> {
    /// An empty set. Allocates nothing.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn new() -> HashSet<T, RandomState> {
        Default::default()
    }

    /// An empty set with room for at least `capacity` elements.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> HashSet<T, RandomState> {
        HashSet::with_capacity_and_hasher(capacity, Default::default())
    }
}

impl<T, S> HashSet<T, S> {
    /// An empty set that hashes with `hasher`.
    #[inline]
    #[track_caller]
    pub const fn with_hasher(hasher: S) -> HashSet<T, S> {
        HashSet { store: Store::set(hasher) }
    }

    /// An empty set with room for at least `capacity` elements that hashes with `hasher`.
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

    /// Takes all elements, in the decided order. The set is empty even if not all are consumed.
    #[inline]
    #[track_caller]
    pub fn drain(&mut self) -> Drain<'_, T> {
        Drain { entries: self.store.drain(&model::HASH_SET_DRAIN), set: PhantomData }
    }

    /// Visits the elements in the decided order as far as it is consumed, and takes those that
    /// `pred` accepts.
    #[cfg(nondex_std_extract_if)]
    #[inline]
    #[track_caller]
    pub fn extract_if<F>(&mut self, pred: F) -> ExtractIf<'_, T, F>
    where
        F: FnMut(&T) -> bool,
    {
        ExtractIf { extract: self.store.extract(&model::HASH_SET_EXTRACT_IF), pred }
    }

    /// Visits the elements in the decided order, and drops those that `f` does not accept.
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
    /// Visits what is in this set and not in `other`, in the decided order.
    #[inline]
    #[track_caller]
    pub fn difference<'a>(&'a self, other: &'a HashSet<T, S>) -> Difference<'a, T, S> {
        let entries = self.store.entries_with(&other.store, &model::HASH_SET_DIFFERENCE);
        Difference { entries, other }
    }

    /// Visits what is in one of the two sets only, in the decided order.
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

    /// Visits what is in both sets, in the decided order. As std, it walks the smaller set.
    #[inline]
    #[track_caller]
    pub fn intersection<'a>(&'a self, other: &'a HashSet<T, S>) -> Intersection<'a, T, S> {
        let (walked, asked) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        let entries = walked.store.entries_with(&asked.store, &model::HASH_SET_INTERSECTION);
        Intersection { entries, other: asked }
    }

    /// Visits what is in either set, once each, in the decided order. As std, it walks the larger
    /// set first.
    #[inline]
    #[track_caller]
    pub fn union<'a>(&'a self, other: &'a HashSet<T, S>) -> Union<'a, T, S> {
        let (first, second) = if self.len() >= other.len() { (self, other) } else { (other, self) };
        let model = &model::HASH_SET_UNION;
        Union { joined: Joined::new(&first.store, &second.store, model), first }
    }

    /// Whether an element is there.
    #[inline]
    pub fn contains<Q: ?Sized>(&self, value: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.find(value).is_some()
    }

    /// The element of the set that is equal to `value`.
    #[inline]
    pub fn get<Q: ?Sized>(&self, value: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
        Q: Hash + Eq,
    {
        let slot = self.store.find(value)?;
        Some(&self.store.slots.get(slot).0)
    }

    /// Whether the two sets have no element in common.
    #[track_caller]
    pub fn is_disjoint(&self, other: &HashSet<T, S>) -> bool {
        let (walked, asked) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        walked.compared().all(|v| !asked.contains(v))
    }

    /// Whether every element is in `other` too.
    #[track_caller]
    pub fn is_subset(&self, other: &HashSet<T, S>) -> bool {
        self.len() <= other.len() && self.compared().all(|v| other.contains(v))
    }

    /// Whether every element of `other` is in this set too.
    #[inline]
    #[track_caller]
    pub fn is_superset(&self, other: &HashSet<T, S>) -> bool {
        other.is_subset(self)
    }

    /// Adds an element; `false` when an equal one is there, which then stays.
    #[inline]
    pub fn insert(&mut self, value: T) -> bool {
        matches!(self.store.insert(value, ()), Inserted::Added)
    }

    /// Adds an element, and returns the equal one that was there.
    #[inline]
    pub fn replace(&mut self, value: T) -> Option<T> {
        match self.store.insert(value, ()) {
            Inserted::Added => None,
            Inserted::Present(slot, value, ()) => {
                Some(mem::replace(&mut self.store.slots.get_mut(slot).0, value))
            }
        }
    }

    /// Drops an element; `false` when it is not there.
    #[inline]
    pub fn remove<Q: ?Sized>(&mut self, value: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.remove(value).is_some()
    }

    /// Takes an element out.
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
    /// The elements in the order in which they are looked up in another set.
    #[track_caller]
    fn compared(&self) -> Iter<'_, T> {
        Iter { entries: self.store.compared() }
    }
}
