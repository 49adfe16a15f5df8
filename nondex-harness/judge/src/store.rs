//! Records in the order in which they were made, which a view finds by a key.
//!
//! [`Evidence`](crate::evidence::Evidence) is the view of one test: it finds runs by their spec.
//! [`Experiments`](crate::order::Experiments) is the view of the orders of a binary: it finds a
//! process by each of its beginnings. Each view has the rules by which one record answers for
//! another experiment.

use std::collections::HashMap;
use std::hash::Hash;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Store<K, R> {
    /// The records, in the order in which they were added.
    pub(crate) made: Vec<R>,
    /// Indices into `made` by key. Different records may have the same key.
    places: HashMap<K, Vec<usize>>,
}

impl<K, R> Default for Store<K, R> {
    fn default() -> Self {
        Store { made: Vec::new(), places: HashMap::new() }
    }
}

impl<K: Eq + Hash, R> Store<K, R> {
    /// Adds a record with these keys.
    pub(crate) fn add(&mut self, keys: impl IntoIterator<Item = K>, record: R) {
        for key in keys {
            self.places.entry(key).or_default().push(self.made.len());
        }
        self.made.push(record);
    }

    /// Returns the indices of the records with this key, in the order in which they were added.
    pub(crate) fn places(&self, key: &K) -> &[usize] {
        self.places.get(key).map_or(&[], Vec::as_slice)
    }
}
