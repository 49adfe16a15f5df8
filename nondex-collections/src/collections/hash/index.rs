//! The index of a collection: a table of slot numbers that is filled and grown as std's table of
//! entries is.
//!
//! The position of an entry in std's table depends on its hash, the number of buckets and earlier
//! removals. It never depends on the value. So a table of numbers has the same order. One thing
//! does depend on the entry: tables of elements of up to three bytes start with more buckets,
//! except in the std of the oldest toolchains. That is why every operation here takes the size of
//! std's element.

use nondex_core::arena::Arena;

use hashbrown::TryReserveError;

use nondex_core::hidden::Table;

/// An index of slot numbers.
pub(super) type Index = Table<u32>;

/// Number of control bytes that hashbrown compares together on this target.
const GROUP_WIDTH: usize =
    if cfg!(all(target_feature = "sse2", any(target_arch = "x86", target_arch = "x86_64"))) {
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

/// Returns the minimum capacity of an allocated table of elements of `size` bytes.
const fn least_capacity(size: usize) -> usize {
    match (GROUP_WIDTH, size) {
        _ if !cfg!(nondex_std_small_tables) => 3,
        (16, 0..=1) => 14,
        (16, 2..=3) | (8, 0..=1) => 7,
        _ => 3,
    }
}

/// Creates an index with room for `capacity` elements of `size` bytes.
///
/// # Panics
/// Panics if the capacity overflows, as std's table does.
pub(super) fn with_capacity(capacity: usize, size: usize) -> Index {
    if capacity == 0 {
        return Index::new_in(Arena);
    }
    assert!(is_possible(capacity, size), "Hash table capacity overflow");
    Index::with_capacity_in(capacity.max(least_capacity(size)), Arena)
}

/// Creates an index with as many buckets.
pub(super) fn like(index: &Index) -> Index {
    // The capacities of hashbrown: one bucket stays free in small tables, and an eighth in others.
    let capacity = match index.num_buckets() {
        buckets @ ..8 => buckets - 1,
        buckets => buckets / 8 * 7,
    };
    Index::with_capacity_in(capacity, Arena)
}

/// Returns whether the next insertion makes the table grow or rehash.
#[inline]
pub(super) fn is_full(index: &Index) -> bool {
    index.len() == index.capacity()
}

/// Returns the room to request from a table of numbers when std's table needs room for `additional`
/// elements. Only the first allocation differs.
fn request(index: &Index, additional: usize, size: usize) -> usize {
    if additional > 0 && index.capacity() == 0 {
        additional.max(least_capacity(size))
    } else {
        additional
    }
}

/// Returns whether a table with room for `capacity` elements of `size` bytes is possible. A table
/// of numbers may be possible when std's table is not.
fn is_possible(capacity: usize, size: usize) -> bool {
    // Follows the computation of hashbrown: at most 7/8 of the buckets are full, and control bytes
    // follow the elements.
    let buckets = || {
        let buckets = if capacity < 15 {
            16
        } else {
            (capacity.checked_mul(8)? / 7).checked_next_power_of_two()?
        };
        let elements = size.checked_mul(buckets)?.checked_next_multiple_of(16)?;
        elements.checked_add(buckets.checked_add(GROUP_WIDTH)?)
    };
    buckets().is_some_and(|bytes| bytes <= isize::MAX as usize - 15)
        && u32::try_from(capacity).is_ok_and(|capacity| capacity < u32::MAX)
}

/// Returns whether a table with room for `additional` more elements of `size` bytes is possible.
fn is_possible_with(index: &Index, additional: usize, size: usize) -> bool {
    additional <= index.capacity() - index.len()
        || index.len().checked_add(additional).is_some_and(|capacity| is_possible(capacity, size))
}

/// Reserves room as std's `reserve` does.
pub(super) fn reserve(
    index: &mut Index,
    additional: usize,
    size: usize,
    hash: impl Fn(&u32) -> u64,
) {
    assert!(is_possible_with(index, additional, size), "Hash table capacity overflow");
    index.reserve(request(index, additional, size), hash);
}

/// Reserves room as std's `try_reserve` does.
pub(super) fn try_reserve(
    index: &mut Index,
    additional: usize,
    size: usize,
    hash: impl Fn(&u32) -> u64,
) -> Result<(), TryReserveError> {
    if !is_possible_with(index, additional, size) {
        return Err(TryReserveError::CapacityOverflow);
    }
    index.try_reserve(request(index, additional, size), hash)
}

/// Shrinks the table as std's `shrink_to` does.
pub(super) fn shrink_to(
    index: &mut Index,
    capacity: usize,
    size: usize,
    hash: impl Fn(&u32) -> u64,
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

    /// Returns the capacity of std's own map with one element of `N` bytes.
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

    #[test]
    fn an_index_like_another_is_that_one_when_it_is_cleared() {
        for capacity in 0..1_000 {
            let mut index = with_capacity(capacity, 8);
            for slot in 0..capacity as u32 {
                index.insert_unique(slot.into(), slot, |&slot| slot.into());
            }
            let like = like(&index);
            index.clear();
            let sizes = |index: &Index| (index.num_buckets(), index.capacity(), index.len());
            assert_eq!(sizes(&like), sizes(&index));
        }
    }
}
