//! A small map: a vector sorted by key. It is for few entries or rare use. A tree needs ten times
//! the code, which is compiled on every user's machine. Its memory is in the [arena](crate::arena),
//! because interposed functions use such maps.

use std::cmp::Ordering;

use crate::hidden;

/// A map as a sorted vector; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V> {
    entries: hidden::Vec<(K, V)>,
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns an empty map.
    pub const fn new() -> Self {
        SortedMap { entries: hidden::vec() }
    }

    fn find(&self, key: &K) -> Result<usize, usize> {
        self.entries.binary_search_by(|(known, _)| known.cmp(key))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        Some(&self.entries[self.find(key).ok()?].1)
    }

    /// Returns a mutable reference to the value of a key.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let at = self.find(key).ok()?;
        Some(&mut self.entries[at].1)
    }

    /// Sets the value of a key, and returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (key, value));
                None
            }
        }
    }

    /// Iterates over the keys whose values differ between the maps, with both values, in order.
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a K, Option<&'a V>, Option<&'a V>)>
    where
        V: PartialEq,
    {
        let (mut left, mut right) = (self.entries.iter(), other.entries.iter());
        let (mut one, mut another) = (left.next(), right.next());
        std::iter::from_fn(move || {
            loop {
                let order = match (one, another) {
                    (Some((one, _)), Some((another, _))) => one.cmp(another),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (None, None) => return None,
                };
                let before = one.filter(|_| order.is_le());
                let after = another.filter(|_| order.is_ge());
                if before.is_some() {
                    one = left.next();
                }
                if after.is_some() {
                    another = right.next();
                }
                let values = (before.map(|(_, value)| value), after.map(|(_, value)| value));
                if values.0 != values.1 {
                    return before.or(after).map(|(key, _)| (key, values.0, values.1));
                }
            }
        })
    }

    /// Removes a key, and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.find(key).ok()?;
        Some(self.entries.remove(at).1)
    }

    /// Removes the smallest key, and returns its entry.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (!self.is_empty()).then(|| self.entries.remove(0))
    }

    /// Returns all values in the order of their keys.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|(_, value)| value)
    }

    /// Iterates over mutable references to all values, in the order of their keys.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }
}

/// Keeps an arbitrary one of several entries with the same key.
impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        let mut entries = hidden::collect(iter.into_iter());
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        entries.dedup_by(|(one, _), (other, _)| one == other);
        SortedMap { entries }
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = &'a (K, V);
    type IntoIter = std::slice::Iter<'a, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<K: Ord, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map_sorted_by_key(steps in prop::collection::vec((0..5, 0..12_u8, any::<u32>()),
            0..80)) {
            let (mut map, mut model) = (SortedMap::new(), BTreeMap::new());
            for (step, key, value) in steps {
                match step {
                    0 => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                    1 => prop_assert_eq!(map.pop_first(), model.pop_first()),
                    2 => prop_assert_eq!(
                        map.get_mut(&key).map(|known| std::mem::replace(known, value)),
                        model.get_mut(&key).map(|known| std::mem::replace(known, value))
                    ),
                    _ => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                }
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert_eq!(map.len(), model.len());
                prop_assert_eq!(map.is_empty(), model.is_empty());
                let values: Vec<_> = map.values_mut().map(|value| *value).collect();
                prop_assert_eq!(values, model.values().copied().collect::<Vec<_>>());
            }
        }

        #[test]
        fn differences_are_the_keys_whose_values_differ(
            one in prop::collection::btree_map(0..12_u8, 0..3_u8, 0..9),
            other in prop::collection::btree_map(0..12_u8, 0..3_u8, 0..9),
        ) {
            let expected: Vec<_> = (0..12)
                .filter(|key| one.get(key) != other.get(key))
                .map(|key| (key, one.get(&key).copied(), other.get(&key).copied()))
                .collect();
            let (one, other): (SortedMap<_, _>, SortedMap<_, _>) =
                (one.into_iter().rev().collect(), other.into_iter().collect());
            let found: Vec<_> = one
                .differences(&other)
                .map(|(key, before, after)| (*key, before.copied(), after.copied()))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
