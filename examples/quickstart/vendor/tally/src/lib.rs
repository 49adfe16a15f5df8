//! Counts how often each value was seen. Stands for a third-party crate: its code is not changed.

use std::collections::HashMap;
use std::hash::Hash;

/// How often each value was seen.
#[derive(Clone, Debug)]
pub struct Tally<T> {
    counts: HashMap<T, usize>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Tally { counts: HashMap::new() }
    }
}

impl<T: Eq + Hash> Tally<T> {
    /// Counts `value` once more.
    pub fn add(&mut self, value: T) {
        *self.counts.entry(value).or_default() += 1;
    }

    /// How often `value` was seen.
    pub fn count(&self, value: &T) -> usize {
        self.counts.get(value).copied().unwrap_or(0)
    }

    /// How many different values were seen.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// At most `n` of the values that were seen.
    pub fn sample(&self, n: usize) -> impl Iterator<Item = &T> {
        self.counts.keys().take(n)
    }
}
