//! Mirror of [`std::hash`]: [`RandomState`] is a shim, everything else is std's own.

pub(crate) mod random;

pub use ::std::hash::*;

pub use self::random::RandomState;
