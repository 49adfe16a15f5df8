//! Mirror of std's `RandomState`, whose keys are chosen by the run.
//!
//! Most states are only ever used by the mirror's own tables, where all that their keys decide is
//! an order, which is a separate choice. So a state has two keys. The one for these tables is drawn
//! when it is made, at the cost of a counter. The one that everybody else sees is drawn when it is
//! first asked for, and that is the choice that is recorded, as the choice of whoever made the
//! state.

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

/// As [`::std::hash::RandomState`], with keys that the run chooses; where there is none, they are
/// random.
pub struct RandomState {
    /// The key for the mirror's tables, which is odd too, so that both may be one.
    table: u64,
    /// The key for everybody else, which is odd. Before it is drawn: the address of the
    /// [`Location`] that the state was made at, with [`SHARED`] when there are clones; and
    /// [`CLAIMED`] while it is drawn.
    seen: AtomicU64,
}

/// Tells keys that are drawn from addresses, which are even.
const DRAWN: u64 = 1;

/// There are clones, which have the same keys.
const SHARED: u64 = 2;

/// Some thread draws the key.
const CLAIMED: u64 = 0;

/// How often a thread looks again whether another has drawn the key. It hardly ever has to, and in
/// vain only in a child that was forked at that moment.
const PATIENCE: usize = 1 << 16;

impl RandomState {
    /// A state with its own keys.
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

    /// The key that others than the mirror's tables see.
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
                // Drawn meanwhile: put it back.
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

/// Who made a state, by the address in it.
#[expect(
    unsafe_code,
    reason = "the place and the key share a word, so that the state is as large as std's"
)]
fn maker(place: u64) -> Caller {
    let place = ptr::with_exposed_provenance::<Location<'static>>(place as usize);
    // SAFETY: what is in the word before a key is drawn is the address of a `&'static Location`,
    // whose lowest two bits are zero and are left out.
    caller::of(unsafe { &*place })
}

/// Meaning of a key.
#[inline]
const fn words(key: u64) -> [u64; 2] {
    [key, key.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15]
}

/// std's own hasher with this key.
#[expect(unsafe_code, reason = "std has no other way to give its hasher keys")]
#[inline]
fn keyed(key: u64) -> DefaultHasher {
    const {
        assert!(align_of::<Location<'_>>() > SHARED as usize);
        assert!(align_of::<::std::hash::RandomState>() == align_of::<u64>());
    }
    // SAFETY: std's state is two words of any value, of the same size and alignment as this array.
    // That they are the keys of SipHash 1-3 is what a test checks.
    let state: ::std::hash::RandomState = unsafe { ::std::mem::transmute(words(key)) };
    state.build_hasher()
}

mod sip;
pub(crate) mod table;

#[cfg(test)]
mod tests;
