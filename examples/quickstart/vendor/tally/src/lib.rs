//! Counts how often each value was seen. Represents a third-party crate that is not changed.

use std::collections::HashMap;
use std::hash::Hash;

/// Number of times that each value was seen.
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

    /// Returns the number of times that `value` was seen.
    pub fn count(&self, value: &T) -> usize {
        self.counts.get(value).copied().unwrap_or(0)
    }

    /// Returns the number of different values that were seen.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Returns at most `n` of the values that were seen.
    pub fn sample(&self, n: usize) -> impl Iterator<Item = &T> {
        self.counts.keys().take(n)
    }
}
