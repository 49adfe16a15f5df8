//! Operations on one key of a [`HashMap`].

use ::std::borrow::Borrow;
use ::std::hash::{BuildHasher, Hash};
use ::std::mem;

use super::super::slots::{Inserted, Slots};
use super::{Entry, HashMap};

/// Replaces the value of the key in a slot. As in std, the equal key is dropped after the old value
/// was taken out.
pub(super) fn replace<K, V>(slots: &mut Slots<K, V>, slot: u32, _key: K, value: V) -> V {
    mem::replace(&mut slots.get_mut(slot).1, value)
}

impl<K, V, S> HashMap<K, V, S>
where
    K: Eq + Hash,
    S: BuildHasher,
{
    /// Returns the entry of `key`, whether it is present or not.
    #[inline]
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry::new(&mut self.store, key)
    }

    /// Returns the value of a key.
    #[inline]
    pub fn get<Q: ?Sized>(&self, k: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let slot = self.store.find(k)?;
        Some(&self.store.slots.get(slot).1)
    }

    /// Returns the entry of a key.
    #[inline]
    pub fn get_key_value<Q: ?Sized>(&self, k: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let (key, value) = self.store.slots.get(self.store.find(k)?);
        Some((key, value))
    }

    /// Returns the values of several keys at once.
    ///
    /// # Panics
    /// Panics if two keys are equal and present.
    #[cfg(nondex_std_get_disjoint_mut)]
    #[inline]
    pub fn get_disjoint_mut<Q: ?Sized, const N: usize>(
        &mut self,
        ks: [&Q; N],
    ) -> [Option<&'_ mut V>; N]
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let found = self.store.find_each(ks);
        self.store.slots.get_disjoint_mut(found)
    }

    /// Behaves as [`get_disjoint_mut`](HashMap::get_disjoint_mut) in this mirror: equal keys panic
    /// here too.
    ///
    /// # Safety
    /// As in std, no two keys may be equal and present.
    #[cfg(nondex_std_get_disjoint_mut)]
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

    /// Returns whether a key is present.
    #[inline]
    pub fn contains_key<Q: ?Sized>(&self, k: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.find(k).is_some()
    }

    /// Returns a mutable reference to the value of a key.
    #[inline]
    pub fn get_mut<Q: ?Sized>(&mut self, k: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        let slot = self.store.find(k)?;
        Some(&mut self.store.slots.get_mut(slot).1)
    }

    /// Sets the value of a key, and returns the previous value. An equal key that is present stays.
    #[inline]
    pub fn insert(&mut self, k: K, v: V) -> Option<V> {
        match self.store.insert(k, v) {
            Inserted::Added => None,
            Inserted::Present(slot, k, v) => Some(replace(&mut self.store.slots, slot, k, v)),
        }
    }

    /// Takes out a key, and returns its value.
    #[inline]
    pub fn remove<Q: ?Sized>(&mut self, k: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        // As in std, the key is dropped last.
        self.store.remove(k).map(|(_, v)| v)
    }

    /// Takes out an entry.
    #[inline]
    pub fn remove_entry<Q: ?Sized>(&mut self, k: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq,
    {
        self.store.remove(k)
    }
}
