//! Iterators by value.

use ::std::fmt::{self, Debug};
use ::std::iter::FusedIterator;
use ::std::panic::{RefUnwindSafe, UnwindSafe};

use super::{Drain, ExtractIf, IntoIter, IntoKeys, IntoValues};

iterator!(<K, V> IntoIter<K, V> => (K, V), |pair| pair);
default!(<K, V> IntoIter<K, V>);
debug!(<K: Debug, V: Debug> IntoIter<K, V>, |key, value| &(key, value));

iterator!(<K, V> IntoKeys<K, V> => K, |(key, _)| key);
default!(<K, V> IntoKeys<K, V>);
debug!(<K: Debug, V> IntoKeys<K, V>, |key, _| key);

iterator!(<K, V> IntoValues<K, V> => V, |(_, value)| value);
default!(<K, V> IntoValues<K, V>);
debug!(<K, V: Debug> IntoValues<K, V>, |_, value| value);

iterator!(<'a, K, V> Drain<'a, K, V> => (K, V), |pair| pair);
debug!(<K: Debug, V: Debug> Drain<'_, K, V>, |key, value| &(key, value));

// std's drain borrows the drained map, so it has the auto traits of a reference.
impl<K, V> Unpin for Drain<'_, K, V> {}

impl<K: RefUnwindSafe, V: RefUnwindSafe> UnwindSafe for Drain<'_, K, V> {}

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

covariant!(<'new> IntoIter<&'static str, u8> => IntoIter<&'new str, u8>);
covariant!(<'new> IntoIter<u8, &'static str> => IntoIter<u8, &'new str>);
covariant!(<'new> Drain<'static, &'static str, &'static str> => Drain<'new, &'new str, &'new str>);
