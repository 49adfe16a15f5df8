//! Iterators by value.

use ::std::fmt::{self, Debug};
use ::std::iter::FusedIterator;
use ::std::marker::PhantomData;
use ::std::panic::{RefUnwindSafe, UnwindSafe};

use super::super::extract::Extract;
use super::super::values::IntoEntries;
use super::{Drain, ExtractIf, IntoIter, IntoKeys, IntoValues};

impl<K, V> IntoIter<K, V> {
    #[inline]
    pub(super) fn new(entries: IntoEntries<K, V>) -> Self {
        IntoIter { entries }
    }
}

impl<K, V> Default for IntoIter<K, V> {
    #[inline]
    fn default() -> Self {
        IntoIter::new(IntoEntries::default())
    }
}

impl<K: Debug, V: Debug> Debug for IntoIter<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.entries.peek(|key, value| {
            list.entry(&(key, value));
        });
        list.finish()
    }
}

impl<K, V> Iterator for IntoIter<K, V> {
    type Item = (K, V);

    iterator_methods!(entries, |pair| pair);
}

impl<K, V> ExactSizeIterator for IntoIter<K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for IntoIter<K, V> {}

impl<K, V> IntoKeys<K, V> {
    #[inline]
    pub(super) fn new(entries: IntoEntries<K, V>) -> Self {
        IntoKeys { entries }
    }
}

impl<K, V> Default for IntoKeys<K, V> {
    #[inline]
    fn default() -> Self {
        IntoKeys::new(IntoEntries::default())
    }
}

impl<K: Debug, V> Debug for IntoKeys<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.entries.peek(|key, _| {
            list.entry(key);
        });
        list.finish()
    }
}

impl<K, V> Iterator for IntoKeys<K, V> {
    type Item = K;

    iterator_methods!(entries, |(key, _)| key);
}

impl<K, V> ExactSizeIterator for IntoKeys<K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for IntoKeys<K, V> {}

impl<K, V> IntoValues<K, V> {
    #[inline]
    pub(super) fn new(entries: IntoEntries<K, V>) -> Self {
        IntoValues { entries }
    }
}

impl<K, V> Default for IntoValues<K, V> {
    #[inline]
    fn default() -> Self {
        IntoValues::new(IntoEntries::default())
    }
}

impl<K, V: Debug> Debug for IntoValues<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.entries.peek(|_, value| {
            list.entry(value);
        });
        list.finish()
    }
}

impl<K, V> Iterator for IntoValues<K, V> {
    type Item = V;

    iterator_methods!(entries, |(_, value)| value);
}

impl<K, V> ExactSizeIterator for IntoValues<K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for IntoValues<K, V> {}

impl<K, V> Drain<'_, K, V> {
    #[inline]
    pub(super) fn new(entries: IntoEntries<K, V>) -> Self {
        Drain {
            entries,
            map: PhantomData,
        }
    }
}

impl<K, V> Debug for Drain<'_, K, V>
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

impl<K, V> Iterator for Drain<'_, K, V> {
    type Item = (K, V);

    iterator_methods!(entries, |pair| pair);
}

impl<K, V> ExactSizeIterator for Drain<'_, K, V> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K, V> FusedIterator for Drain<'_, K, V> {}

// std's drain borrows what it drains, and so has the auto traits of a reference.
impl<K, V> Unpin for Drain<'_, K, V> {}

impl<K: RefUnwindSafe, V: RefUnwindSafe> UnwindSafe for Drain<'_, K, V> {}

impl<'a, K, V, F> ExtractIf<'a, K, V, F> {
    #[inline]
    pub(super) fn new(extract: Extract<'a, K, V>, pred: F) -> Self {
        ExtractIf { extract, pred }
    }
}

impl<K, V, F> Debug for ExtractIf<'_, K, V, F>
where
    K: Debug,
    V: Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractIf").finish_non_exhaustive()
    }
}

impl<K, V, F> Iterator for ExtractIf<'_, K, V, F>
where
    F: FnMut(&K, &mut V) -> bool,
{
    type Item = (K, V);

    #[inline]
    fn next(&mut self) -> Option<(K, V)> {
        self.extract.next(&mut self.pred)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.extract.left()))
    }
}

impl<K, V, F> FusedIterator for ExtractIf<'_, K, V, F> where F: FnMut(&K, &mut V) -> bool {}

/// Compiles only if types vary as std's do.
#[expect(dead_code, reason = "it is there to be compiled")]
fn assert_covariance() {
    fn into_iter_key<'new>(v: IntoIter<&'static str, u8>) -> IntoIter<&'new str, u8> {
        v
    }
    fn into_iter_val<'new>(v: IntoIter<u8, &'static str>) -> IntoIter<u8, &'new str> {
        v
    }
    fn drain<'new>(
        d: Drain<'static, &'static str, &'static str>,
    ) -> Drain<'new, &'new str, &'new str> {
        d
    }
}
