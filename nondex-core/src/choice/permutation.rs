//! A uniform permutation that costs only what is looked at.

use std::vec;

use super::generator::ChaCha8Rng;
use hashbrown::HashMap as Sparse;
use rand_core::Rng;

use crate::hash::FixedState;

/// Up to this length a permutation is drawn whole at once: in one tight loop that costs less than the pauses between
/// draws.
const AT_ONCE: usize = 1 << 10;

/// After this many draws from a longer permutation its table is laid out in full.
const SPARSE_DRAWS: usize = 64;

/// A permutation of `0..len`: a forward Fisher–Yates shuffle (Durstenfeld 1964), drawn position by position when it is
/// long, over a table that is virtual until it is worth having.
///
/// The first position costs O(min(len, 1024)), so the first entry of a million is not a shuffle of a million. The
/// sequence depends on nothing but the generator and the length.
#[derive(Clone, Debug)]
pub struct Permutation(Drawn);

#[derive(Clone, Debug)]
enum Drawn {
    /// All positions are drawn.
    Whole(vec::IntoIter<u32>),
    /// Positions are drawn as they are asked for. Apart, so that the short case needs no more than two registers.
    Lazily(Box<Lazy>),
    /// From the last to the first; so many are left.
    Backward(usize),
}

impl Permutation {
    /// The permutation of `0..len` that `rng` draws.
    #[must_use]
    pub fn new(rng: ChaCha8Rng, len: usize) -> Self {
        let mut draws = Draws::new(rng, len);
        Permutation(if len <= AT_ONCE {
            Drawn::Whole(shuffled(&mut draws, len).into_iter())
        } else {
            Drawn::Lazily(Box::new(Lazy {
                draws,
                table: Table::Sparse(Sparse::with_hasher(FixedState)),
                next: 0,
                len,
            }))
        })
    }

    /// From the last position to the first. Costs O(1), and so does each position.
    #[must_use]
    pub const fn reversed(len: usize) -> Self {
        Permutation(Drawn::Backward(len))
    }

    /// Whether nothing else was drawn than that the order is reversed.
    #[must_use]
    pub const fn is_reversed(&self) -> bool {
        matches!(self.0, Drawn::Backward(_))
    }

    /// Whether a list has each position below its length once.
    #[must_use]
    pub fn is_listed_once(order: &[u32]) -> bool {
        let mut is_there = vec![false; order.len()];
        order.iter().all(|&position| {
            let seen = is_there.get_mut(position as usize);
            seen.is_some_and(|seen| !std::mem::replace(seen, true))
        })
    }

    /// All of several permutations, one after the other, of at most [`AT_ONCE`] positions each.
    pub(crate) fn shuffled<const N: usize>(rng: ChaCha8Rng, lens: [usize; N]) -> [Vec<u32>; N] {
        let mut draws = Draws::new(rng, 0);
        lens.map(|len| shuffled(&mut draws, len))
    }

    /// The permutation that is listed, which has each position once.
    pub(crate) fn listed(order: Vec<u32>) -> Self {
        Permutation(Drawn::Whole(order.into_iter()))
    }

    /// How many positions are left to draw.
    #[must_use]
    pub fn remaining(&self) -> usize {
        match &self.0 {
            Drawn::Whole(order) => order.len(),
            Drawn::Lazily(lazy) => lazy.len - lazy.next,
            Drawn::Backward(left) => *left,
        }
    }
}

impl Iterator for Permutation {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match &mut self.0 {
            Drawn::Whole(order) => order.next().map(|position| position as usize),
            Drawn::Lazily(lazy) => lazy.draw(),
            Drawn::Backward(left) => {
                *left = left.checked_sub(1)?;
                Some(*left)
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining(), Some(self.remaining()))
    }
}

impl ExactSizeIterator for Permutation {}
impl std::iter::FusedIterator for Permutation {}

/// Bounded draws, several from one word of the generator: after a multiplication by the bound the high half is the draw
/// and the low half serves for the next (Brackett-Rozinsky and Lemire, "Batched ranged random integer generation",
/// 2024). Without rejection, so that every draw takes the same amount of the generator: the bias is below 2^-14 for
/// tables of up to 1,024 entries, and 2^-32 above.
#[derive(Clone, Debug)]
struct Draws {
    rng: ChaCha8Rng,
    word: u64,
    left: usize,
    from_one_word: usize,
}

impl Draws {
    fn new(rng: ChaCha8Rng, len: usize) -> Self {
        let from_one_word = if len <= AT_ONCE {
            5
        } else if len <= 1 << 16 {
            2
        } else {
            1
        };
        Draws {
            rng,
            word: 0,
            left: 0,
            from_one_word,
        }
    }

    #[inline]
    fn below(&mut self, bound: usize) -> usize {
        if self.left == 0 {
            self.word = self.rng.next_u64();
            self.left = self.from_one_word;
        }
        self.left -= 1;
        draw(&mut self.word, bound)
    }
}

/// A number below `bound` from the high bits of `word`; the low bits are left for the next.
#[inline]
pub(crate) fn draw(word: &mut u64, bound: usize) -> usize {
    let product = u128::from(*word) * bound as u128;
    *word = product as u64;
    (product >> 64) as usize
}

/// As many draws as there are positions, a word's worth at a time: the words do not wait for each other.
fn shuffled(draws: &mut Draws, len: usize) -> Vec<u32> {
    let mut table = identity(len);
    let mut here = 0;
    while here < len {
        let mut word = draws.rng.next_u64();
        for _ in 0..draws.from_one_word.min(len - here) {
            let there = here + draw(&mut word, len - here);
            table.swap(here, there);
            here += 1;
        }
    }
    table
}

fn identity(len: usize) -> Vec<u32> {
    (0..len as u32).collect()
}

#[derive(Clone, Debug)]
struct Lazy {
    draws: Draws,
    table: Table,
    next: usize,
    len: usize,
}

#[derive(Clone, Debug)]
enum Table {
    /// What is not where it was.
    Sparse(Sparse<usize, usize, FixedState>),
    Dense(Vec<u32>),
}

impl Lazy {
    fn draw(&mut self) -> Option<usize> {
        let here = self.next;
        if here == self.len {
            return None;
        }
        let there = here + self.draws.below(self.len - here);
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
                if self.next == SPARSE_DRAWS && u32::try_from(self.len).is_ok() {
                    let mut dense = identity(self.len);
                    for (&position, &value) in &*moved {
                        dense[position] = value as u32;
                    }
                    self.table = Table::Dense(dense);
                }
                drawn
            }
        })
    }
}

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
    fn a_reversed_permutation_goes_from_the_last_position_to_the_first() {
        for len in [0, 1, 2, 1_000_000] {
            let mut order = Permutation::reversed(len);
            assert_eq!(order.len(), len);
            assert!(order.by_ref().eq((0..len).rev()));
            assert_eq!((order.next(), order.len()), (None, 0));
        }
    }

    #[test]
    fn a_permutation_is_the_same_drawn_lazily_and_at_once() {
        for len in [2, 100, 1024, 4000] {
            let draws = Draws::new(ChaCha8Rng::seed_from_u64(9), len);
            let whole = shuffled(&mut draws.clone(), len);
            let table = Table::Sparse(Sparse::with_hasher(FixedState));
            let mut lazy = Lazy {
                draws,
                table,
                next: 0,
                len,
            };
            assert!(
                whole
                    .into_iter()
                    .map(|position| position as usize)
                    .eq(std::iter::from_fn(|| lazy.draw()))
            );
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
