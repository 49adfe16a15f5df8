//! Hashing of keys for the mirrored tables.
//!
//! Only the order of a table follows from these hashes, which is a separate choice. But a key
//! hashes itself with the hasher that it receives. If it calls `finish`, it must see the keys of
//! the [`RandomState`](super::RandomState), as any other user does.

use ::std::any::type_name;
use ::std::hash::{BuildHasher, Hash, Hasher};

use super::sip::Sip13;
use super::{RandomState, keyed, words};

/// A key of a table; hashes as the key itself.
struct InTable<'a, Q: ?Sized>(&'a Q);

impl<Q: Hash + ?Sized> Hash for InTable<'_, Q> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Returns whether `T` is [`InTable`] of some type. No other type has its name.
#[inline]
pub(super) fn is_key_of_one<T>() -> bool {
    const NAME: &str = concat!(module_path!(), "::InTable<");
    let name = type_name::<T>().as_bytes();
    name.len() > NAME.len() && name[..NAME.len()] == *NAME.as_bytes()
}

/// Returns the hash of `key` in one of the mirrored tables.
#[inline]
pub(crate) fn hash_in_table<S: BuildHasher, Q: Hash + ?Sized>(hash_builder: &S, key: &Q) -> u64 {
    hash_builder.hash_one(InTable(key))
}

/// Hashes a key for a table. If the key calls `finish`, it gets a hash that follows from the
/// recorded choice of the state.
pub(super) struct TableHasher<'a> {
    hasher: Sip13,
    state: &'a RandomState,
    /// Digest of the written bytes that does not depend on a key.
    written: u64,
}

impl<'a> TableHasher<'a> {
    #[inline]
    pub(super) fn new(state: &'a RandomState) -> Self {
        TableHasher { hasher: Sip13::new(words(state.table)), state, written: 0 }
    }

    /// Returns the hash of the written bytes, for the table.
    #[inline]
    pub(super) fn into_hash(self) -> u64 {
        self.hasher.finish()
    }
}

impl TableHasher<'_> {
    /// Adds written bytes to the digest, for a key that calls `finish`.
    #[inline]
    fn note(&mut self, bytes: &[u8]) {
        let mut word = [0; 8];
        let len = bytes.len().min(8);
        word[..len].copy_from_slice(&bytes[bytes.len() - len..]);
        let word = u64::from_ne_bytes(word) ^ bytes.len() as u64;
        self.written = (self.written.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Implements writes of numbers, which equal writes of their bytes.
macro_rules! numbers {
    ($($write:ident($number:ty))*) => {$(
        #[inline]
        fn $write(&mut self, number: $number) {
            self.hasher.word(number.to_le().into(), size_of::<$number>());
            self.note(&number.to_ne_bytes());
        }
    )*};
}

impl Hasher for TableHasher<'_> {
    // std's hasher takes longer numbers and text bytewise, so the defaults of the other methods are
    // right.
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
        self.note(bytes);
    }

    numbers! { write_u8(u8) write_u16(u16) write_u32(u32) write_u64(u64) }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.hasher.word(number.to_le() as u64, size_of::<usize>());
        self.note(&number.to_ne_bytes());
    }

    #[cold]
    fn finish(&self) -> u64 {
        let mut hasher = keyed(self.state.seen());
        hasher.write_u64(self.written);
        hasher.finish()
    }
}
