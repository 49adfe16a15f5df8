//! Iterators by value.

use ::std::fmt::{self, Debug};
use ::std::iter::FusedIterator;
use ::std::marker::PhantomData;
use ::std::panic::{RefUnwindSafe, UnwindSafe};

use super::super::extract::Extract;
use super::super::values::IntoEntries;
use super::{Drain, ExtractIf, IntoIter};

impl<K> IntoIter<K> {
    #[inline]
    pub(super) fn new(entries: IntoEntries<K, ()>) -> Self {
        IntoIter { entries }
    }
}

impl<K> Default for IntoIter<K> {
    #[inline]
    fn default() -> Self {
        IntoIter::new(IntoEntries::default())
    }
}

impl<K: Debug> Debug for IntoIter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.entries.peek(|key, ()| {
            list.entry(key);
        });
        list.finish()
    }
}

impl<K> Iterator for IntoIter<K> {
    type Item = K;

    iterator_methods!(entries, |(key, _)| key);
}

impl<K> ExactSizeIterator for IntoIter<K> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K> FusedIterator for IntoIter<K> {}

impl<K> Drain<'_, K> {
    #[inline]
    pub(super) fn new(entries: IntoEntries<K, ()>) -> Self {
        Drain {
            entries,
            set: PhantomData,
        }
    }
}

impl<K: Debug> Debug for Drain<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        self.entries.peek(|key, ()| {
            list.entry(key);
        });
        list.finish()
    }
}

impl<K> Iterator for Drain<'_, K> {
    type Item = K;

    iterator_methods!(entries, |(key, _)| key);
}

impl<K> ExactSizeIterator for Drain<'_, K> {
    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K> FusedIterator for Drain<'_, K> {}

// std's drain borrows what it drains, and so has the auto traits of a reference.
impl<K> Unpin for Drain<'_, K> {}

impl<K: RefUnwindSafe> UnwindSafe for Drain<'_, K> {}

impl<'a, K, F> ExtractIf<'a, K, F> {
    #[inline]
    pub(super) fn new(extract: Extract<'a, K, ()>, pred: F) -> Self {
        ExtractIf { extract, pred }
    }
}

impl<K: Debug, F> Debug for ExtractIf<'_, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractIf").finish_non_exhaustive()
    }
}

impl<K, F> Iterator for ExtractIf<'_, K, F>
where
    F: FnMut(&K) -> bool,
{
    type Item = K;

    #[inline]
    fn next(&mut self) -> Option<K> {
        let pred = &mut self.pred;
        Some(self.extract.next(|key, ()| pred(key))?.0)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.extract.left()))
    }
}

impl<K, F> FusedIterator for ExtractIf<'_, K, F> where F: FnMut(&K) -> bool {}

/// Compiles only if types vary as std's do.
#[expect(dead_code, reason = "it is there to be compiled")]
fn assert_covariance() {
    fn into_iter<'new>(v: IntoIter<&'static str>) -> IntoIter<&'new str> {
        v
    }
    fn drain<'new>(d: Drain<'static, &'static str>) -> Drain<'new, &'new str> {
        d
    }
}
