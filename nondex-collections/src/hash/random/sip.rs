//! `SipHash` 1-3, as defined by Aumasson and Bernstein (2012), the algorithm of std's hasher.
//!
//! std's implementation takes a number as a slice of bytes, in a function with loops that is not
//! inlined. Here a number is a word, so that hashing an integer key costs half as much. A test
//! compares the two.

/// State of the hash of the bytes that were written.
#[derive(Debug)]
pub(super) struct Sip13 {
    state: [u64; 4],
    /// Number of bytes written.
    len: usize,
    /// Bytes that do not fill a block yet.
    tail: u64,
}

impl Sip13 {
    #[inline]
    pub(super) const fn new(keys: [u64; 2]) -> Self {
        Sip13 {
            state: [
                keys[0] ^ 0x736f_6d65_7073_6575,
                keys[1] ^ 0x646f_7261_6e64_6f6d,
                keys[0] ^ 0x6c79_6765_6e65_7261,
                keys[1] ^ 0x7465_6462_7974_6573,
            ],
            len: 0,
            tail: 0,
        }
    }

    #[inline]
    const fn round(&mut self) {
        let [mut v0, mut v1, mut v2, mut v3] = self.state;
        v0 = v0.wrapping_add(v1);
        v2 = v2.wrapping_add(v3);
        v1 = v1.rotate_left(13) ^ v0;
        v3 = v3.rotate_left(16) ^ v2;
        v0 = v0.rotate_left(32);
        v2 = v2.wrapping_add(v1);
        v0 = v0.wrapping_add(v3);
        v1 = v1.rotate_left(17) ^ v2;
        v3 = v3.rotate_left(21) ^ v0;
        v2 = v2.rotate_left(32);
        self.state = [v0, v1, v2, v3];
    }

    #[inline]
    const fn block(&mut self, block: u64) {
        self.state[3] ^= block;
        self.round();
        self.state[0] ^= block;
    }

    /// Writes one to eight bytes, the first of which is the lowest byte of `word`. The unused bytes
    /// of `word` must be zero.
    #[inline]
    pub(super) const fn word(&mut self, word: u64, bytes: usize) {
        let held = self.len % 8;
        self.len += bytes;
        self.tail |= word << (8 * held);
        if held + bytes >= 8 {
            self.block(self.tail);
            // A shift by 64 bits would overflow.
            self.tail = if held == 0 { 0 } else { word >> (64 - 8 * held) };
        }
    }

    /// Writes bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((word, after)) = rest.split_first_chunk() {
            self.word(u64::from_le_bytes(*word), 8);
            rest = after;
        }
        let (mut last, len) = (0, rest.len());
        if let Some((four, after)) = rest.split_first_chunk() {
            last = u32::from_le_bytes(*four).into();
            rest = after;
        }
        if let Some((two, after)) = rest.split_first_chunk() {
            last |= u64::from(u16::from_le_bytes(*two)) << (8 * (len & 4));
            rest = after;
        }
        if let [one] = rest {
            last |= u64::from(*one) << (8 * (len & 6));
        }
        if len > 0 {
            self.word(last, len);
        }
    }

    /// Returns the hash.
    #[inline]
    pub(super) const fn finish(mut self) -> u64 {
        self.block((self.len as u64) << 56 | self.tail);
        self.state[2] ^= 0xff;
        self.round();
        self.round();
        self.round();
        let [v0, v1, v2, v3] = self.state;
        v0 ^ v1 ^ v2 ^ v3
    }
}
