//! A fixed hash for identities, the same on every machine and in every version of std.

use std::hash::{BuildHasher, Hasher};

/// The FNV-1a offset basis and prime (Fowler, Noll and Vo), 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a over bytes, finished with the mixer of MurmurHash3, so that short inputs differ in all
/// bits.
///
/// Integers are hashed in little-endian order on every machine, so a hash of plain data is
/// portable.
#[derive(Clone, Copy, Debug)]
pub struct FixedHasher(u64);

impl Default for FixedHasher {
    fn default() -> Self {
        FixedHasher(OFFSET)
    }
}

/// Mixes a word with the 64-bit finaliser of MurmurHash3.
pub const fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

impl FixedHasher {
    /// Returns a hasher whose results differ for every `key`.
    pub const fn keyed(key: u64) -> Self {
        FixedHasher(OFFSET ^ mix(key))
    }

    #[inline]
    const fn word(&mut self, word: u64) {
        self.0 = mix(self.0 ^ word).wrapping_mul(PRIME);
    }
}

impl Hasher for FixedHasher {
    #[inline]
    fn finish(&self) -> u64 {
        mix(self.0)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.word(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        for &byte in words.remainder() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.word(value.into());
    }
    fn write_u16(&mut self, value: u16) {
        self.word(value.into());
    }
    fn write_u32(&mut self, value: u32) {
        self.word(value.into());
    }
    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }
    fn write_u128(&mut self, value: u128) {
        self.word(value as u64);
        self.word((value >> 64) as u64);
    }
    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }
}

/// Builds [`FixedHasher`]s.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedState;

impl BuildHasher for FixedState {
    type Hasher = FixedHasher;

    fn build_hasher(&self) -> FixedHasher {
        FixedHasher::default()
    }
}

/// Returns the fixed hash of one value.
pub fn of(value: &(impl std::hash::Hash + ?Sized)) -> u64 {
    FixedState.hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_pinned_because_seeds_reproduce_across_versions() {
        assert_eq!(of("src/lib.rs"), of(&String::from("src/lib.rs")));
        assert_eq!(
            [of(""), of("a"), of(&1u32), of(&1u64)],
            [GOLDEN[0], GOLDEN[1], GOLDEN[2], GOLDEN[3]]
        );
    }

    const GOLDEN: [u64; 4] =
        [13299807843750109419, 4498542565960560989, 5180579830991743799, 5180579830991743799];
}
