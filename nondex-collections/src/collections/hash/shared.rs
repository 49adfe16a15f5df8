//! An index that a collection shares with its clones until one of them changes it.
//!
//! std's table copies plain elements bytewise. On stable Rust, hashbrown does not do that for other
//! crates: it copies a table of numbers bucket by bucket. Most clones are only read or consumed,
//! and never need the copy.
#![expect(
    unsafe_code,
    reason = "one allocation has several owners, as that of an `Arc`, but comes from the system's \
        allocator and is reached directly"
)]

use ::std::mem::{self, ManuallyDrop};
use ::std::ops::Deref;
use ::std::ptr;
use ::std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};
use nondex_core::arena::Arena;

use super::index::{self, Index};
use nondex_core::hidden::{self, Box};

/// An index that may have several owners, which hold the same bytes. While there are several, none
/// of them changes the memory that these bytes refer to.
#[derive(Debug)]
pub(super) struct SharedIndex {
    index: ManuallyDrop<Index>,
    /// Number of owners; null if the index was not shared since its last change.
    owners: AtomicPtr<AtomicUsize>,
}

impl SharedIndex {
    /// Creates an index with one owner.
    pub(super) const fn new(index: Index) -> Self {
        SharedIndex { index: ManuallyDrop::new(index), owners: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the same index for an additional owner.
    pub(super) fn share(&self) -> Self {
        let owners = self.owners();
        // As in `Arc`, relaxed ordering suffices: the creator of an owner already has one.
        owners.fetch_add(1, Ordering::Relaxed);
        SharedIndex {
            // SAFETY: neither copy is dropped or changed while the other one exists.
            index: unsafe { ptr::read(&raw const self.index) },
            owners: AtomicPtr::new(ptr::from_ref(owners).cast_mut()),
        }
    }

    /// Returns the number of owners, which is counted from now on.
    fn owners(&self) -> &AtomicUsize {
        let mut owners = self.owners.load(Ordering::Acquire);
        if owners.is_null() {
            let (new, _) = Box::into_raw_with_allocator(hidden::boxed(AtomicUsize::new(1)));
            let none = ptr::null_mut();
            owners = match (self.owners).compare_exchange(
                none,
                new,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => new,
                Err(other) => {
                    // SAFETY: it is from a box, and no other thread has seen it.
                    drop(unsafe { Box::from_raw_in(new, Arena) });
                    other
                }
            };
        }
        // SAFETY: the count exists for as long as there is an owner, such as this value.
        unsafe { &*owners }
    }

    /// Returns the index for changes, and copies it first if it has other owners.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut Index {
        if !self.owners.get_mut().is_null() {
            self.own(Index::clone);
        }
        &mut self.index
    }

    /// Forgets all numbers and keeps the room. Deleted buckets of an empty table stay marked, as in
    /// std.
    pub(super) fn clear(&mut self) {
        if !self.owners.get_mut().is_null() && !self.is_empty() {
            self.own(index::like);
        }
        self.index.clear();
    }

    /// Becomes the only owner of an index. If there are other owners, that is the result of `copy`.
    #[cold]
    fn own(&mut self, copy: impl FnOnce(&Index) -> Index) {
        if self.owners().load(Ordering::Acquire) > 1 {
            let copy = SharedIndex::new(copy(&self.index));
            drop(mem::replace(self, copy));
        } else {
            let owners = mem::replace(self.owners.get_mut(), ptr::null_mut());
            // SAFETY: it is from a box, and all other owners are gone.
            drop(unsafe { Box::from_raw_in(owners, Arena) });
        }
    }
}

/// Gives read access, as to any index.
impl Deref for SharedIndex {
    type Target = Index;

    #[inline]
    fn deref(&self) -> &Index {
        &self.index
    }
}

impl Drop for SharedIndex {
    fn drop(&mut self) {
        let owners = *self.owners.get_mut();
        if !owners.is_null() {
            // SAFETY: the count exists for as long as there is an owner.
            if unsafe { &*owners }.fetch_sub(1, Ordering::Release) > 1 {
                return;
            }
            // As in `Arc`, uses of the other owners must happen before the index is dropped.
            fence(Ordering::Acquire);
            // SAFETY: it is from a box, and all other owners are gone.
            drop(unsafe { Box::from_raw_in(owners, Arena) });
        }
        // SAFETY: this is the last owner, and nothing uses the index after the destructor.
        unsafe { ManuallyDrop::drop(&mut self.index) }
    }
}

#[cfg(test)]
mod tests {
    use ::std::thread;

    use super::*;

    fn filled(slots: u32) -> SharedIndex {
        let mut index = index::with_capacity(100, 8);
        for slot in 0..slots {
            index.insert_unique(slot.into(), slot, |&slot| slot.into());
        }
        SharedIndex::new(index)
    }

    /// Returns the slots in the order of the table.
    fn slots(index: &SharedIndex) -> Vec<u32> {
        index.iter().copied().collect()
    }

    /// Returns the address of the numbers.
    fn place(index: &SharedIndex) -> *const u32 {
        index.iter().next().map_or(ptr::null(), ptr::from_ref)
    }

    #[test]
    fn an_index_is_copied_when_one_of_several_owners_changes_it_and_is_the_last_ones_own() {
        let mut first = filled(50);
        let expected = slots(&first);
        let (mut second, third) = (first.share(), first.share());
        assert_eq!(place(&first), place(&second));
        first.get_mut().insert_unique(77, 77, |&slot| slot.into());
        assert_eq!(slots(&second), expected);
        assert_ne!(place(&first), place(&second));
        assert_eq!(place(&third), place(&second));
        drop(third);
        let only = place(&second);
        for number in second.get_mut().iter_mut() {
            *number += 1;
        }
        assert_eq!(place(&second), only, "nobody else has it any more");
        assert_eq!(first.len(), 51);
        let fourth = second.share();
        second.clear();
        assert_eq!((second.len(), second.capacity()), (0, fourth.capacity()));
        assert_eq!(fourth.len(), 50);
    }

    #[test]
    fn threads_share_change_and_drop_an_index_at_once() {
        let index = &filled(90);
        let expected = &slots(index);
        thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || {
                    for step in 0..200 {
                        let mut own = index.share();
                        let other = own.share();
                        if (step + number) % 3 == 0 {
                            own.get_mut().retain(|&mut slot| slot != number);
                            assert_eq!(own.len(), 89);
                        }
                        let late = scope.spawn(move || slots(&other));
                        drop(own);
                        assert_eq!(late.join().unwrap(), *expected);
                    }
                });
            }
        });
        assert_eq!(slots(index), *expected);
    }
}
