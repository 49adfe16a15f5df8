//! The entry API.

use ::std::fmt::{self, Debug};
use ::std::hash::{BuildHasher, Hash};
use ::std::mem;

use super::super::store::Store;
use super::Entry::{Occupied, Vacant};
use super::{Entry, OccupiedEntry, VacantEntry};
use crate::hash::random::table::hash_in_table;

impl<'a, K, V> Entry<'a, K, V> {
    /// Creates an entry. As in std, room is made only if the key is not present, unlike in an
    /// insertion.
    #[inline]
    pub(super) fn new<S>(store: &'a mut Store<K, V, S>, key: K) -> Self
    where
        K: Eq + Hash,
        S: BuildHasher,
    {
        let hasher = &store.hash_builder;
        let hash = hash_in_table(hasher, &key);
        let slots = &mut store.slots;
        if let Some((slot, bucket)) = slots.find_bucket(hash, |other| other.eq(&key)) {
            return Occupied(OccupiedEntry { slots, slot, bucket });
        }
        slots.prepare(|key| hash_in_table(hasher, key));
        let new = slots.new_key(hash, &key);
        Vacant(VacantEntry { slots, new, key })
    }

    /// Returns the value, after inserting `default` if there was none.
    #[inline]
    pub fn or_insert(self, default: V) -> &'a mut V {
        match self {
            Occupied(entry) => entry.into_mut(),
            Vacant(entry) => entry.insert(default),
        }
    }

    /// Returns the value, after inserting the result of `default` if there was none.
    #[inline]
    pub fn or_insert_with<F: FnOnce() -> V>(self, default: F) -> &'a mut V {
        match self {
            Occupied(entry) => entry.into_mut(),
            Vacant(entry) => entry.insert(default()),
        }
    }

    /// Returns the value, after inserting the result of `default` for the key if there was none.
    #[inline]
    pub fn or_insert_with_key<F: FnOnce(&K) -> V>(self, default: F) -> &'a mut V {
        match self {
            Occupied(entry) => entry.into_mut(),
            Vacant(entry) => {
                let value = default(entry.key());
                entry.insert(value)
            }
        }
    }

    /// Returns the key: that of the map if it is present, or the requested one.
    #[inline]
    pub fn key(&self) -> &K {
        match self {
            Occupied(entry) => entry.key(),
            Vacant(entry) => entry.key(),
        }
    }

    /// Modifies the value if there is one.
    #[inline]
    pub fn and_modify<F>(self, f: F) -> Self
    where
        F: FnOnce(&mut V),
    {
        match self {
            Occupied(mut entry) => {
                f(entry.get_mut());
                Occupied(entry)
            }
            Vacant(entry) => Vacant(entry),
        }
    }

    /// Sets the value.
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V> {
        match self {
            Occupied(mut entry) => {
                entry.insert(value);
                entry
            }
            Vacant(entry) => entry.insert_entry(value),
        }
    }
}

impl<'a, K, V: Default> Entry<'a, K, V> {
    /// Returns the value, after inserting the default if there was none.
    #[inline]
    pub fn or_default(self) -> &'a mut V {
        match self {
            Occupied(entry) => entry.into_mut(),
            Vacant(entry) => entry.insert(Default::default()),
        }
    }
}

impl<K: Debug, V: Debug> Debug for Entry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Vacant(v) => f.debug_tuple("Entry").field(v).finish(),
            Occupied(o) => f.debug_tuple("Entry").field(o).finish(),
        }
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    /// Returns the key in the map.
    #[inline]
    pub fn key(&self) -> &K {
        &self.slots.get(self.slot).0
    }

    /// Takes the entry out.
    #[inline]
    pub fn remove_entry(self) -> (K, V) {
        self.slots.remove_bucket(self.bucket).expect("the entry is there")
    }

    /// Returns the value.
    #[inline]
    pub fn get(&self) -> &V {
        &self.slots.get(self.slot).1
    }

    /// Returns a mutable reference to the value.
    #[inline]
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.slots.get_mut(self.slot).1
    }

    /// Returns a mutable reference to the value, for as long as the map is borrowed.
    #[inline]
    pub fn into_mut(self) -> &'a mut V {
        &mut self.slots.get_mut(self.slot).1
    }

    /// Sets the value, and returns the previous one.
    #[inline]
    pub fn insert(&mut self, value: V) -> V {
        mem::replace(self.get_mut(), value)
    }

    /// Takes the entry out, and returns its value.
    #[inline]
    pub fn remove(self) -> V {
        self.remove_entry().1
    }
}

impl<K: Debug, V: Debug> Debug for OccupiedEntry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedEntry")
            .field("key", self.key())
            .field("value", self.get())
            .finish_non_exhaustive()
    }
}

impl<'a, K: 'a, V: 'a> VacantEntry<'a, K, V> {
    /// Returns the requested key.
    #[inline]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns the requested key by value.
    #[inline]
    pub fn into_key(self) -> K {
        self.key
    }

    /// Inserts the key with a value.
    #[inline]
    pub fn insert(self, value: V) -> &'a mut V {
        self.insert_entry(value).into_mut()
    }

    /// Inserts the key with a value, and returns its entry.
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V> {
        let VacantEntry { slots, new, key } = self;
        let (slot, bucket) = slots.insert_unique(new, key, value);
        OccupiedEntry { slots, slot, bucket }
    }
}

impl<K: Debug, V> Debug for VacantEntry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(self.key()).finish()
    }
}
