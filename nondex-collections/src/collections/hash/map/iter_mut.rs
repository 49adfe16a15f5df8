//! Iterators by unique reference.

use ::std::fmt::{self, Debug};
use ::std::iter::FusedIterator;

use super::super::visit::EntriesMut;
use super::{IterMut, ValuesMut};

impl<'a, K, V> IterMut<'a, K, V> {
    #[inline]
    pub(super) fn new(entries: EntriesMut<'a, K, V>) -> Self {
        IterMut { entries }
    }
}

impl<K, V> Default for IterMut<'_, K, V> {
    #[inline]
    fn default() -> Self {
        IterMut::new(EntriesMut::default())
    }
}

impl<K, V> Debug for IterMut<'_, K, V>
where
    K: Debug,
    V: Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.entries.peek(|key, value| {
            list.entry(&(key, value));
        });
        list.finish()
    }
}

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    iterator_methods!(entries, |pair| pair);
}

impl<K, V> ExactSizeIterator for IterMut<'_, K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for IterMut<'_, K, V> {}

impl<'a, K, V> ValuesMut<'a, K, V> {
    #[inline]
    pub(super) fn new(entries: EntriesMut<'a, K, V>) -> Self {
        ValuesMut { entries }
    }
}

impl<K, V> Default for ValuesMut<'_, K, V> {
    #[inline]
    fn default() -> Self {
        ValuesMut::new(EntriesMut::default())
    }
}

impl<K, V: Debug> Debug for ValuesMut<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.entries.peek(|_, value| {
            list.entry(value);
        });
        list.finish()
    }
}

impl<'a, K, V> Iterator for ValuesMut<'a, K, V> {
    type Item = &'a mut V;

    iterator_methods!(entries, |(_, value)| value);
}

impl<K, V> ExactSizeIterator for ValuesMut<'_, K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for ValuesMut<'_, K, V> {}
