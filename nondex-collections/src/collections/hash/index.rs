//! The index of a collection: a table of slot numbers that is filled and grown as std's own table of entries is.
//!
//! The place of an entry in std's table depends on its hash, on the number of buckets and on what was removed before,
//! never on what the entry is, so a table of numbers has the same order. One thing does depend on the entry: elements
//! of up to three bytes start with more buckets. That is why every operation here is told the size of std's element.

use hashbrown::{HashTable, TryReserveError};

/// How many control bytes hashbrown looks at together on this target.
const GROUP_WIDTH: usize = if cfg!(all(
    target_feature = "sse2",
    any(target_arch = "x86", target_arch = "x86_64")
)) {
    16
} else if cfg!(any(
    target_pointer_width = "64",
    target_arch = "aarch64",
    target_arch = "x86_64",
    target_arch = "wasm32"
)) {
    8
} else {
    4
};

/// The least capacity of an allocated table of elements of `size` bytes.
const fn least_capacity(size: usize) -> usize {
    match (GROUP_WIDTH, size) {
        (16, 0..=1) => 14,
        (16, 2..=3) | (8, 0..=1) => 7,
        _ => 3,
    }
}

/// A new index with room for `capacity` elements of `size` bytes.
pub(super) fn with_capacity(capacity: usize, size: usize) -> HashTable<usize> {
    HashTable::with_capacity(match capacity {
        0 => 0,
        _ => capacity.max(least_capacity(size)),
    })
}

/// Whether the next insertion makes the table grow or rehash.
pub(super) fn is_full(index: &HashTable<usize>) -> bool {
    index.len() == index.capacity()
}

/// What to ask of a table of numbers for std's table to get `additional` more. Only the first allocation differs.
fn request(index: &HashTable<usize>, additional: usize, size: usize) -> usize {
    if additional > 0 && index.capacity() == 0 {
        additional.max(least_capacity(size))
    } else {
        additional
    }
}

/// As std's `reserve`.
pub(super) fn reserve(
    index: &mut HashTable<usize>,
    additional: usize,
    size: usize,
    hash: impl Fn(&usize) -> u64,
) {
    index.reserve(request(index, additional, size), hash);
}

/// As std's `try_reserve`.
pub(super) fn try_reserve(
    index: &mut HashTable<usize>,
    additional: usize,
    size: usize,
    hash: impl Fn(&usize) -> u64,
) -> Result<(), TryReserveError> {
    index.try_reserve(request(index, additional, size), hash)
}

/// As std's `shrink_to`.
pub(super) fn shrink_to(
    index: &mut HashTable<usize>,
    capacity: usize,
    size: usize,
    hash: impl Fn(&usize) -> u64,
) {
    let capacity = capacity.max(index.len());
    index.shrink_to(
        match capacity {
            0 => 0,
            _ => capacity.max(least_capacity(size)),
        },
        hash,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The capacity of std's own map with one element of `N` bytes.
    fn of_std<const N: usize>() -> usize {
        ::std::collections::HashSet::from([[0u8; N]]).capacity()
    }

    #[test]
    fn the_least_capacity_is_that_of_std_for_every_size() {
        let expected = [
            of_std::<0>(),
            of_std::<1>(),
            of_std::<2>(),
            of_std::<3>(),
            of_std::<4>(),
            of_std::<8>(),
            of_std::<100>(),
        ];
        assert_eq!([0, 1, 2, 3, 4, 8, 100].map(least_capacity), expected);
    }
}
