//! The iterator by reference.

use ::std::fmt::{self, Debug};
use ::std::iter::FusedIterator;

use super::super::visit::Entries;
use super::Iter;

impl<'a, K> Iter<'a, K> {
    #[inline]
    pub(super) fn new(entries: Entries<'a, K, ()>) -> Self {
        Iter { entries }
    }
}

impl<K> Clone for Iter<'_, K> {
    #[inline]
    fn clone(&self) -> Self {
        Iter::new(self.entries.clone())
    }
}

impl<K> Default for Iter<'_, K> {
    #[inline]
    fn default() -> Self {
        Iter::new(Entries::default())
    }
}

impl<K: Debug> Debug for Iter<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, K> Iterator for Iter<'a, K> {
    type Item = &'a K;

    iterator_methods!(entries, |(key, _)| key);
}

impl<K> ExactSizeIterator for Iter<'_, K> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K> FusedIterator for Iter<'_, K> {}

/// Compiles only if the type varies as std's does.
#[expect(dead_code, reason = "it is there to be compiled")]
fn assert_covariance() {
    fn iter<'a, 'new>(v: Iter<'a, &'static str>) -> Iter<'a, &'new str> {
        v
    }
}
