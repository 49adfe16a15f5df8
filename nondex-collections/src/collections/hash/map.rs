//! Mirror of std's `HashMap`.
#![expect(
    clippy::multiple_bound_locations,
    reason = "signatures are std's, word for word"
)]

mod entry;
mod into_iter;
mod iter;
mod iter_mut;
mod traits;

use ::std::borrow::Borrow;
use ::std::collections::TryReserveError;
use ::std::hash::{BuildHasher, Hash};
use ::std::mem;

use nondex_core::model;

pub use self::entry::{Entry, OccupiedEntry, VacantEntry};
pub use self::into_iter::{Drain, ExtractIf, IntoIter, IntoKeys, IntoValues};
pub use self::iter::{Iter, Keys, Values};
pub use self::iter_mut::{IterMut, ValuesMut};
use super::slots::{Inserted, Slots};
use super::store::Store;
use crate::hash::RandomState;

/// A hash map with the API of std's, whose order of iteration is decided by the run.
///
/// Where no run decides it, a map with std's [`RandomState`] iterates in insertion order, and a map with any other
/// hasher in the order that std's own map would have.
pub struct HashMap<K, V, S = RandomState> {
    store: Store<K, V, S>,
}

/// Gives the key in a slot another value. As in std, the equal key is dropped after the value is on its way out.
fn replace<K, V>(slots: &mut Slots<K, V>, slot: u32, _key: K, value: V) -> V {
    mem::replace(&mut slots.get_mut(slot).1, value)
}

impl<K, V> HashMap<K, V, RandomState> {
    /// An empty map. Allocates nothing.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn new() -> HashMap<K, V, RandomState> {
        Default::default()
    }

    /// An empty map with room for at least `capacity` entries.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> HashMap<K, V, RandomState> {
        HashMap::with_capacity_and_hasher(capacity, Default::default())
    }
}

impl<K, V, S> HashMap<K, V, S> {
    /// An empty map that hashes with `hash_builder`.
    #[inline]
    #[track_caller]
    pub const fn with_hasher(hash_builder: S) -> HashMap<K, V, S> {
        HashMap {
            store: Store::map(hash_builder),
        }
    }

    /// An empty map with room for at least `capacity` entries that hashes with `hasher`.
    #[inline]
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> HashMap<K, V, S> {
        HashMap {
            store: Store::map_with_capacity(capacity, hasher),
        }
    }

    /// How many entries fit before the map grows; as std's own map.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.store.slots.capacity()
    }

    /// Visits the keys in the decided order.
    #[track_caller]
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys::new(self.store.entries(&model::HASH_MAP_KEYS))
    }

    /// Visits the keys, by value, in the decided order.
    #[inline]
    #[track_caller]
    pub fn into_keys(mut self) -> IntoKeys<K, V> {
        IntoKeys::new(self.store.take_entries(&model::HASH_MAP_INTO_KEYS))
    }

    /// Visits the values in the decided order.
    #[track_caller]
    pub fn values(&self) -> Values<'_, K, V> {
        Values::new(self.store.entries(&model::HASH_MAP_VALUES))
    }

    /// Visits the values, to be changed, in the decided order.
    #[track_caller]
    pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        ValuesMut::new(self.store.entries_mut(&model::HASH_MAP_VALUES_MUT))
    }

    /// Visits the values, by value, in the decided order.
    #[inline]
    #[track_caller]
    pub fn into_values(mut self) -> IntoValues<K, V> {
        IntoValues::new(self.store.take_entries(&model::HASH_MAP_INTO_VALUES))
    }

    /// Visits the entries in the decided order.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter::new(self.store.entries(&model::HASH_MAP_ITER))
    }

    /// Visits the entries, with values to be changed, in the decided order.
    #[track_caller]
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut::new(self.store.entries_mut(&model::HASH_MAP_ITER_MUT))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.store.len() == 0
    }

    /// Takes all entries, in the decided order. The map is empty even if not all are consumed.
    #[inline]
    #[track_caller]
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain::new(self.store.drain(&model::HASH_MAP_DRAIN))
    }

    /// Visits the entries in the decided order as far as it is consumed, and takes those that `pred` accepts.
    #[inline]
    #[track_caller]
    pub fn extract_if<F>(&mut self, pred: F) -> ExtractIf<'_, K, V, F>
    where
        F: FnMut(&K, &mut V) -> bool,
    {
        ExtractIf::new(self.store.extract(&model::HASH_MAP_EXTRACT_IF), pred)
    }

    /// Visits the entries in the decided order, and drops those that `f` does not accept.
    #[inline]
    #[track_caller]
    pub fn retain<F>(&mut self, f: F)
    where
        F: FnMut(&K, &mut V) -> bool,
    {
        self.store.retain(&model::HASH_MAP_RETAIN, f);
    }

    /// Drops all entries and keeps the room.
    #[inline]
    #[track_caller]
    pub fn clear(&mut self) {
        self.store.clear();
    }

    /// What the map hashes with.
    #[inline]
    pub fn hasher(&self) -> &S {
        &self.store.hash_builder
    }
}

impl<K, V, S> HashMap<K, V, S>
where
    K: Eq + Hash,
    S: BuildHasher,
{
    /// Makes room for at least `additional` more entries.
    ///
    /// # Panics
    /// When the capacity overflows.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.store.reserve(additional);
    }

    /// Makes room for at least `additional` more entries.
    ///
    /// # Errors
    /// When the capacity overflows or the allocator fails; std's own error.
    #[inline]
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.store.try_reserve(additional)
    }

    /// Gives up as much room as std's own map would.
    #[inline]
    pub fn shrink_to_fit(&mut self) {
        self.store.shrink_to(0);
    }

    /// Gives up as much room beyond `min_capacity` as std's own map would.
    #[inline]
    pub fn shrink_to(&mut self, min_capacity: usize) {
        self.store.shrink_to(min_capacity);
    }

    /// The place of `key`, whether it is there or not.
    #[inline]
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry::new(&mut self.store, key)
    }

    /// The value of a key.
    #[inline]
    pub fn get<Q: ?Sized>(&self, k: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let slot = self.store.find(k)?;
        Some(&self.store.slots.get(slot).1)
    }

    /// The entry of a key.
    #[inline]
    pub fn get_key_value<Q: ?Sized>(&self, k: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let (key, value) = self.store.slots.get(self.store.find(k)?);
        Some((key, value))
    }

    /// The values of several keys at once.
    ///
    /// # Panics
    /// When two keys are equal and there.
    #[inline]
    pub fn get_disjoint_mut<Q: ?Sized, const N: usize>(
        &mut self,
        ks: [&Q; N],
    ) -> [Option<&'_ mut V>; N]
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let found = ks.map(|key| self.store.find(key));
        self.store.slots.get_disjoint_mut(found)
    }

    /// As [`get_disjoint_mut`](HashMap::get_disjoint_mut), which in this mirror it is: equal keys panic here too.
    ///
    /// # Safety
    /// In std, no two keys may be equal and there.
    #[inline]
    #[expect(unsafe_code, reason = "std declares it so; nothing unsafe is done")]
    pub unsafe fn get_disjoint_unchecked_mut<Q: ?Sized, const N: usize>(
        &mut self,
        ks: [&Q; N],
    ) -> [Option<&'_ mut V>; N]
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.get_disjoint_mut(ks)
    }

    /// Whether a key is there.
    #[inline]
    pub fn contains_key<Q: ?Sized>(&self, k: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.find(k).is_some()
    }

    /// The value of a key, to be changed.
    #[inline]
    pub fn get_mut<Q: ?Sized>(&mut self, k: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let slot = self.store.find(k)?;
        Some(&mut self.store.slots.get_mut(slot).1)
    }

    /// Gives a key a value, and returns the one it had. An equal key that is there stays.
    #[inline]
    pub fn insert(&mut self, k: K, v: V) -> Option<V> {
        match self.store.insert(k, v) {
            Inserted::Added => None,
            Inserted::Present(slot, k, v) => Some(replace(&mut self.store.slots, slot, k, v)),
        }
    }

    /// Takes a key out and returns its value.
    #[inline]
    pub fn remove<Q: ?Sized>(&mut self, k: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        // As in std, the key is dropped last.
        self.store.remove(k).map(|(_, v)| v)
    }

    /// Takes an entry out.
    #[inline]
    pub fn remove_entry<Q: ?Sized>(&mut self, k: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.remove(k)
    }
}
