//! Mirror of std's `HashMap`.
#![expect(clippy::multiple_bound_locations, reason = "signatures are std's, word for word")]

mod entry;
mod into_iter;
mod iter;
mod iter_mut;
mod keyed;
mod traits;

use ::std::marker::PhantomData;

use nondex_core::model;

use super::extract::Extract;
use super::slots::{NewKey, Slots};
use super::store::Store;
use super::values::IntoEntries;
use super::visit::{Entries, EntriesMut};
use crate::hash::RandomState;

/// A hash map with the API of std's, whose order of iteration the run decides.
///
/// Outside a run, a map with std's [`RandomState`] iterates in insertion order. A map with any
/// other hasher iterates in the order of std's own map.
pub struct HashMap<K, V, S = RandomState> {
    store: Store<K, V, S>,
}

/// Iterator of [`HashMap::iter`](HashMap::iter). Lazy: draws an order only as far as it is
/// consumed.
pub struct Iter<'a, K: 'a, V: 'a> {
    entries: Entries<'a, K, V>,
}

/// Iterator of [`HashMap::keys`](HashMap::keys).
pub struct Keys<'a, K: 'a, V: 'a> {
    entries: Entries<'a, K, V>,
}

/// Iterator of [`HashMap::values`](HashMap::values).
pub struct Values<'a, K: 'a, V: 'a> {
    entries: Entries<'a, K, V>,
}

/// Iterator of [`HashMap::iter_mut`](HashMap::iter_mut).
pub struct IterMut<'a, K: 'a, V: 'a> {
    entries: EntriesMut<'a, K, V>,
}

/// Iterator of [`HashMap::values_mut`](HashMap::values_mut).
pub struct ValuesMut<'a, K: 'a, V: 'a> {
    entries: EntriesMut<'a, K, V>,
}

/// Iterator of [`HashMap`'s `into_iter`](HashMap#method.into_iter).
pub struct IntoIter<K, V> {
    entries: IntoEntries<K, V>,
}

/// Iterator of [`HashMap::into_keys`](HashMap::into_keys).
pub struct IntoKeys<K, V> {
    entries: IntoEntries<K, V>,
}

/// Iterator of [`HashMap::into_values`](HashMap::into_values).
pub struct IntoValues<K, V> {
    entries: IntoEntries<K, V>,
}

/// Iterator of [`HashMap::drain`](HashMap::drain). It owns the drained entries, so leaking it leaks
/// only these.
pub struct Drain<'a, K: 'a, V: 'a> {
    entries: IntoEntries<K, V>,
    map: PhantomData<&'a ()>,
}

/// Iterator of [`HashMap::extract_if`](HashMap::extract_if).
#[must_use = "iterators are lazy and do nothing unless consumed; \
    use `retain` to remove and discard elements"]
pub struct ExtractIf<'a, K, V, F> {
    extract: Extract<'a, K, V>,
    pred: F,
}

/// An entry of a key, present or not. See [`HashMap::entry`](HashMap::entry).
pub enum Entry<'a, K: 'a, V: 'a> {
    /// The key is present.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The key is not present.
    Vacant(VacantEntry<'a, K, V>),
}

/// An entry of a key that is present.
pub struct OccupiedEntry<'a, K: 'a, V: 'a> {
    slots: &'a mut Slots<K, V>,
    slot: u32,
    /// Bucket of the slot in the index.
    bucket: usize,
}

/// An entry of a key that is not present.
pub struct VacantEntry<'a, K: 'a, V: 'a> {
    /// Slots with room for this key.
    slots: &'a mut Slots<K, V>,
    new: NewKey,
    key: K,
}

impl<K, V> HashMap<K, V, RandomState> {
    /// Creates an empty map. Does not allocate.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn new() -> HashMap<K, V, RandomState> {
        Default::default()
    }

    /// Creates an empty map with room for at least `capacity` entries.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> HashMap<K, V, RandomState> {
        HashMap::with_capacity_and_hasher(capacity, Default::default())
    }
}

impl<K, V, S> HashMap<K, V, S> {
    /// Creates an empty map that hashes with `hash_builder`.
    #[inline]
    #[track_caller]
    pub const fn with_hasher(hash_builder: S) -> HashMap<K, V, S> {
        HashMap { store: Store::map(hash_builder) }
    }

    /// Creates an empty map with room for at least `capacity` entries that hashes with `hasher`.
    #[inline]
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> HashMap<K, V, S> {
        HashMap { store: Store::map_with_capacity(capacity, hasher) }
    }

    /// Visits the keys in the decided order.
    #[track_caller]
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys { entries: self.store.entries(&model::HASH_MAP_KEYS) }
    }

    /// Visits the keys, by value, in the decided order.
    #[inline]
    #[track_caller]
    pub fn into_keys(mut self) -> IntoKeys<K, V> {
        IntoKeys { entries: self.store.take_entries(&model::HASH_MAP_INTO_KEYS) }
    }

    /// Visits the values in the decided order.
    #[track_caller]
    pub fn values(&self) -> Values<'_, K, V> {
        Values { entries: self.store.entries(&model::HASH_MAP_VALUES) }
    }

    /// Visits the values, by mutable reference, in the decided order.
    #[track_caller]
    pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        ValuesMut { entries: self.store.entries_mut(&model::HASH_MAP_VALUES_MUT) }
    }

    /// Visits the values, by value, in the decided order.
    #[inline]
    #[track_caller]
    pub fn into_values(mut self) -> IntoValues<K, V> {
        IntoValues { entries: self.store.take_entries(&model::HASH_MAP_INTO_VALUES) }
    }

    /// Visits the entries in the decided order.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { entries: self.store.entries(&model::HASH_MAP_ITER) }
    }

    /// Visits the entries, with mutable values, in the decided order.
    #[track_caller]
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut { entries: self.store.entries_mut(&model::HASH_MAP_ITER_MUT) }
    }

    /// Takes out all entries, in the decided order. The map is empty even if not all are consumed.
    #[inline]
    #[track_caller]
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain { entries: self.store.drain(&model::HASH_MAP_DRAIN), map: PhantomData }
    }

    /// Visits the entries in the decided order as far as the iterator is consumed, and takes out
    /// those that `pred` accepts.
    #[cfg(nondex_std_extract_if)]
    #[inline]
    #[track_caller]
    pub fn extract_if<F>(&mut self, pred: F) -> ExtractIf<'_, K, V, F>
    where
        F: FnMut(&K, &mut V) -> bool,
    {
        ExtractIf { extract: self.store.extract(&model::HASH_MAP_EXTRACT_IF), pred }
    }

    /// Visits the entries in the decided order, and drops those that `f` rejects.
    #[inline]
    #[track_caller]
    pub fn retain<F>(&mut self, f: F)
    where
        F: FnMut(&K, &mut V) -> bool,
    {
        self.store.retain(&model::HASH_MAP_RETAIN, f);
    }
}

room!(HashMap<K, V>);
