//! Iterators by reference.

use ::std::fmt::{self, Debug};
use ::std::iter::FusedIterator;

use super::super::visit::Entries;
use super::{Iter, Keys, Values};

impl<'a, K, V> Iter<'a, K, V> {
    #[inline]
    pub(super) fn new(entries: Entries<'a, K, V>) -> Self {
        Iter { entries }
    }
}

impl<K, V> Clone for Iter<'_, K, V> {
    #[inline]
    fn clone(&self) -> Self {
        Iter::new(self.entries.clone())
    }
}

impl<K, V> Default for Iter<'_, K, V> {
    #[inline]
    fn default() -> Self {
        Iter::new(Entries::default())
    }
}

impl<K: Debug, V: Debug> Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    iterator_methods!(entries, |pair| pair);
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for Iter<'_, K, V> {}

impl<'a, K, V> Keys<'a, K, V> {
    #[inline]
    pub(super) fn new(entries: Entries<'a, K, V>) -> Self {
        Keys { entries }
    }
}

impl<K, V> Clone for Keys<'_, K, V> {
    #[inline]
    fn clone(&self) -> Self {
        Keys::new(self.entries.clone())
    }
}

impl<K, V> Default for Keys<'_, K, V> {
    #[inline]
    fn default() -> Self {
        Keys::new(Entries::default())
    }
}

impl<K: Debug, V> Debug for Keys<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, K, V> Iterator for Keys<'a, K, V> {
    type Item = &'a K;

    iterator_methods!(entries, |(key, _)| key);
}

impl<K, V> ExactSizeIterator for Keys<'_, K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for Keys<'_, K, V> {}

impl<'a, K, V> Values<'a, K, V> {
    #[inline]
    pub(super) fn new(entries: Entries<'a, K, V>) -> Self {
        Values { entries }
    }
}

impl<K, V> Clone for Values<'_, K, V> {
    #[inline]
    fn clone(&self) -> Self {
        Values::new(self.entries.clone())
    }
}

impl<K, V> Default for Values<'_, K, V> {
    #[inline]
    fn default() -> Self {
        Values::new(Entries::default())
    }
}

impl<K, V: Debug> Debug for Values<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, K, V> Iterator for Values<'a, K, V> {
    type Item = &'a V;

    iterator_methods!(entries, |(_, value)| value);
}

impl<K, V> ExactSizeIterator for Values<'_, K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for Values<'_, K, V> {}

/// Compiles only if types vary as std's do.
#[expect(dead_code, reason = "it is there to be compiled")]
fn assert_covariance() {
    fn iter_key<'a, 'new>(v: Iter<'a, &'static str, u8>) -> Iter<'a, &'new str, u8> {
        v
    }
    fn iter_val<'a, 'new>(v: Iter<'a, u8, &'static str>) -> Iter<'a, u8, &'new str> {
        v
    }
    fn keys_key<'a, 'new>(v: Keys<'a, &'static str, u8>) -> Keys<'a, &'new str, u8> {
        v
    }
    fn keys_val<'a, 'new>(v: Keys<'a, u8, &'static str>) -> Keys<'a, u8, &'new str> {
        v
    }
    fn values_key<'a, 'new>(v: Values<'a, &'static str, u8>) -> Values<'a, &'new str, u8> {
        v
    }
    fn values_val<'a, 'new>(v: Values<'a, u8, &'static str>) -> Values<'a, u8, &'new str> {
        v
    }
}
