//! An index that a collection and its clones have in common until one of them changes it.
//!
//! std's own table copies plain elements as bytes. On stable Rust nobody else can have hashbrown do
//! that: it copies a table of numbers bucket by bucket. Most clones are only read or taken apart,
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

/// An index that may have other owners, who have the same bytes. Nobody changes what they lead to
/// while there are several.
#[derive(Debug)]
pub(super) struct SharedIndex {
    index: ManuallyDrop<Index>,
    /// How many owners there are; null where it was never shared since it was last changed.
    owners: AtomicPtr<AtomicUsize>,
}

impl SharedIndex {
    /// An index of which there is no other owner.
    pub(super) const fn new(index: Index) -> Self {
        SharedIndex { index: ManuallyDrop::new(index), owners: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The same index for one owner more.
    pub(super) fn share(&self) -> Self {
        let owners = self.owners();
        // As for an `Arc`: who makes an owner has one.
        owners.fetch_add(1, Ordering::Relaxed);
        SharedIndex {
            // SAFETY: neither is dropped nor changed before the other one is gone.
            index: unsafe { ptr::read(&raw const self.index) },
            owners: AtomicPtr::new(ptr::from_ref(owners).cast_mut()),
        }
    }

    /// The number of owners, which is counted from now on.
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
                    // SAFETY: it is from a box, and nobody else has seen it.
                    drop(unsafe { Box::from_raw_in(new, Arena) });
                    other
                }
            };
        }
        // SAFETY: it is there for as long as there is an owner, as this is.
        unsafe { &*owners }
    }

    /// The index, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut Index {
        if !self.owners.get_mut().is_null() {
            self.own(Index::clone);
        }
        &mut self.index
    }

    /// Forgets all numbers and keeps the room. As in std, buckets marked deleted stay so when there
    /// is none.
    pub(super) fn clear(&mut self) {
        if !self.owners.get_mut().is_null() && !self.is_empty() {
            self.own(index::like);
        }
        self.index.clear();
    }

    /// Becomes the only owner of an index, of what `copy` makes where there are others.
    #[cold]
    fn own(&mut self, copy: impl FnOnce(&Index) -> Index) {
        if self.owners().load(Ordering::Acquire) > 1 {
            let copy = SharedIndex::new(copy(&self.index));
            drop(mem::replace(self, copy));
        } else {
            let owners = mem::replace(self.owners.get_mut(), ptr::null_mut());
            // SAFETY: it is from a box, and whoever else knew it is gone.
            drop(unsafe { Box::from_raw_in(owners, Arena) });
        }
    }
}

/// To look at, as at any index.
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
            // SAFETY: it is there for as long as there is an owner.
            if unsafe { &*owners }.fetch_sub(1, Ordering::Release) > 1 {
                return;
            }
            // As for an `Arc`: what the others did is done before the index goes.
            fence(Ordering::Acquire);
            // SAFETY: it is from a box, and whoever else knew it is gone.
            drop(unsafe { Box::from_raw_in(owners, Arena) });
        }
        // SAFETY: this is the last owner, and nothing uses it after the destructor.
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

    /// The slots in the order of the table.
    fn slots(index: &SharedIndex) -> Vec<u32> {
        index.iter().copied().collect()
    }

    /// Where its numbers are.
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
        let index = filled(90);
        let expected = slots(&index);
        thread::scope(|scope| {
            for number in 0..8 {
                let index = &index;
                let expected = &expected;
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
        assert_eq!(slots(&index), expected);
    }
}
