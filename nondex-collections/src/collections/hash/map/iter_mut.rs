//! Iterators by unique reference.

use ::std::fmt::{self, Debug};

use super::{IterMut, ValuesMut};

iterator!(<'a, K, V> IterMut<'a, K, V> => (&'a K, &'a mut V), |pair| pair);
default!(<K, V> IterMut<'_, K, V>);
debug!(<K: Debug, V: Debug> IterMut<'_, K, V>, |key, value| &(key, value));

iterator!(<'a, K, V> ValuesMut<'a, K, V> => &'a mut V, |(_, value)| value);
default!(<K, V> ValuesMut<'_, K, V>);
debug!(<K, V: Debug> ValuesMut<'_, K, V>, |_, value| value);
