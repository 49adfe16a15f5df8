//! Room for the entries of a collection: as much as std's table has.
#![expect(
    unsafe_code,
    reason = "the index is rearranged by the hashes of entries that are stored separately"
)]

use ::std::hash::Hash;
use nondex_core::arena::Arena;

use hashbrown::TryReserveError;

use super::body::Body;
use super::index::{self, Index};
use super::slots::Slots;

impl<K: Hash, V> Slots<K, V> {
    pub(super) fn reserve(&mut self, additional: usize, hash: impl Fn(&K) -> u64) {
        if self.body.is_none() && additional > 0 {
            let index = index::with_capacity(additional, self.about.size());
            self.body = Some(Body::new(self.about, self.created, index));
            return;
        }
        self.rearrange(hash, |index, size, hash| {
            index::reserve(index, additional, size, hash);
        });
    }

    /// Lets `act` reserve room in the index, and adapts the rest of the body to the result.
    fn rearrange<R>(
        &mut self,
        hash: impl Fn(&K) -> u64,
        act: impl FnOnce(&mut Index, usize, &dyn Fn(&u32) -> u64) -> R,
    ) -> Option<R> {
        /// Guard that adapts the body even if the hasher panics.
        struct Follow<'a>(&'a mut Body, usize);
        impl Drop for Follow<'_> {
            fn drop(&mut self) {
                self.0.repair(self.1);
                self.0.follow_index();
            }
        }
        let body = self.body.as_deref_mut()?;
        let (keys, len) = (body.buffer.start().cast::<(K, V)>(), body.len());
        let hash_of = |&slot: &u32| {
            assert!((slot as usize) < len, "the index holds only slots in use");
            // SAFETY: a valid entry; the index does not overlap the entries.
            hash(unsafe { &(*keys.as_ptr().add(slot as usize)).0 })
        };
        let follow = Follow(body, len);
        Some(act(follow.0.index.get_mut(), follow.0.about.size(), &hash_of))
    }

    /// Makes room for `additional` more entries. Leaves the collection unchanged if it fails.
    pub(super) fn try_reserve(
        &mut self,
        additional: usize,
        hash: impl Fn(&K) -> u64,
    ) -> Result<(), TryReserveError> {
        let needed = self.len().checked_add(additional).ok_or(TryReserveError::CapacityOverflow)?;
        if needed <= self.capacity() {
            return Ok(());
        }
        // As std's table: if at most half of its room is in use, it only clears the marks of
        // deleted buckets.
        let held = self.body().map_or(0, |body| body.buffer.capacity());
        if needed > held / 2 {
            self.try_grow(needed.max(held + 1))?;
        }
        self.reserve(additional, hash);
        Ok(())
    }

    /// Grows the buffer for this number of entries before the index grows: if there is no memory
    /// for the entries, the index must stay as it is.
    fn try_grow(&mut self, capacity: usize) -> Result<(), TryReserveError> {
        let (about, created) = (self.about, self.created);
        let mut like = Index::new_in(Arena);
        index::try_reserve(&mut like, capacity, about.size(), |_| 0)?;
        let body = self.body.get_or_insert_with(|| Body::new(about, created, Index::new_in(Arena)));
        let len = body.len();
        // SAFETY: both blocks have room for the present entries.
        unsafe { body.buffer.try_resize(like.capacity(), len) }
            .map_err(|layout| TryReserveError::AllocError { layout })
    }

    pub(super) fn shrink_to(&mut self, capacity: usize, hash: impl Fn(&K) -> u64) {
        let Some(buckets) = self.body().map(|body| body.index.num_buckets()) else { return };
        self.rearrange(hash, |index, size, hash| {
            index::shrink_to(index, capacity, size, hash);
        });
        if let Some(body) = &mut self.body {
            if body.index.num_buckets() != buckets {
                body.shrink_buffer();
            }
        }
    }
}
