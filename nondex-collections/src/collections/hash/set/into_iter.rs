//! Iterators by value.

use ::std::fmt::{self, Debug};
use ::std::iter::FusedIterator;
use ::std::panic::{RefUnwindSafe, UnwindSafe};

use super::{Drain, ExtractIf, IntoIter};

iterator!(<K> IntoIter<K> => K, |(key, _)| key);
default!(<K> IntoIter<K>);
debug!(<K: Debug> IntoIter<K>, |key, ()| key);

iterator!(<'a, K> Drain<'a, K> => K, |(key, _)| key);
debug!(<K: Debug> Drain<'_, K>, |key, ()| key);

// std's drain borrows the drained set, so it has the auto traits of a reference.
impl<K> Unpin for Drain<'_, K> {}

impl<K: RefUnwindSafe> UnwindSafe for Drain<'_, K> {}

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

covariant!(<'new> IntoIter<&'static str> => IntoIter<&'new str>);
covariant!(<'new> Drain<'static, &'static str> => Drain<'new, &'new str>);
