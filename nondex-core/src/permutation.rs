//! A uniform permutation that costs only what is looked at.

use hashbrown::HashMap as Sparse;
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use crate::hash::FixedState;

/// Up to this length the table of a permutation is laid out at once: that is cheaper than looking entries up.
const DENSE_AT_ONCE: usize = 1 << 10;

/// After this many draws from a longer permutation its table is laid out in full.
const SPARSE_DRAWS: usize = 64;

/// A permutation of `0..len`, drawn position by position: a forward Fisher–Yates shuffle (Durstenfeld 1964) whose
/// table is virtual until it is worth having.
///
/// The first [`SPARSE_DRAWS`] positions cost O(1) each whatever the length is, so the first entry of a million is not a
/// shuffle of a million. The sequence depends on nothing but the generator and the length.
#[derive(Clone, Debug)]
pub struct Permutation {
    rng: ChaCha8Rng,
    table: Table,
    next: usize,
    len: usize,
}

#[derive(Clone, Debug)]
enum Table {
    Dense(Box<[u32]>),
    Sparse(Sparse<usize, usize, FixedState>),
}

impl Permutation {
    /// The permutation of `0..len` that `rng` draws. Costs O(min(len, 1024)).
    #[must_use]
    pub fn new(rng: ChaCha8Rng, len: usize) -> Self {
        let table = if len <= DENSE_AT_ONCE {
            Table::Dense(identity(len))
        } else {
            Table::Sparse(Sparse::with_hasher(FixedState))
        };
        Permutation {
            rng,
            table,
            next: 0,
            len,
        }
    }

    /// How many positions are left to draw.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.len - self.next
    }

    /// One draw below `bound`, by Lemire's multiplication without rejection: for the lengths that fit in memory the
    /// bias is below 2^-20, and every draw takes the same amount of the generator.
    #[inline]
    fn below(&mut self, bound: usize) -> usize {
        if let Ok(bound) = u32::try_from(bound) {
            ((u64::from(self.rng.next_u32()) * u64::from(bound)) >> 32) as usize
        } else {
            ((u128::from(self.rng.next_u64()) * bound as u128) >> 64) as usize
        }
    }

    fn densify(&mut self) {
        let Table::Sparse(moved) = &self.table else {
            return;
        };
        if self.next < SPARSE_DRAWS || u32::try_from(self.len).is_err() {
            return;
        }
        let mut dense = identity(self.len);
        for (&position, &value) in moved {
            dense[position] = value as u32;
        }
        self.table = Table::Dense(dense);
    }
}

fn identity(len: usize) -> Box<[u32]> {
    (0..len as u32).collect()
}

impl Iterator for Permutation {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let here = self.next;
        if here == self.len {
            return None;
        }
        let there = here + self.below(self.len - here);
        self.next += 1;
        Some(match &mut self.table {
            Table::Dense(table) => {
                table.swap(here, there);
                table[here] as usize
            }
            Table::Sparse(moved) => {
                let at_here = moved.remove(&here).unwrap_or(here);
                let drawn = if there == here {
                    at_here
                } else {
                    moved.insert(there, at_here).unwrap_or(there)
                };
                self.densify();
                drawn
            }
        })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining(), Some(self.remaining()))
    }
}

impl ExactSizeIterator for Permutation {}
impl std::iter::FusedIterator for Permutation {}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn drawn(seed: u64, len: usize) -> Vec<usize> {
        Permutation::new(ChaCha8Rng::seed_from_u64(seed), len).collect()
    }

    #[test]
    fn every_draw_is_a_permutation_whichever_table_holds_it() {
        for len in [0, 1, 2, 3, 7, 1023, 1024, 1025, 5000] {
            let mut order = drawn(len as u64, len);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..len), "len {len}");
        }
    }

    #[test]
    fn the_sparse_and_the_dense_table_draw_the_same_permutation() {
        for len in [2, 100, 4000] {
            let rng = ChaCha8Rng::seed_from_u64(9);
            let mut dense = Permutation::new(rng.clone(), len);
            dense.table = Table::Dense(identity(len));
            let mut sparse = Permutation::new(rng, len);
            sparse.table = Table::Sparse(Sparse::with_hasher(FixedState));
            assert!(dense.eq(sparse), "len {len}");
        }
    }

    #[test]
    fn all_orders_of_four_elements_are_drawn_about_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        let draws = 24_000;
        for seed in 0..draws {
            *counts.entry(drawn(seed, 4)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let expected = f64::from(draws as u32) / 24.0;
        let chi_square: f64 = counts
            .values()
            .map(|&n| (f64::from(n) - expected).powi(2) / expected)
            .sum();
        // 23 degrees of freedom: 60 is beyond the 0.9999 quantile; the seeds are fixed, so this cannot flake.
        assert!(chi_square < 60.0, "chi square {chi_square}");
    }
}
