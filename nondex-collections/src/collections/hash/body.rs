//! The data of a collection that does not depend on the type of its entries.
#![expect(
    unsafe_code,
    reason = "entries are dropped in the order that was decided, by code that is not generic over \
        them"
)]

use ::std::mem;
use ::std::panic::Location;
use nondex_core::arena::Arena;

use nondex_core::Caller;

use super::about::{About, Act};
use super::buffer::Buffer;
use super::identity::Identity;
use super::index::{self, Index};
use super::order::Order;
use super::shared::SharedIndex;
use super::trail::Trail;
use crate::caller;
use nondex_core::hidden::{self, Box, Vec};

/// The entries of a collection in slots, and the index that finds them.
///
/// The index holds the number of each slot once, and nothing else. It is filled and grown exactly
/// as std's table of the entries themselves. Between calls, exactly the slots below
/// [`len`](Body::len) have a valid entry, of the type that `about` describes. The index never has
/// room for more slots than the buffer.
///
/// The type is not generic, so that its destructor has no stricter bounds than std's: drop check
/// uses the collection's `PhantomData<(K, V)>`.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) index: SharedIndex,
    pub(super) buffer: Buffer,
    pub(super) trail: Option<Box<Trail>>,
    pub(super) identity: Option<Box<Identity>>,
    pub(super) about: &'static About,
    /// Place where the collection was created, as far as `#[track_caller]` knows.
    pub(super) created: &'static Location<'static>,
    /// Whether the canonical order is that of the table, rather than the order of insertion.
    pub(super) table_is_base: bool,
}

impl Body {
    pub(super) fn new(
        about: &'static About,
        created: &'static Location<'static>,
        index: Index,
    ) -> Box<Self> {
        let mut body = hidden::boxed(Body {
            index: SharedIndex::new(index),
            buffer: Buffer::new(about),
            trail: None,
            identity: None,
            about,
            created,
            table_is_base: about.is_repeatable(),
        });
        body.make_room();
        body
    }

    /// Returns the number of entries, which is that of the index.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Gives the buffer as much room as the index. Must be called whenever the index may have
    /// grown.
    pub(super) fn make_room(&mut self) {
        let room = self.index.capacity();
        if room > self.buffer.capacity() {
            // SAFETY: both blocks have room for the present entries.
            unsafe { self.buffer.resize(room, self.index.len()) }
        }
    }

    /// Makes room as [`Body::make_room`] does, for an index that may have been rearranged in other
    /// ways.
    pub(super) fn follow_index(&mut self) {
        if let Some(trail) = &mut self.trail {
            trail.find_buckets(&self.index);
        }
        self.make_room();
    }

    /// Shrinks the buffer to the room of a smaller index.
    pub(super) fn shrink_buffer(&mut self) {
        if let Some(trail) = &mut self.trail {
            trail.find_buckets(&self.index);
        }
        let room = self.index.capacity();
        // SAFETY: both blocks have room for the present entries.
        unsafe { self.buffer.resize(room, self.index.len()) }
    }

    /// Repairs the collection after a hasher panicked while the index was rearranged. The index may
    /// then have lost some of its `len` entries, as std's table may. This drops the lost entries.
    #[cold]
    pub(super) fn repair(&mut self, mut len: usize) {
        if self.index.len() == len {
            return;
        }
        let mut is_lost = vec![true; len];
        for &slot in &*self.index {
            is_lost[slot as usize] = false;
        }
        // The order of insertion is lost as well, so the order of the slots replaces it.
        self.trail = None;
        for slot in (0..len).rev().filter(|&slot| is_lost[slot]) {
            if let Some(drop) = self.about.drop {
                // SAFETY: a valid entry that the index no longer refers to.
                unsafe { drop(self.buffer.at(slot)) }
            }
            len -= 1;
            for number in self.index.get_mut() {
                if *number as usize == len {
                    *number = slot as u32;
                }
            }
            // SAFETY: both are below the length, and the entry in `slot` was dropped or moved.
            unsafe { self.buffer.relocate(len, slot) }
            if let Some(identity) = &mut self.identity {
                identity.swap_remove(slot);
            }
        }
    }

    /// Returns whether the collection has no identity. It gets one when room is made for an entry
    /// in a test.
    pub(super) const fn is_unknown(&self) -> bool {
        self.identity.is_none()
    }

    /// Sets the identity of the collection.
    pub(super) fn set_identity(&mut self, identity: Option<Box<Identity>>) {
        self.identity = identity;
    }

    /// Returns whether the next insertion needs no preparation.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        !index::is_full(&self.index) && (self.identity.is_some() || !self.index.is_empty())
    }

    /// Returns whether the collection keeps a fixed hash of each key.
    #[inline]
    pub(super) fn knows_contents(&self) -> bool {
        self.identity.as_ref().is_some_and(|identity| identity.knows_contents())
    }

    /// Notes that a new last slot was added to the index, in this bucket.
    #[inline]
    pub(super) fn added(&mut self, bucket: usize, content: u64) {
        if let Some(trail) = &mut self.trail {
            trail.push(bucket);
        }
        if let Some(identity) = &mut self.identity {
            identity.push(content);
        }
    }

    /// Notes that a slot was removed from the index. The last slot takes its number, and is
    /// returned.
    ///
    /// # Safety
    /// This must be called directly after the removal. The caller must take the entry out of the
    /// slot, and move the last entry there.
    #[inline]
    pub(super) unsafe fn removed(&mut self, slot: u32) -> u32 {
        let last = self.index.len() as u32;
        if slot != last {
            self.trail(last as usize + 1);
        }
        if let Some(trail) = &mut self.trail {
            // SAFETY: the index had this slot, so the trail has it, with the bucket of each slot of
            // the index.
            unsafe {
                if let Some(moved) = trail.swap_remove(slot) {
                    *self.index.get_mut().get_bucket_unchecked_mut(moved) = slot;
                }
            }
        }
        if let Some(identity) = &mut self.identity {
            identity.swap_remove(slot as usize);
        }
        last
    }

    /// Forgets all entries and keeps the room. Deleted buckets of an empty table stay marked, as in
    /// std.
    pub(super) fn forget_all(&mut self) {
        if self.len() == 0 {
            return;
        }
        self.index.clear();
        if let Some(trail) = &mut self.trail {
            trail.clear();
        }
        if let Some(identity) = &mut self.identity {
            identity.clear();
        }
    }

    /// Drops the entries in the slots of `order`.
    ///
    /// # Safety
    /// The entries must be forgotten before any other use of this value.
    unsafe fn drop_entries(&mut self, order: Order) {
        let Some(drop) = self.about.drop else { return };
        for slot in order {
            // SAFETY: each slot has a valid entry and comes once. After a panic the remaining
            // entries are leaked, as in std.
            unsafe { drop(self.buffer.at(slot as usize)) }
        }
    }

    /// Drops all entries and keeps the room.
    pub(super) fn clear(&mut self, caller: impl FnOnce() -> Caller) {
        /// Empties the collection even if a destructor panics, as in std.
        struct Forget<'a>(&'a mut Body);
        impl Drop for Forget<'_> {
            fn drop(&mut self) {
                self.0.forget_all();
            }
        }
        if self.len() == 0 {
            return;
        }
        let order = match self.about.drop {
            Some(_) => self.act(Act::Clear, caller).own(),
            None => Order::NONE,
        };
        let body = Forget(self);
        // SAFETY: the guard forgets the entries at the end of this function.
        unsafe { body.0.drop_entries(order) }
    }

    /// Returns the slot that was filled first. With [`after`](Body::after), it visits the slots in
    /// the order of insertion, as long as nothing is added.
    pub(super) fn first(&self) -> Option<u32> {
        match &self.trail {
            Some(trail) => trail.first(),
            None => (self.len() > 0).then_some(0),
        }
    }

    /// Returns the slot that was filled after this one; see [`Body::first`].
    pub(super) fn after(&self, slot: u32) -> Option<u32> {
        match &self.trail {
            Some(trail) => trail.after(slot),
            None => (slot as usize + 1 < self.len()).then_some(slot + 1),
        }
    }

    /// Returns the slot that was filled last, if the order of insertion is not that of the slots.
    pub(super) fn last(&self) -> Option<u32> {
        self.trail.as_ref()?.walk_back().next()
    }

    /// Returns the slot that was filled before this one; see [`Body::last`].
    pub(super) fn before(&self, slot: u32) -> Option<u32> {
        self.trail.as_ref()?.before(slot)
    }

    /// Returns the buckets of some slots.
    pub(super) fn buckets(&self, slots: impl Iterator<Item = u32>) -> Vec<u32> {
        match &self.trail {
            Some(trail) => hidden::collect(slots.map(|slot| trail.bucket(slot) as u32)),
            None => {
                let trail = Trail::new(&self.index, self.len());
                hidden::collect(slots.map(|slot| trail.bucket(slot) as u32))
            }
        }
    }

    /// Takes the room of an empty collection.
    pub(super) fn take_room(&mut self) -> (SharedIndex, Buffer) {
        (
            mem::replace(&mut self.index, SharedIndex::new(Index::new_in(Arena))),
            mem::replace(&mut self.buffer, Buffer::new(self.about)),
        )
    }

    /// Returns the room that was taken.
    pub(super) fn return_room(&mut self, index: SharedIndex, buffer: Buffer) {
        (self.index, self.buffer) = (index, buffer);
    }

    /// Returns the bucket of a slot.
    #[inline]
    pub(super) fn bucket(&mut self, slot: u32) -> usize {
        self.trail(self.len()).bucket(slot)
    }

    /// Returns the trail of this number of slots, which is kept from now on.
    #[inline]
    fn trail(&mut self, slots: usize) -> &mut Trail {
        let index = &self.index;
        self.trail.get_or_insert_with(|| hidden::boxed(Trail::new(index, slots)))
    }

    /// Creates the body of a clone with as much room, without the entries.
    pub(super) fn begin_clone(&self, created: &'static Location<'static>) -> Box<Self> {
        let mut body = hidden::boxed(Body {
            index: SharedIndex::new(Index::new_in(Arena)),
            buffer: Buffer::new(self.about),
            trail: None,
            identity: None,
            about: self.about,
            created,
            table_is_base: self.table_is_base,
        });
        // SAFETY: there are no entries.
        unsafe { body.buffer.resize(self.buffer.capacity(), 0) }
        body
    }

    /// Completes a clone that has the entries of `original` in its slots.
    pub(super) fn end_clone(&mut self, original: &Self) {
        self.index = original.index.share();
        self.trail.clone_from(&original.trail);
        let identity = original.identity.as_ref();
        self.identity = match identity {
            Some(identity) => Identity::begin_clone(identity),
            None => None,
        };
    }

    /// Returns the place where the collection was created, as the place of a choice.
    fn caller(&self) -> Caller {
        caller::of(self.created)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.about.drop.is_none() || self.len() == 0 {
            return;
        }
        let order = self.act(Act::Drop, || self.caller()).own();
        // SAFETY: nothing uses the entries after the destructor.
        unsafe { self.drop_entries(order) }
    }
}
