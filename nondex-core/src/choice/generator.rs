//! The random number generators from which choices are drawn.

use rand_core::{Infallible, SeedableRng, TryRng};

use crate::hash::mix;

/// ChaCha8 with `Clone`: iterators that draw from it are `Clone`, as std's are. Produces the same
/// words as `rand_chacha`.
#[derive(Debug)]
pub struct ChaCha8Rng(chacha20::ChaCha8Rng);

impl SeedableRng for ChaCha8Rng {
    type Seed = [u8; 32];

    #[inline]
    fn from_seed(seed: Self::Seed) -> Self {
        ChaCha8Rng(chacha20::ChaCha8Rng::from_seed(seed))
    }
}

impl Clone for ChaCha8Rng {
    fn clone(&self) -> Self {
        let mut copy = ChaCha8Rng::from_seed(self.0.get_seed());
        copy.0.set_word_pos(self.0.get_word_pos());
        copy
    }
}

impl TryRng for ChaCha8Rng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// Returns the generator keyed by the four words.
pub(crate) fn generator(seed: u64, tag: u64, a: u64, b: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, word) in key.chunks_exact_mut(8).zip([seed, tag, a, b]) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// Returns one word keyed by the four words. Short orders are drawn from it, because setting up a
/// generator would cost ten times as much as the order. It multiplies to double width and joins the
/// halves, as wyhash does, and applies a mixer at the end.
#[inline]
pub(crate) fn word(seed: u64, tag: u64, a: u64, b: u64) -> u64 {
    const fn join(a: u64, b: u64) -> u64 {
        let product = (a ^ 0xa076_1d64_78bd_642f) as u128 * (b ^ 0xe703_7ed1_a0b4_28db) as u128;
        product as u64 ^ (product >> 64) as u64
    }
    mix(join(join(a, b) ^ tag, seed) ^ a)
}

/// The generator from which long orders are drawn: xoshiro256++ (Blackman and Vigna, "Scrambled
/// linear pseudorandom number generators", 2021). A word takes a few instructions. `SplitMix64`
/// fills its state, as the authors recommend.
#[derive(Clone, Debug)]
pub struct Xoshiro256([u64; 4]);

impl Xoshiro256 {
    /// Returns the generator seeded with one word.
    pub fn seeded(word: u64) -> Self {
        let filled = |at: u64| {
            let counted = word.wrapping_add((at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let first = (counted ^ counted >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let second = (first ^ first >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            second ^ second >> 31
        };
        Xoshiro256([0, 1, 2, 3].map(filled))
    }

    /// Returns the generator keyed by the four words.
    pub(crate) fn keyed(seed: u64, tag: u64, a: u64, b: u64) -> Self {
        Xoshiro256::seeded(word(seed, tag, a, b))
    }

    /// Draws the next word.
    #[inline]
    pub(crate) const fn word(&mut self) -> u64 {
        let state = &mut self.0;
        let word = state[0].wrapping_add(state[3]).rotate_left(23).wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        word
    }
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;

    #[test]
    fn the_words_of_orders_are_those_of_the_authors_of_xoshiro() {
        // First words of the authors' C code for the state 1, 2, 3, 4, and of SplitMix64 for 0.
        let mut generator = Xoshiro256([1, 2, 3, 4]);
        let words = [41_943_041, 58_720_359, 3_588_806_011_781_223];
        assert_eq!([(); 3].map(|()| generator.word()), words);
        let filled = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4];
        assert_eq!(Xoshiro256::seeded(0).0[..2], filled);
    }

    #[test]
    fn its_words_are_those_of_rand_chacha_also_after_a_copy() {
        for seed in 0..64 {
            let mut ours = ChaCha8Rng::seed_from_u64(seed);
            let mut theirs = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            // Some draws end in the middle of a word of 64 bits, and of a block.
            for step in 0..200 {
                if step % 7 == seed % 7 {
                    assert_eq!(ours.next_u32(), theirs.next_u32());
                }
                if step % 11 == seed % 11 {
                    let (mut found, mut expected) = ([0; 13], [0; 13]);
                    ours.fill_bytes(&mut found);
                    theirs.fill_bytes(&mut expected);
                    assert_eq!(found, expected);
                }
                assert_eq!(ours.clone().next_u64(), theirs.clone().next_u64(), "{seed} {step}");
                assert_eq!(ours.next_u64(), theirs.next_u64(), "{seed} {step}");
            }
        }
    }
}
