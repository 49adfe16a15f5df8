//! A lazily drawn permutation.

use super::generator::Xoshiro256;
use crate::context::orders::LONGEST;
use crate::hidden::{self, Box, Vec};

/// Maximum length of a permutation that does not allocate and is drawn from one word: 16! is below
/// 2^45.
pub(super) const SHORT: usize = 16;

/// Maximum length of a permutation that is drawn completely at once. One tight loop costs less than
/// repeated calls.
const AT_ONCE: usize = 1 << 7;

/// Maximum length of a permutation whose table is allocated in full at once.
const LAID_OUT: usize = 1 << 10;

/// Number of draws from a longer permutation after which its table is allocated in full.
const SPARSE_DRAWS: usize = 32;

/// Number of words that are drawn at a time, and at the first time.
const WORDS: usize = 128;
const FIRST_WORDS: usize = 4;

/// A permutation of `0..len`, drawn by a forward Fisher–Yates shuffle (Durstenfeld 1964). A long
/// one is drawn some positions at a time, and its table stays virtual for the first draws.
///
/// The first position costs O(min(len, 1024)), so reading the first of a million entries does not
/// shuffle a million. The sequence depends only on the generator and the length. Its memory is from
/// the [arena](crate::arena).
#[derive(Clone, Debug)]
pub struct Permutation(Drawn);

#[derive(Clone, Debug)]
enum Drawn {
    Short(Short),
    Long(Box<Long>),
    /// From the last position to the first, with the number of remaining positions.
    Backward(usize),
}

/// All positions, stored inline.
#[derive(Clone, Copy, Debug)]
struct Short {
    order: [u8; SHORT],
    next: u8,
    len: u8,
}

/// Positions that are drawn on demand.
#[derive(Clone, Debug)]
struct Long {
    /// The first `drawn` entries are final.
    table: Vec<u32>,
    drawn: usize,
    next: usize,
    /// Source of the remaining positions.
    rest: Option<Box<Rest>>,
}

#[derive(Clone, Debug)]
struct Rest {
    rng: Xoshiro256,
    len: usize,
    /// State of the virtual table; `None` once the table is allocated in full.
    sparse: Option<Sparse>,
}

/// Entries of a virtual table.
#[derive(Clone, Debug)]
struct Sparse {
    /// Remainder of the current word, and the number of draws that it still allows.
    word: u64,
    left: usize,
    /// The positions whose entry differs from their own number, with the entry.
    moved: [(u32, u32); SPARSE_DRAWS],
    len: usize,
}

impl Sparse {
    /// Stores `value` at a position, and returns the previous entry.
    fn replace(&mut self, position: u32, value: u32) -> u32 {
        let mut moved = self.moved[..self.len].iter_mut();
        if let Some((_, there)) = moved.find(|(moved, _)| *moved == position) {
            return std::mem::replace(there, value);
        }
        self.moved[self.len] = (position, value);
        self.len += 1;
        position
    }

    /// Returns the entry at a position.
    fn get(&self, position: u32) -> u32 {
        let mut moved = self.moved[..self.len].iter();
        moved.find(|(moved, _)| *moved == position).map_or(position, |(_, value)| *value)
    }
}

impl Permutation {
    /// Draws the permutation of `0..len` from `rng`. Up to a length of 16,
    /// [`of_word`](Permutation::of_word) is the function to use.
    ///
    /// # Panics
    /// Panics for more than 2^32 positions.
    pub fn new(rng: Xoshiro256, len: usize) -> Self {
        assert!(u32::try_from(len).is_ok(), "positions have 32 bits");
        let mut long = Long { table: hidden::vec(), drawn: 0, next: 0, rest: None };
        if len <= LAID_OUT {
            long.table = identity(len);
        }
        if len <= AT_ONCE {
            let mut rng = rng;
            shuffle(&mut long.table, 0, draws_of_word(len), WORDS, || rng.word());
            long.drawn = len;
        } else {
            let sparse = (len > LAID_OUT).then_some(Sparse {
                word: 0,
                left: 0,
                moved: [(0, 0); SPARSE_DRAWS],
                len: 0,
            });
            long.rest = Some(hidden::boxed(Rest { rng, len, sparse }));
        }
        Permutation(Drawn::Long(hidden::boxed(long)))
    }

    /// Returns the permutation of `0..len` that a word encodes.
    ///
    /// # Panics
    /// Panics for more than 16 positions.
    pub fn of_word(word: u64, len: usize) -> Self {
        let mut order = Short::IDENTITY;
        shuffle(&mut order[..len], 0, SHORT, 1, || word);
        Permutation(Drawn::Short(Short { order, next: 0, len: len as u8 }))
    }

    /// Returns the permutation that the first `len` bytes list.
    #[inline]
    pub(super) fn of_bytes(order: &[u8; LONGEST], len: usize) -> Self {
        if len > SHORT {
            return Permutation::listed(order[..len].iter().map(|&position| position.into()));
        }
        let order = order.first_chunk().copied();
        Permutation(Drawn::Short(Short {
            order: order.unwrap_or(Short::IDENTITY),
            next: 0,
            len: len as u8,
        }))
    }

    /// Returns the permutation from the last position to the first. Costs O(1), and so does each
    /// position.
    pub const fn reversed(len: usize) -> Self {
        Permutation(Drawn::Backward(len))
    }

    /// Returns whether this is the reverse order, made by [`reversed`](Permutation::reversed).
    pub const fn is_reversed(&self) -> bool {
        matches!(self.0, Drawn::Backward(_))
    }

    /// Returns whether a list has each position below its length once.
    pub fn is_listed_once(order: &[u32]) -> bool {
        let mut is_there = hidden::collect(std::iter::repeat_n(false, order.len()));
        order.iter().all(|&position| {
            let seen = is_there.get_mut(position as usize);
            seen.is_some_and(|seen| !std::mem::replace(seen, true))
        })
    }

    /// Returns the listed permutation, which must have each position once.
    pub fn listed(positions: impl ExactSizeIterator<Item = u32>) -> Self {
        let len = positions.len();
        if len > SHORT {
            return Permutation(Drawn::Long(hidden::boxed(Long {
                table: hidden::collect(positions),
                drawn: len,
                next: 0,
                rest: None,
            })));
        }
        let mut order = [0; SHORT];
        for (at, position) in order.iter_mut().zip(positions) {
            *at = position as u8;
        }
        Permutation(Drawn::Short(Short { order, next: 0, len: len as u8 }))
    }

    /// Returns the number of remaining positions.
    pub fn remaining(&self) -> usize {
        match &self.0 {
            Drawn::Short(short) => usize::from(short.len - short.next),
            Drawn::Long(long) => match &long.rest {
                Some(rest) => rest.len - long.next,
                None => long.table.len() - long.next,
            },
            Drawn::Backward(left) => *left,
        }
    }
}

impl Short {
    const IDENTITY: [u8; SHORT] = {
        let mut order = [0; SHORT];
        let mut at = 0;
        while at < SHORT {
            order[at] = at as u8;
            at += 1;
        }
        order
    };
}

impl Iterator for Permutation {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        match &mut self.0 {
            Drawn::Short(short) => {
                let position =
                    *short.order[..usize::from(short.len)].get(usize::from(short.next))?;
                short.next += 1;
                Some(position.into())
            }
            Drawn::Long(long) => {
                if long.next == long.drawn {
                    long.draw();
                }
                let position = *long.table.get(long.next)?;
                long.next += 1;
                Some(position as usize)
            }
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

    #[inline]
    fn fold<B, F: FnMut(B, usize) -> B>(self, init: B, mut f: F) -> B {
        match self.0 {
            Drawn::Short(short) => {
                let order = &short.order[..usize::from(short.len)];
                let left = order.iter().skip(short.next.into());
                left.fold(init, |acc, &position| f(acc, position.into()))
            }
            Drawn::Long(long) => {
                let mut long = Box::into_inner(long);
                let mut acc = init;
                loop {
                    let drawn = &long.table[long.next..long.drawn];
                    acc = drawn.iter().fold(acc, |acc, &position| f(acc, position as usize));
                    long.next = long.drawn;
                    long.draw();
                    if long.next == long.drawn {
                        return acc;
                    }
                }
            }
            Drawn::Backward(left) => (0..left).rev().fold(init, f),
        }
    }
}

impl ExactSizeIterator for Permutation {}
impl std::iter::FusedIterator for Permutation {}

impl Long {
    /// Draws more positions, if any remain.
    #[cold]
    fn draw(&mut self) {
        let Some(rest) = self.rest.as_deref_mut() else { return };
        let from_word = draws_of_word(rest.len);
        if let Some(sparse) = &mut rest.sparse {
            if self.drawn < SPARSE_DRAWS {
                if sparse.left == 0 {
                    (sparse.word, sparse.left) = (rest.rng.word(), from_word);
                }
                let here = self.drawn as u32;
                let there = here + draw(&mut sparse.word, rest.len - self.drawn) as u32;
                let at_here = sparse.get(here);
                self.table.push(if there == here {
                    at_here
                } else {
                    sparse.replace(there, at_here)
                });
                sparse.left -= 1;
                self.drawn += 1;
                return;
            }
            self.lay_out();
            return self.draw();
        }
        let words = if self.drawn == 0 { FIRST_WORDS } else { WORDS };
        let rng = &mut rest.rng;
        self.drawn = shuffle(&mut self.table, self.drawn, from_word, words, || rng.word());
    }

    /// Allocates the table in full, and uses up the current word.
    fn lay_out(&mut self) {
        let Some(rest) = self.rest.as_deref_mut() else { return };
        let Some(sparse) = rest.sparse.take() else { return };
        let mut table = identity(rest.len);
        table[..self.drawn].copy_from_slice(&self.table);
        for &(position, value) in &sparse.moved[..sparse.len] {
            // The positions below are final, and `self.table` has them.
            if position as usize >= self.drawn {
                table[position as usize] = value;
            }
        }
        self.table = table;
        let words = sparse.left.min(1);
        let word = || sparse.word;
        self.drawn = shuffle(&mut self.table, self.drawn, sparse.left, words, word);
    }
}

/// Returns how many draws below `len` are made from one word. There is no rejection, so that every
/// draw consumes the same amount of the generator. The bias is below 2^-14.
const fn draws_of_word(len: usize) -> usize {
    match len {
        0..=0x400 => 5,
        0x401..=0x1000 => 4,
        0x1001..=0x1_0000 => 3,
        0x1_0001..=0x100_0000 => 2,
        _ => 1,
    }
}

/// Returns a number below `bound` from the high bits of `word`, and leaves the low bits for the
/// next draw. Several bounded draws come from one word (Brackett-Rozinsky and Lemire, "Batched
/// ranged random integer generation", 2024).
#[inline]
pub(super) fn draw(word: &mut u64, bound: usize) -> usize {
    let product = u128::from(*word) * bound as u128;
    *word = product as u64;
    (product >> 64) as usize
}

/// Continues a shuffle at the position `from`, with `from_word` draws from each of at most `words`
/// words. Returns the position that it reached. The words do not depend on each other, so the
/// processor overlaps them.
#[inline]
pub(super) fn shuffle<T>(
    table: &mut [T],
    from: usize,
    from_word: usize,
    words: usize,
    mut word: impl FnMut() -> u64,
) -> usize {
    let len = table.len();
    let mut here = from;
    let end = len.min(from + words * from_word);
    while here < end {
        let mut word = word();
        for _ in 0..from_word.min(end - here) {
            let there = here + draw(&mut word, len - here);
            table.swap(here, there);
            here += 1;
        }
    }
    here
}

fn identity(len: usize) -> Vec<u32> {
    let mut table = hidden::vec();
    table.resize(len, 0);
    // A loop without branches.
    for (at, position) in table.iter_mut().enumerate() {
        *position = at as u32;
    }
    table
}

#[cfg(test)]
mod tests;
