//! Mirror of std's `RandomState`, whose keys the run decides.
//!
//! Most states are used only by the mirrored tables. Their keys then determine nothing but an
//! order, which is a separate choice. So a state has two keys. The key for these tables is drawn
//! when the state is created, at the cost of a counter. The key for all other users is drawn at its
//! first use. That is the choice that is recorded, as one of the code that created the state.

use ::std::fmt;
use ::std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use ::std::panic::Location;
use ::std::ptr;
use ::std::sync::atomic::{AtomicU64, Ordering};
use ::std::thread;

use nondex_core::choice::{seen_key, table_key};
use nondex_core::{Caller, model};

use self::table::TableHasher;
use crate::caller;

/// Mirror of [`::std::hash::RandomState`], whose keys the run decides. Outside a run, the keys are
/// random.
pub struct RandomState {
    /// Key for the mirrored tables. It is odd like the other key, so that both may be equal.
    table: u64,
    /// Key for all other users, which is odd. Before it is drawn, this is the address of the
    /// [`Location`] at which the state was created, with [`SHARED`] if there are clones. While it
    /// is drawn, this is [`CLAIMED`].
    seen: AtomicU64,
}

/// Distinguishes drawn keys from addresses, which are even.
const DRAWN: u64 = 1;

/// Flag of a state with clones, which have the same keys.
const SHARED: u64 = 2;

/// Value while a thread draws the key.
const CLAIMED: u64 = 0;

/// Maximum number of checks whether another thread has drawn the key. Waiting is rare. It fails
/// only in a child that was forked while the key was drawn.
const PATIENCE: usize = 1 << 16;

impl RandomState {
    /// Returns a state with separate keys.
    #[inline]
    #[track_caller]
    pub fn new() -> RandomState {
        RandomState::made_at(Location::caller())
    }

    fn made_at(place: &'static Location<'static>) -> Self {
        if let Some(key) = table_key(&model::RANDOM_STATE_NEW, Caller::from(place)) {
            let place = ptr::from_ref(place).expose_provenance() as u64;
            return RandomState { table: key | DRAWN, seen: AtomicU64::new(place) };
        }
        let key = ::std::hash::RandomState::new().hash_one(()) | DRAWN;
        RandomState { table: key, seen: AtomicU64::new(key) }
    }

    /// Returns the key that users other than the mirrored tables see.
    #[inline]
    fn seen(&self) -> u64 {
        let seen = self.seen.load(Ordering::Acquire);
        if seen & DRAWN != 0 { seen } else { self.draw() }
    }

    #[cold]
    fn draw(&self) -> u64 {
        for _ in 0..PATIENCE {
            let before = self.seen.swap(CLAIMED, Ordering::AcqRel);
            if before & DRAWN != 0 {
                // Another thread has drawn it meanwhile, so put it back.
                self.seen.store(before, Ordering::Release);
                return before;
            }
            if before != CLAIMED {
                let caller = maker(before & !SHARED);
                let is_shared = before & SHARED != 0;
                let seen = seen_key(&model::RANDOM_STATE_NEW, caller, self.table, is_shared);
                self.seen.store(seen | DRAWN, Ordering::Release);
                return seen | DRAWN;
            }
            thread::yield_now();
        }
        // Only a forked child gets here: the thread that drew the key does not exist in it. Any odd
        // key will serve.
        DRAWN
    }
}

impl Clone for RandomState {
    fn clone(&self) -> Self {
        let share = |seen| (seen & DRAWN == 0 && seen != CLAIMED).then_some(seen | SHARED);
        let seen = match self.seen.fetch_update(Ordering::AcqRel, Ordering::Acquire, share) {
            Ok(seen) => seen | SHARED,
            Err(_) => self.seen(),
        };
        RandomState { table: self.table, seen: AtomicU64::new(seen) }
    }
}

impl Default for RandomState {
    #[inline]
    #[track_caller]
    fn default() -> RandomState {
        RandomState::new()
    }
}

impl fmt::Debug for RandomState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RandomState").finish_non_exhaustive()
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        keyed(self.seen())
    }

    #[inline]
    fn hash_one<T: Hash>(&self, x: T) -> u64 {
        if table::is_key_of_one::<T>() {
            let mut hasher = TableHasher::new(self);
            x.hash(&mut hasher);
            return hasher.into_hash();
        }
        let mut hasher = keyed(self.seen());
        x.hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns the creator of a state, from the address in the state.
#[expect(
    unsafe_code,
    reason = "the place and the key share a word, so that the state is as large as std's"
)]
fn maker(place: u64) -> Caller {
    let place = ptr::with_exposed_provenance::<Location<'static>>(place as usize);
    // SAFETY: before a key is drawn, the word is the address of a `&'static Location`. Its lowest
    // two bits are zero in an aligned address, and the caller has masked the flag.
    caller::of(unsafe { &*place })
}

/// Expands a key to the two words of std's state.
#[inline]
const fn words(key: u64) -> [u64; 2] {
    [key, key.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15]
}

/// Returns std's own hasher with this key.
#[expect(unsafe_code, reason = "std has no other way to give its hasher keys")]
#[inline]
fn keyed(key: u64) -> DefaultHasher {
    const {
        assert!(align_of::<Location<'_>>() > SHARED as usize);
        assert!(align_of::<::std::hash::RandomState>() == align_of::<u64>());
    }
    // SAFETY: std's state is two words of any value, with the size and alignment of this array. A
    // test checks that they are the keys of SipHash 1-3.
    let state: ::std::hash::RandomState = unsafe { ::std::mem::transmute(words(key)) };
    state.build_hasher()
}

mod sip;
pub(crate) mod table;

#[cfg(test)]
mod tests;
