//! Mirror of [`std::collections`]: the hash collections are shims, everything else is std's own.

mod hash;

pub use ::std::collections::*;

pub use self::hash_map::HashMap;
pub use self::hash_set::HashSet;

/// Mirror of [`std::collections::hash_map`].
pub mod hash_map {
    pub use ::std::collections::hash_map::DefaultHasher;

    pub use crate::hash::RandomState;

    pub use super::hash::map::{
        Drain, Entry, ExtractIf, HashMap, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys,
        OccupiedEntry, VacantEntry, Values, ValuesMut,
    };
}

/// Mirror of [`std::collections::hash_set`].
pub mod hash_set {
    pub use super::hash::set::{
        Difference, Drain, ExtractIf, HashSet, Intersection, IntoIter, Iter, SymmetricDifference,
        Union,
    };
}
