//! The order that a seed represents at one choice: the first seeds form a design, all others are
//! random.
//!
//! Each random order finds a bug with the same probability. A design does better, because later
//! runs need not repeat what earlier ones tried. After the clean run and the run of seed 0, which
//! *reverses* the canonical order, every pair of elements was seen in both orders. The following
//! seeds form a small *covering design* for each choice, up to a length of [`DESIGNED_LEN`]:
//!
//! - 3 elements: the remaining four orders, which are rotations of the canonical order and of its
//!   reverse;
//! - 4 to 8: a sequence covering array of strength 3 (Kuhn, Higdon, Lawrence, Kacker and Lei,
//!   "Combinatorial methods for event sequence testing", 2012; Chee, Colbourn, Horsley and Zhou,
//!   "Sequence covering arrays", 2013). At most nine orders show every three elements in all six
//!   orders, and every element at every position;
//! - more: a Latin square that contains the reverse of each of its orders. As many orders as there
//!   are elements show every element at every position (once, if the number is even). They also
//!   show every two elements equally often in both orders. An order and its reverse come close to
//!   each other: three elements are almost never twice in one order before they were in its
//!   reverse. Up to 16 elements, the first eight orders of the square cover more triples than those
//!   of most squares. Beyond that, the square is random.
//!
//! **Choices stay independent.** If one structure served all choices, two reads would agree where
//! they should not. So words keyed by the choice rename the elements of the design and exchange its
//! orders. Taken alone, each order is any permutation with the same probability, and the orders of
//! two choices are unrelated. Only seed 0 is the same everywhere. The other seeds find bugs that
//! need two choices to differ.
//!
//! **A seed is independent of other seeds.** The order depends on the seed, the choice and the
//! length, not on which other seeds are run.

use super::generator::{Xoshiro256, word};
use super::permutation::{Permutation, SHORT, draw};
use crate::context::orders::{LONGEST, Orders};
use crate::protocol::schedule::Schedule;

/// Maximum length with a design. Seed 0 reverses longer sequences too, but a design for them would
/// need hundreds of seeds. An order of a design costs about twice as much as a random one, which
/// matters if a long sequence is read again and again.
pub(super) const DESIGNED_LEN: usize = LONGEST;

/// The data from which an order is drawn, in addition to the seed. Choices with equal keys have
/// equal orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub(crate) tag: u64,
    pub(crate) a: u64,
    pub(crate) b: u64,
}

impl Schedule {
    /// Returns how many seeds, from 0, form the design for sequences of `len` elements.
    pub const fn designed(self, len: usize) -> u64 {
        match self {
            Schedule::Covering => 1 + rows(len) as u64,
            Schedule::Random | Schedule::Systematic => 0,
        }
    }

    /// Returns the order of `len` elements that `seed` represents at a choice. Costs O(1) for seed
    /// 0, and as much as [`Permutation::new`] for random seeds. The other seeds of a design cost
    /// about twice as much.
    pub(crate) fn order(self, seed: u64, key: Key, len: usize) -> Permutation {
        self.long(seed, key, len).unwrap_or_else(|| {
            let mut order = [0; LONGEST];
            self.draw(seed, key, len, &mut order);
            Permutation::of_bytes(&order, len)
        })
    }

    /// Returns the order as [`order`](Schedule::order) does, with a cache of some orders drawn
    /// earlier.
    #[inline]
    pub(crate) fn order_again(
        self,
        seed: u64,
        key: Key,
        len: usize,
        orders: &mut Orders,
    ) -> Permutation {
        self.long(seed, key, len).unwrap_or_else(|| {
            let kind = len as u64 | (self as u64) << 32;
            let origin = [seed, key.tag, key.a, key.b, kind];
            let order = orders.get(origin, |order| self.draw(seed, key, len, order));
            Permutation::of_bytes(order, len)
        })
    }

    /// Returns the order, unless it is one that is drawn as bytes.
    #[inline]
    fn long(self, seed: u64, key: Key, len: usize) -> Option<Permutation> {
        if self.reverses(seed) {
            return Some(Permutation::reversed(len));
        }
        let is_long = len > SHORT && seed >= self.designed(len);
        is_long.then(|| Permutation::new(Xoshiro256::keyed(seed, key.tag, key.a, key.b), len))
    }

    /// Draws an order of the design, or a short one.
    fn draw(self, seed: u64, key: Key, len: usize, order: &mut [u8; LONGEST]) {
        if seed < self.designed(len) {
            designed(seed as usize - 1, key, len, order);
        } else {
            let mut short = IDENTITY_OF_SHORT;
            let own = word(seed, key.tag, key.a, key.b);
            shuffle_bytes(&mut short, len, SHORT, || own);
            order[..SHORT].copy_from_slice(&short);
        }
    }
}

/// Returns how many orders the design has in addition to the reverse.
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

/// Draws one order of the design.
fn designed(row: usize, key: Key, len: usize, order: &mut [u8; LONGEST]) {
    let of_choice = |number| word(number, key.tag | DESIGN_TAG, key.a, key.b);
    // The orders within each window are exchanged.
    let start = row - row % WINDOW;
    let row =
        start + exchanged(of_choice(start as u64), row % WINDOW, WINDOW.min(rows(len) - start));
    let array: &[u8] = match len {
        // The rows, the canonical order and its reverse are all orders, so renaming the elements
        // would add nothing.
        3 => return order[..3].copy_from_slice(&THREE[row]),
        4 => &FOUR[row],
        5 => &FIVE[row],
        6 => &SIX[row],
        7 => &SEVEN[row],
        8 => &EIGHT[row],
        9 | 10 => &TEN[row],
        11 | 12 => &TWELVE[row],
        13 | 14 => &FOURTEEN[row],
        15 | 16 => &SIXTEEN[row],
        _ => return turned(row, key, len, order),
    };
    let mut names = IDENTITY_OF_SHORT;
    shuffle_bytes(&mut names, len, SHORT, || of_choice(WHEEL));
    let mut at = 0;
    for &element in array {
        order[at % LONGEST] = names[usize::from(element) % SHORT];
        // An odd length has one element too many: the next element overwrites it.
        at += usize::from(usize::from(element) < len);
    }
}

/// Draws one order of a balanced Latin square. All elements are on a wheel, which is read at places
/// in a fixed sequence and turned a little for each order. After half a turn, the places are read
/// in reverse.
fn turned(row: usize, key: Key, len: usize, order: &mut [u8; LONGEST]) {
    let half = len.div_ceil(2);
    let all = 2 * half;
    let of_choice = |number| word(number, key.tag | DESIGN_TAG, key.a, key.b);
    let mut rng = Xoshiro256::keyed(0, key.tag | DESIGN_TAG, key.a, key.b);
    let (mut wheel, mut places) = (IDENTITY, IDENTITY);
    shuffle_bytes(&mut wheel, all, FROM_WORD, || rng.word());
    shuffle_bytes(&mut places, half, FROM_WORD, || rng.word());
    // Avoids an unpredictable branch: a negative difference wraps to a large number.
    let wrapped = |place: usize| place.min(place.wrapping_sub(all));
    let turn = along(of_choice(TURN), row / 2, half) + row % 2 * half;
    let mut sides = 0;
    for (at, &place) in places[..half].iter().enumerate() {
        if at % 64 == 0 {
            sides = of_choice(SIDES + at as u64);
        }
        let side = sides as usize & 1;
        sides >>= 1;
        let place = wrapped(usize::from(place) + side * half + turn);
        order[at % LONGEST] = wheel[place % LONGEST];
        order[(all - 1 - at) % LONGEST] = wheel[wrapped(place + half) % LONGEST];
    }
    if all > len {
        // With an odd number of elements, one place of the wheel is empty.
        let empty = order[..all].iter().position(|&element| usize::from(element) == len);
        order.copy_within(empty.unwrap_or(len) + 1..all, empty.unwrap_or(len));
    }
}

/// Shuffles the first `len` bytes as [`shuffle`](super::permutation::shuffle) does, with
/// `from_word` draws from each word. Specialised for arrays of known length.
#[inline]
fn shuffle_bytes<const ROOM: usize>(
    bytes: &mut [u8; ROOM],
    len: usize,
    from_word: usize,
    mut word: impl FnMut() -> u64,
) {
    assert!(len <= ROOM, "no more than there are");
    let mut here = 0;
    while here < len {
        let end = len.min(here + from_word);
        let mut word = word();
        while here < end {
            let there = (here + draw(&mut word, len - here)) % ROOM;
            bytes.swap(here, there);
            here += 1;
        }
    }
}

/// Returns the orders of a Latin square, of which the first is given: the same wheel, turned. Each
/// order is followed by its reverse, half a turn further. The first few are far from each other.
const fn square<const LEN: usize>(first: [u8; LEN]) -> [[u8; LEN]; LEN] {
    let half = LEN / 2;
    let mut rows = [[0; LEN]; LEN];
    let mut row = 0;
    while row < LEN {
        let turn = row / 2 * STEPS[half] as usize % half + row % 2 * half;
        let mut at = 0;
        while at < LEN {
            rows[row][at] = ((first[at] as usize + turn) % LEN) as u8;
            at += 1;
        }
        row += 1;
    }
    rows
}

/// Returns the index with which `at` is exchanged in a window of `len` orders, by a word.
fn exchanged(mut word: u64, at: usize, len: usize) -> usize {
    let mut sequence: [u8; WINDOW] = std::array::from_fn(|at| at as u8);
    for here in 0..=at {
        sequence.swap(here, here + draw(&mut word, len - here));
    }
    sequence[at].into()
}

/// Returns the place `at` steps along a walk around `len` places with a random start. The walk
/// visits every place once before any twice. Its step is about the golden section, so that the
/// first few places are far from each other.
fn along(mut word: u64, at: usize, len: usize) -> usize {
    let start = draw(&mut word, len);
    (start + at * usize::from(STEPS[len])) % len
}

/// Steps of the walks, by the number of places.
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

/// All elements of the longest design in canonical order, and those of an order that is drawn from
/// one word.
const IDENTITY: [u8; LONGEST] = identity();
const IDENTITY_OF_SHORT: [u8; SHORT] = identity();

const fn identity<const LEN: usize>() -> [u8; LEN] {
    let mut all = [0; LEN];
    let mut at = 0;
    while at < LEN {
        all[at] = at as u8;
        at += 1;
    }
    all
}

/// Number of draws from one word of the generator below at most [`DESIGNED_LEN`].
const FROM_WORD: usize = 5;

/// Purposes of the words of a choice. Numbers below these are for windows.
const WHEEL: u64 = 1 << 32;
const TURN: u64 = 3 << 32;
const SIDES: u64 = 4 << 32;

/// Separates designs from the orders that a seed draws.
const DESIGN_TAG: u64 = 32;

/// Number of orders in a window, which are exchanged with each other.
const WINDOW: usize = 8;

/// The orders of three elements that are neither the canonical order nor its reverse.
const THREE: [[u8; 3]; 4] = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1]];

/// Sequence covering arrays of strength 3 with every element at every position, found by simulated
/// annealing. The tests check them.
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

/// Latin squares whose first eight orders cover at least 0.86 of all orders of three elements; a
/// random square covers 0.82 on average. They are the best of 20,000 random ones. The tests check
/// them.
const TEN: [[u8; 10]; 10] = square([8, 9, 7, 1, 5, 0, 6, 2, 4, 3]);
const TWELVE: [[u8; 12]; 12] = square([3, 1, 5, 6, 2, 10, 4, 8, 0, 11, 7, 9]);
const FOURTEEN: [[u8; 14]; 14] = square([4, 12, 10, 13, 9, 0, 8, 1, 7, 2, 6, 3, 5, 11]);
const SIXTEEN: [[u8; 16]; 16] = square([4, 0, 2, 6, 3, 13, 9, 7, 15, 1, 5, 11, 14, 10, 8, 12]);

#[cfg(test)]
mod tests;
