//! Which order a seed means at one choice: the first seeds are designed, all others are random.
//!
//! A random order finds a bug with the probability that the bug has, again and again. A design does better, because what one
//! run has tried the next ones need not: after the clean run and the run of seed 0, which *reverses* the base order, every two
//! elements were seen in both orders. The seeds after it make a small *covering design* for each choice, up to a length of
//! [`DESIGNED_LEN`]:
//!
//! - 3 elements: the four orders that are left, which are rotations of the base order and of its reverse;
//! - 4 to 8: a sequence covering array of strength 3 (Kuhn, Higdon, Lawrence, Kacker and Lei, "Combinatorial methods for event
//!   sequence testing", 2012; Chee, Colbourn, Horsley and Zhou, "Sequence covering arrays", 2013). At most eight orders have
//!   every three elements in all six orders, and every element once first and once last;
//! - more: a random order and its reverse by turns, so that three elements are never twice in one order before they were in its
//!   reverse; the elements that come first and last rotate, so that every one was first, and last, after about as many
//!   seeds as there are elements.
//!
//! **Choices stay independent.** If one structure served all choices, two reads would agree where they should not. So the
//! elements of the design are renamed, and its orders exchanged, by a generator that is keyed by the choice: taken alone, each
//! order is any permutation with the same probability, and the orders of two choices have nothing to do with each other. Only seed 0
//! is the same everywhere; what shows when two choices differ is found by the others.
//!
//! **A seed stands alone.** The order depends on the seed, the choice and the length, not on which other seeds are run.

use std::fmt;
use std::str::FromStr;

use serde_derive::{Deserialize, Serialize};

use crate::choice::generator;
use crate::hash::mix;
use crate::permutation::{Permutation, draw};

/// From which orders a campaign's seeds are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The first seeds are a covering design, the others are random.
    #[default]
    Covering,
    /// Every seed is random.
    Random,
}

/// Longer sequences are reversed by seed 0 and have no further design: it would need a thousand seeds, and the first element of a
/// million must not cost a permutation of a million.
pub const DESIGNED_LEN: usize = 1 << 10;

/// The level and the key of one choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) tag: u64,
    pub(crate) a: u64,
    pub(crate) b: u64,
}

impl Schedule {
    /// Every schedule.
    pub const ALL: [Schedule; 2] = [Schedule::Covering, Schedule::Random];

    /// The name on the command line and in every record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Schedule::Covering => "covering",
            Schedule::Random => "random",
        }
    }

    /// Whether it is the one that need not be written down.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Schedule::default()
    }

    /// Whether `seed` reverses every base order, whichever choice it is of.
    #[must_use]
    pub fn reverses(self, seed: u64) -> bool {
        self == Schedule::Covering && seed == 0
    }

    /// How many seeds, from 0, are designed for sequences of `len` elements.
    #[must_use]
    pub const fn designed(self, len: usize) -> u64 {
        match self {
            Schedule::Covering => 1 + rows(len) as u64,
            Schedule::Random => 0,
        }
    }

    /// The order of `len` elements that `seed` means at a choice. Costs O(1) for seed 0, and as much as
    /// [`Permutation::new`] for any other.
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
        6..=8 => EIGHT.len(),
        9..=DESIGNED_LEN => len.next_multiple_of(WINDOW),
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
        6..=8 => &EIGHT[row],
        _ => {
            let mut order =
                Permutation::shuffled(generator(row as u64 / 2, tag, key.a, key.b), len);
            let ends = [row & !1, row | 1].map(|at| rotated(mixed, at, len));
            for (place, element) in [0, len - 1].into_iter().zip(ends) {
                let at = order.iter().position(|&other| other == element);
                order.swap(place, at.expect("every element is in the order"));
            }
            if row % 2 == 1 {
                order.reverse();
            }
            return order;
        }
    };
    let names = Permutation::shuffled(generator(0, tag, key.a, key.b), len);
    let renamed = |&element: &u8| names.get(usize::from(element)).copied();
    array.iter().filter_map(renamed).collect()
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

/// The element that is number `at` in going round, from anywhere, in steps that meet every element once before any twice. The step
/// is about the golden section of the length, so that the first few are far from each other.
fn rotated(mixed: u64, at: usize, len: usize) -> u32 {
    let coprime = |step: &usize| gcd(*step, len) == 1;
    let golden = (len * 618).div_ceil(1000);
    let step = (golden..len).find(coprime).unwrap_or(1);
    let start = draw(&mut { mixed }, len);
    ((start + at % len * step) % len) as u32
}

const fn gcd(mut a: usize, mut b: usize) -> usize {
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

/// Sequence covering arrays of strength 3, found by simulated annealing; the tests check them. What is not below the length is
/// left out, which keeps an array covering.
const FOUR: [[u8; 4]; 6] = [
    [1, 2, 0, 3],
    [0, 3, 1, 2],
    [2, 3, 1, 0],
    [3, 2, 0, 1],
    [1, 3, 0, 2],
    [0, 2, 1, 3],
];
const FIVE: [[u8; 5]; 7] = [
    [4, 0, 3, 1, 2],
    [1, 2, 4, 3, 0],
    [2, 0, 3, 1, 4],
    [1, 0, 3, 4, 2],
    [3, 0, 2, 4, 1],
    [0, 4, 2, 1, 3],
    [3, 4, 2, 1, 0],
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

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error of parsing a [`Schedule`]: the text that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseScheduleError {
    found: String,
}

impl fmt::Display for ParseScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown schedule `{}`, expected covering or random",
            self.found
        )
    }
}

impl std::error::Error for ParseScheduleError {}

impl FromStr for Schedule {
    type Err = ParseScheduleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Schedule::ALL
            .into_iter()
            .find(|schedule| schedule.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| ParseScheduleError {
                found: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests;
