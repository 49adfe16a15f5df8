//! Which order a seed means at one choice: the first seeds are designed, all others are random.
//!
//! A random order finds a bug with the probability that the bug has, again and again. A design does better, because what one
//! run has tried the next ones need not: after the clean run and the run of seed 0, which *reverses* the base order, every two
//! elements were seen in both orders. The seeds after it make a small *covering design* for each choice, up to a length of
//! [`DESIGNED_LEN`]:
//!
//! - 3 elements: the four orders that are left, which are rotations of the base order and of its reverse;
//! - 4 to 8: a sequence covering array of strength 3 (Kuhn, Higdon, Lawrence, Kacker and Lei, "Combinatorial methods for event
//!   sequence testing", 2012; Chee, Colbourn, Horsley and Zhou, "Sequence covering arrays", 2013). At most nine orders have
//!   every three elements in all six orders, and every element at every position;
//! - more: a random Latin square that has the reverse of each of its orders, so that as many orders as there are elements
//!   have every element at every position (once, if their number is even), and every two elements are equally often in both orders.
//!   Orders and their reverses come close to each other: three elements are never twice in one order before they were
//!   in its reverse, or nearly so.
//!
//! **Choices stay independent.** If one structure served all choices, two reads would agree where they should not. So the
//! elements of the design are renamed, and its orders exchanged, by a generator that is keyed by the choice: taken alone, each
//! order is any permutation with the same probability, and the orders of two choices have nothing to do with each other. Only seed 0
//! is the same everywhere; what shows when two choices differ is found by the others.
//!
//! **A seed stands alone.** The order depends on the seed, the choice and the length, not on which other seeds are run.

use super::generator::generator;
use super::permutation::{Permutation, draw};
use crate::hash::mix;
use crate::protocol::schedule::Schedule;

/// Longer sequences are reversed by seed 0 and have no further design: it would need hundreds of seeds, and an order of it costs about
/// twice as much as a random one, which counts when a long sequence is read again and again.
pub(super) const DESIGNED_LEN: usize = 1 << 8;

/// The level and the key of one choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) tag: u64,
    pub(crate) a: u64,
    pub(crate) b: u64,
}

impl Schedule {
    /// How many seeds, from 0, are designed for sequences of `len` elements.
    #[must_use]
    pub const fn designed(self, len: usize) -> u64 {
        match self {
            Schedule::Covering => 1 + rows(len) as u64,
            Schedule::Random => 0,
        }
    }

    /// The order of `len` elements that `seed` means at a choice. Costs O(1) for seed 0, about twice as much as
    /// [`Permutation::new`] for the other designed ones, and as much for all others.
    pub(crate) fn order(self, seed: u64, key: Key, len: usize) -> Permutation {
        if self.reverses(seed) {
            return Permutation::reversed(len);
        }
        if seed < self.designed(len) {
            return Permutation::listed(designed(seed as usize - 1, key, len));
        }
        Permutation::new(generator(seed, key.tag, key.a, key.b), len)
    }
}

/// How many orders the design has beside the reverse.
const fn rows(len: usize) -> usize {
    match len {
        0..=2 => 0,
        3 => THREE.len(),
        4 => FOUR.len(),
        5 => FIVE.len(),
        6 => SIX.len(),
        7 => SEVEN.len(),
        8 => EIGHT.len(),
        9..=DESIGNED_LEN => len.next_multiple_of(2),
        _ => 0,
    }
}

/// One order of the design.
fn designed(row: usize, key: Key, len: usize) -> Vec<u32> {
    let tag = key.tag | DESIGN_TAG;
    let mixed = mix(key.a ^ mix(key.b ^ mix(tag)));
    // Of each window the orders are exchanged.
    let start = row - row % WINDOW;
    let row = start + exchanged(mixed, start, WINDOW.min(rows(len) - start))[row % WINDOW];
    let array: &[u8] = match len {
        3 => return THREE[row].to_vec(),
        4 => &FOUR[row],
        5 => &FIVE[row],
        6 => &SIX[row],
        7 => &SEVEN[row],
        8 => &EIGHT[row],
        _ => return turned(row, Key { tag, ..key }, mixed, len),
    };
    let [names] = Permutation::shuffled(generator(0, tag, key.a, key.b), [len]);
    let renamed = array.iter().map(|&element| names[usize::from(element)]);
    renamed.collect()
}

/// One order of a balanced Latin square: all elements stand on a wheel, which is read off at places in a fixed sequence and turned
/// a bit for each order. The places are such that after half a turn they are read backward.
fn turned(row: usize, key: Key, mixed: u64, len: usize) -> Vec<u32> {
    let half = len.div_ceil(2);
    let all = 2 * half;
    let rng = generator(0, key.tag, key.a, key.b);
    let [wheel, places] = Permutation::shuffled(rng, [all, half]);
    // Without a branch, which could not be predicted: below zero is large.
    let wrapped = |place: usize| place.min(place.wrapping_sub(all));
    let turn = along(mixed, row / 2, half) + row % 2 * half;
    let mut order = vec![0; all];
    for (at, place) in places.into_iter().enumerate() {
        let side = mix(mixed ^ !(at as u64)) as usize & 1;
        let place = wrapped(place as usize + side * half + turn);
        order[at] = wheel[place];
        order[all - 1 - at] = wheel[wrapped(place + half)];
    }
    // Of an odd number of elements one place of the wheel is empty.
    if all > len {
        order.retain(|&element| (element as usize) < len);
    }
    order
}

/// The orders of a window in the sequence in which a choice takes them.
fn exchanged(mixed: u64, window: usize, len: usize) -> [usize; WINDOW] {
    let mut sequence = std::array::from_fn(|at| at);
    let mut word = mix(mixed ^ window as u64);
    for here in 0..len {
        sequence.swap(here, here + draw(&mut word, len - here));
    }
    sequence
}

/// Number `at` of a walk around `len` places, from anywhere, that meets every place once before any twice. Its step is about the
/// golden section, so that the first few are far from each other.
fn along(mixed: u64, at: usize, len: usize) -> usize {
    let golden = (len * 618).div_ceil(1000);
    let coprime = |step: &usize| gcd(*step as u32, len as u32) == 1;
    let step = (golden..len).find(coprime).unwrap_or(1);
    let start = draw(&mut { mixed }, len);
    (start + at * step) % len
}

const fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Separates designs from the orders that a seed draws.
const DESIGN_TAG: u64 = 32;

/// So many orders are exchanged with each other.
const WINDOW: usize = 8;

/// The orders of three elements that are neither the base order nor its reverse.
const THREE: [[u32; 3]; 4] = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1]];

/// Sequence covering arrays of strength 3 that have every element at every position, found by simulated annealing; the tests
/// check them.
const FOUR: [[u8; 4]; 8] = [
    [3, 2, 0, 1],
    [1, 2, 0, 3],
    [0, 3, 1, 2],
    [2, 1, 3, 0],
    [1, 0, 3, 2],
    [3, 0, 2, 1],
    [0, 2, 1, 3],
    [2, 3, 1, 0],
];
const FIVE: [[u8; 5]; 8] = [
    [3, 4, 1, 2, 0],
    [4, 1, 2, 3, 0],
    [0, 2, 4, 1, 3],
    [2, 1, 4, 0, 3],
    [4, 0, 3, 2, 1],
    [0, 3, 1, 2, 4],
    [1, 3, 0, 4, 2],
    [2, 3, 0, 1, 4],
];
const SIX: [[u8; 6]; 9] = [
    [0, 1, 5, 2, 3, 4],
    [4, 5, 3, 0, 2, 1],
    [3, 0, 2, 1, 4, 5],
    [2, 3, 5, 4, 0, 1],
    [1, 4, 2, 5, 3, 0],
    [4, 1, 0, 3, 5, 2],
    [0, 5, 4, 3, 1, 2],
    [5, 2, 1, 0, 4, 3],
    [3, 4, 2, 1, 0, 5],
];
const SEVEN: [[u8; 7]; 9] = [
    [2, 4, 3, 6, 1, 0, 5],
    [1, 6, 0, 3, 2, 5, 4],
    [0, 3, 6, 4, 5, 1, 2],
    [1, 5, 2, 0, 4, 6, 3],
    [6, 2, 5, 3, 0, 4, 1],
    [4, 0, 2, 1, 5, 3, 6],
    [3, 0, 5, 2, 1, 6, 4],
    [5, 6, 1, 4, 3, 2, 0],
    [3, 1, 4, 5, 6, 0, 2],
];
const EIGHT: [[u8; 8]; 8] = [
    [3, 4, 1, 0, 2, 5, 6, 7],
    [5, 0, 2, 7, 3, 4, 1, 6],
    [1, 7, 4, 6, 5, 0, 3, 2],
    [2, 6, 5, 1, 4, 3, 7, 0],
    [0, 5, 6, 4, 7, 1, 2, 3],
    [4, 3, 7, 2, 0, 6, 5, 1],
    [7, 1, 3, 5, 6, 2, 0, 4],
    [6, 2, 0, 3, 1, 7, 4, 5],
];

#[cfg(test)]
mod tests;
