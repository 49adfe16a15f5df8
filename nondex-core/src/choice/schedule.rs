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
//! elements of the design are renamed, and its orders exchanged, by words that are keyed by the choice: taken alone, each
//! order is any permutation with the same probability, and the orders of two choices have nothing to do with each other. Only seed 0
//! is the same everywhere; what shows when two choices differ is found by the others.
//!
//! **A seed stands alone.** The order depends on the seed, the choice and the length, not on which other seeds are run.

use rand_core::Rng;

use super::generator::{generator, word};
use super::permutation::{Permutation, SHORT, draw, shuffle};
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
            Schedule::Random | Schedule::Systematic => 0,
        }
    }

    /// The order of `len` elements that `seed` means at a choice. Costs O(1) for seed 0, about twice as much as
    /// [`Permutation::new`] for the other designed ones, and as much for all others.
    pub(crate) fn order(self, seed: u64, key: Key, len: usize) -> Permutation {
        if self.reverses(seed) {
            return Permutation::reversed(len);
        }
        if seed < self.designed(len) {
            return designed(seed as usize - 1, key, len);
        }
        if len <= SHORT {
            return Permutation::of_word(word(seed, key.tag, key.a, key.b), len);
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
fn designed(row: usize, key: Key, len: usize) -> Permutation {
    let of_choice = |number| word(number, key.tag | DESIGN_TAG, key.a, key.b);
    // Of each window the orders are exchanged.
    let start = row - row % WINDOW;
    let row = start
        + exchanged(
            of_choice(start as u64),
            row % WINDOW,
            WINDOW.min(rows(len) - start),
        );
    let array: &[u8] = match len {
        3 => return Permutation::listed(THREE[row].into_iter()),
        4 => &FOUR[row],
        5 => &FIVE[row],
        6 => &SIX[row],
        7 => &SEVEN[row],
        8 => &EIGHT[row],
        9..=SHORT => return turned::<SHORT>(row, key, len),
        _ => return turned::<DESIGNED_LEN>(row, key, len),
    };
    let mut names = const { identity::<8>() };
    shuffle(&mut names[..len], 0, len, 1, || of_choice(WHEEL));
    Permutation::listed(
        array
            .iter()
            .map(|&element| names[usize::from(element)].into()),
    )
}

/// One order of a balanced Latin square: all elements stand on a wheel, which is read off at places in a fixed sequence and turned
/// a bit for each order. The places are such that after half a turn they are read backward.
fn turned<const ROOM: usize>(row: usize, key: Key, len: usize) -> Permutation {
    let half = len.div_ceil(2);
    let all = 2 * half;
    let of_choice = |number| word(number, key.tag | DESIGN_TAG, key.a, key.b);
    let (mut wheel, mut places) = (const { identity::<ROOM>() }, const { identity::<ROOM>() });
    let (wheel, places) = (&mut wheel[..all], &mut places[..half]);
    if ROOM == SHORT {
        shuffle(wheel, 0, all, 1, || of_choice(WHEEL));
        shuffle(places, 0, half, 1, || of_choice(PLACES));
    } else {
        let mut rng = generator(0, key.tag | DESIGN_TAG, key.a, key.b);
        shuffle(wheel, 0, FROM_WORD, all, || rng.next_u64());
        shuffle(places, 0, FROM_WORD, half, || rng.next_u64());
    }
    // Without a branch, which could not be predicted: below zero is large.
    let wrapped = |place: usize| place.min(place.wrapping_sub(all));
    let turn = along(of_choice(TURN), row / 2, half) + row % 2 * half;
    let mut order = [0; ROOM];
    let mut sides = 0;
    for (at, &place) in places.iter().enumerate() {
        if at % 64 == 0 {
            sides = of_choice(SIDES + at as u64);
        }
        let side = (sides >> (at % 64)) as usize & 1;
        let place = wrapped(usize::from(place) + side * half + turn);
        order[at] = wheel[place];
        order[all - 1 - at] = wheel[wrapped(place + half)];
    }
    if all > len {
        // Of an odd number of elements one place of the wheel is empty.
        let empty = order
            .iter()
            .position(|&element| usize::from(element) == len);
        order.copy_within(empty.unwrap_or(len) + 1..all, empty.unwrap_or(len));
    }
    Permutation::listed(order[..len].iter().map(|&element| element.into()))
}

/// What number `at` of the orders of a window is exchanged with, as a word says.
fn exchanged(mut word: u64, at: usize, len: usize) -> usize {
    let mut sequence: [usize; WINDOW] = std::array::from_fn(|at| at);
    for here in 0..=at {
        sequence.swap(here, here + draw(&mut word, len - here));
    }
    sequence[at]
}

/// Number `at` of a walk around `len` places, from anywhere, that meets every place once before any twice. Its step is about the
/// golden section, so that the first few are far from each other.
fn along(mut word: u64, at: usize, len: usize) -> usize {
    let start = draw(&mut word, len);
    (start + at * usize::from(STEPS[len])) % len
}

/// The steps around so many places.
const STEPS: [u8; DESIGNED_LEN / 2 + 1] = {
    let mut steps = [1; DESIGNED_LEN / 2 + 1];
    let mut len = 1;
    while len < steps.len() {
        let mut step = (len * 618).div_ceil(1000);
        while step < len && gcd(step as u32, len as u32) != 1 {
            step += 1;
        }
        if step < len {
            steps[len] = step as u8;
        }
        len += 1;
    }
    steps
};

const fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// All elements of a design in base order.
const fn identity<const LEN: usize>() -> [u8; LEN] {
    let mut all = [0; LEN];
    let mut at = 0;
    while at < LEN {
        all[at] = at as u8;
        at += 1;
    }
    all
}

/// Draws from one word of the generator below at most [`DESIGNED_LEN`].
const FROM_WORD: usize = 5;

/// What the words of a choice are for. Those below are for windows.
const WHEEL: u64 = 1 << 32;
const PLACES: u64 = 2 << 32;
const TURN: u64 = 3 << 32;
const SIDES: u64 = 4 << 32;

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
