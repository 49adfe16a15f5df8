//! The iterator by reference.

use ::std::fmt::{self, Debug};

use super::Iter;

iterator!(<'a, K> Iter<'a, K> => &'a K, |(key, _)| key);
default!(<K> Iter<'_, K>);
clone_and_debug!(<K: Debug> Iter<'_, K>);

covariant!(<'a, 'new> Iter<'a, &'static str> => Iter<'a, &'new str>);
