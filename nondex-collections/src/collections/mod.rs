//! Mirror of [`std::collections`]: the hash collections are shims, everything else is std's own.

mod hash;

pub use ::std::collections::*;

pub use self::hash_map::HashMap;
pub use self::hash_set::HashSet;

/// Mirror of [`std::collections::hash_map`].
pub mod hash_map {
    // Items that are newer than this mirror.
    pub use ::std::collections::hash_map::*;

    pub use crate::hash::RandomState;

    #[cfg(nondex_std_extract_if)]
    pub use super::hash::map::ExtractIf;
    pub use super::hash::map::{
        Drain, Entry, HashMap, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys, OccupiedEntry,
        VacantEntry, Values, ValuesMut,
    };
}

/// Mirror of [`std::collections::hash_set`].
pub mod hash_set {
    // Items that are newer than this mirror.
    pub use ::std::collections::hash_set::*;

    #[cfg(nondex_std_extract_if)]
    pub use super::hash::set::ExtractIf;
    pub use super::hash::set::{
        Difference, Drain, HashSet, Intersection, IntoIter, Iter, SymmetricDifference, Union,
    };
}
