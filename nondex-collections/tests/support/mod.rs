//! Parts that the tests with random histories share.

use std::hash::{BuildHasher, Hasher};

/// Fixed hasher with a key. With some keys, most hashes collide.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keyed(pub(crate) u64);

/// See [`Keyed`].
#[derive(Debug)]
pub(crate) struct KeyedHasher(u64, u64);

impl BuildHasher for Keyed {
    type Hasher = KeyedHasher;
    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher(self.0, self.0)
    }
}

impl Hasher for KeyedHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let byte = if self.0 % 5 == 0 { byte & 3 } else { byte };
            self.1 = (self.1 ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }
    fn finish(&self) -> u64 {
        self.1
    }
}

/// Small random number generator (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
