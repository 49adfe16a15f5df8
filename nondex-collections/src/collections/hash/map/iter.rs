//! Iterators by reference.

use ::std::fmt::{self, Debug};

use super::{Iter, Keys, Values};

iterator!(<'a, K, V> Iter<'a, K, V> => (&'a K, &'a V), |pair| pair);
default!(<K, V> Iter<'_, K, V>);
clone_and_debug!(<K: Debug, V: Debug> Iter<'_, K, V>);

iterator!(<'a, K, V> Keys<'a, K, V> => &'a K, |(key, _)| key);
default!(<K, V> Keys<'_, K, V>);
clone_and_debug!(<K: Debug, V> Keys<'_, K, V>);

iterator!(<'a, K, V> Values<'a, K, V> => &'a V, |(_, value)| value);
default!(<K, V> Values<'_, K, V>);
clone_and_debug!(<K, V: Debug> Values<'_, K, V>);

covariant!(<'a, 'new> Iter<'a, &'static str, u8> => Iter<'a, &'new str, u8>);
covariant!(<'a, 'new> Iter<'a, u8, &'static str> => Iter<'a, u8, &'new str>);
covariant!(<'a, 'new> Keys<'a, &'static str, u8> => Keys<'a, &'new str, u8>);
covariant!(<'a, 'new> Keys<'a, u8, &'static str> => Keys<'a, u8, &'new str>);
covariant!(<'a, 'new> Values<'a, &'static str, u8> => Values<'a, &'new str, u8>);
covariant!(<'a, 'new> Values<'a, u8, &'static str> => Values<'a, u8, &'new str>);
