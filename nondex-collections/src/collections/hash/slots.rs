//! The entries of a collection, and operations on single entries. They use hashes, but no hasher.
#![expect(unsafe_code, reason = "the entries are in memory whose owner does not know their type")]

use ::std::hash::Hash;
use ::std::marker::PhantomData;
use ::std::panic::Location;
use ::std::ptr::NonNull;
use ::std::slice;

use hashbrown::hash_table::Entry;
use nondex_core::{Aspect, Caller, Decision, hash};

use super::about::About;
use super::body::Body;
use super::identity::Identity;
use super::index;
use super::order::Visit;
use super::values::IntoEntries;
use nondex_core::hidden::Box;

/// The entries of a collection. It is as large as std's table, and allocates nothing before the
/// first entry.
#[derive(Debug)]
pub(super) struct Slots<K, V> {
    pub(super) body: Option<Box<Body>>,
    pub(super) about: &'static About,
    /// Place where the collection was created, as far as `#[track_caller]` knows.
    pub(super) created: &'static Location<'static>,
    /// Padding to the size of std's table.
    _unused: usize,
    /// Marks ownership of the entries for drop check.
    entries: PhantomData<(K, V)>,
}

/// Returns all entries of a collection that has been allocated.
#[inline]
fn entries<K, V>(body: &Body) -> &[(K, V)] {
    // SAFETY: the slots below the length have a valid entry each, of the type of the collection
    // that has this body.
    unsafe { body.buffer.entries(body.len()) }
}

/// Returns all entries of a collection that has been allocated, for changes.
#[inline]
fn entries_mut<K, V>(body: &mut Body) -> &mut [(K, V)] {
    // SAFETY: as in `entries`, and the unique reference to the body excludes other references.
    unsafe { slice::from_raw_parts_mut(body.buffer.start().as_ptr().cast(), body.len()) }
}

/// Takes out the entry whose slot was just removed from the index. The last entry moves to its
/// slot.
///
/// # Safety
/// The index must have had `slot`, and nothing else may have happened since the removal.
#[inline]
unsafe fn take<K, V>(body: &mut Body, slot: u32) -> (K, V) {
    let start = body.buffer.start().cast::<(K, V)>();
    // SAFETY: both entries are valid, and may be the same one. The index no longer refers to the
    // taken entry, so it is not read again.
    unsafe {
        let last = start.add(body.removed(slot) as usize);
        let entry = start.add(slot as usize);
        let taken = entry.read();
        last.copy_to(entry, 1);
        taken
    }
}

impl<K, V> Slots<K, V> {
    #[track_caller]
    pub(super) const fn new(about: &'static About) -> Self {
        Slots { body: None, about, created: Location::caller(), _unused: 0, entries: PhantomData }
    }

    #[track_caller]
    pub(super) fn with_capacity(about: &'static About, capacity: usize) -> Self {
        let mut slots = Slots::new(about);
        if capacity > 0 {
            let index = index::with_capacity(capacity, about.size());
            slots.body = Some(Body::new(about, slots.created, index));
        }
        slots
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.body.as_ref().map_or(0, |body| body.len())
    }

    pub(super) fn capacity(&self) -> usize {
        self.body.as_ref().map_or(0, |body| body.index.capacity())
    }

    /// Returns the non-generic data, if anything was ever allocated.
    #[inline]
    pub(super) fn body(&self) -> Option<&Body> {
        self.body.as_deref()
    }

    /// Returns the non-generic data for changes, as [`Slots::body`] does.
    pub(super) fn body_mut(&mut self) -> Option<&mut Body> {
        self.body.as_deref_mut()
    }

    /// Returns an empty collection of the same type.
    pub(super) const fn like(&self, created: &'static Location<'static>) -> Self {
        Slots { body: None, about: self.about, created, _unused: 0, entries: PhantomData }
    }

    /// Sets the body of a new collection.
    pub(super) fn set_body(&mut self, body: Box<Body>) {
        self.body = Some(body);
    }

    /// Returns all entries, by slot.
    #[inline]
    pub(super) fn entries(&self) -> &[(K, V)] {
        self.body().map_or(&[], entries)
    }

    /// Returns the address of the first entry, from which the others can be reached.
    #[inline]
    pub(super) fn start(&self) -> NonNull<(K, V)> {
        self.body().map_or(NonNull::dangling(), |body| body.buffer.start().cast())
    }

    /// Returns the slots in the order that a decision yields.
    #[inline]
    pub(super) fn visit(&self, decision: Decision) -> Visit<'_> {
        self.body().map_or(Visit::NONE, |body| body.visit(decision))
    }

    /// Returns the value of an aspect of this collection.
    pub(super) fn aspect(&self, aspect: Aspect) -> u64 {
        self.body().map_or(0, |body| body.aspect(aspect))
    }

    /// Takes out all entries, in the order that a decision yields, together with the block that
    /// holds them. A lent block returns when the entries are dropped, which must happen before this
    /// collection is used again.
    pub(super) fn take(&mut self, decision: Decision, lends_room: bool) -> IntoEntries<K, V> {
        let Some(body) = &mut self.body else { return IntoEntries::default() };
        let left = body.len();
        let order = body.visit(decision).own();
        body.forget_all();
        // Unlike `clear`, std's `drain` also removes the marks of deleted buckets from an empty
        // table.
        drop(body.index.get_mut().drain());
        // SAFETY: the slots in the order had a valid entry each, and the collection has forgotten
        // them.
        unsafe { IntoEntries::new(body, order, left, lends_room) }
    }

    /// Drops all entries and keeps the room.
    pub(super) fn clear(&mut self, caller: impl FnOnce() -> Caller) {
        if let Some(body) = &mut self.body {
            body.clear(caller);
        }
    }

    /// Returns the slot of the key with `hash` that `is_key` accepts.
    #[inline]
    pub(super) fn find(&self, hash: u64, mut is_key: impl FnMut(&K) -> bool) -> Option<u32> {
        let body = self.body()?;
        let entries = entries::<K, V>(body);
        body.index.find(hash, |&slot| is_key(&entries[slot as usize].0)).copied()
    }

    /// Finds a slot as [`Slots::find`] does, and returns it with its bucket of the index.
    #[inline]
    pub(super) fn find_bucket(
        &self,
        hash: u64,
        mut is_key: impl FnMut(&K) -> bool,
    ) -> Option<(u32, usize)> {
        let body = self.body()?;
        let entries = entries::<K, V>(body);
        let is_key = |&slot: &u32| is_key(&entries[slot as usize].0);
        let bucket = body.index.find_bucket_index(hash, is_key)?;
        Some((*body.index.get_bucket(bucket)?, bucket))
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> &(K, V) {
        &self.entries()[slot as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut (K, V) {
        let entries: &mut [(K, V)] = match &mut self.body {
            Some(body) => entries_mut(body),
            None => &mut [],
        };
        &mut entries[slot as usize]
    }

    /// Returns the values in several slots at once.
    pub(super) fn get_disjoint_mut<const N: usize>(
        &mut self,
        found: [Option<u32>; N],
    ) -> [Option<&mut V>; N] {
        for (place, slot) in found.iter().enumerate() {
            let is_twice = slot.is_some() && found[..place].contains(slot);
            assert!(!is_twice, "duplicate keys found");
        }
        let (start, len) = (self.start().as_ptr(), self.len());
        found.map(|slot| {
            let slot = slot? as usize;
            assert!(slot < len, "the index holds only slots in use");
            // SAFETY: a valid entry. This is the only reference to it, because no slot occurs
            // twice.
            Some(unsafe { &mut (*start.add(slot)).1 })
        })
    }

    /// Takes out the entry of the key with `hash` that `is_key` accepts.
    #[inline]
    pub(super) fn remove(
        &mut self,
        hash: u64,
        mut is_key: impl FnMut(&K) -> bool,
    ) -> Option<(K, V)> {
        let body = self.body.as_deref_mut()?;
        let len = body.len();
        let Body { index, buffer, .. } = body;
        // SAFETY: the slots below the length have a valid entry each, of this type.
        let entries = unsafe { buffer.entries::<(K, V)>(len) };
        let is_key = |&slot: &u32| is_key(&entries[slot as usize].0);
        let (slot, _) = index.get_mut().find_entry(hash, is_key).ok()?.remove();
        // SAFETY: it was in the index until now.
        Some(unsafe { take(body, slot) })
    }

    /// Takes out the entry in a slot that the index holds.
    pub(super) fn remove_slot(&mut self, slot: u32) -> Option<(K, V)> {
        let bucket = self.body.as_deref_mut()?.bucket(slot);
        self.remove_bucket(bucket)
    }

    /// Takes out the entry in a bucket of the index, if there is one.
    pub(super) fn remove_bucket(&mut self, bucket: usize) -> Option<(K, V)> {
        let body = self.body.as_deref_mut()?;
        let (slot, _) = body.index.get_mut().get_bucket_entry(bucket).ok()?.remove();
        // SAFETY: it was in the index until now.
        Some(unsafe { take(body, slot) })
    }

    /// Adds an entry whose key is not present. Room must have been [prepared](Slots::prepare).
    #[inline]
    pub(super) fn insert_unique(&mut self, new: NewKey, key: K, value: V) -> (u32, usize) {
        let body = self.body.as_mut().expect("room was prepared");
        assert!(!index::is_full(&body.index), "room was prepared");
        let slot = body.len() as u32;
        let vacant = body.index.get_mut().insert_unique(new.hash, slot, |_| new.hash);
        let bucket = vacant.bucket_index();
        write(body, slot, (key, value));
        body.added(bucket, new.content);
        (slot, bucket)
    }
}

/// Writes an entry to the last slot of the index, which is new.
#[inline]
fn write<K, V>(body: &mut Body, slot: u32, entry: (K, V)) {
    // SAFETY: the buffer has as much room as the index, and this slot has no entry.
    unsafe { body.buffer.at(slot as usize).cast::<(K, V)>().write(entry) }
}

/// Data about a key before it is added.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewKey {
    pub(super) hash: u64,
    /// Its fixed hash, at level EQ.
    content: u64,
}

impl<K: Hash, V> Slots<K, V> {
    /// Makes room for one entry, as std does before it looks up a key for an insertion.
    #[inline]
    pub(super) fn prepare(&mut self, hash: impl Fn(&K) -> u64) {
        match &self.body {
            Some(body) if body.is_ready() => {}
            _ => self.prepare_slow(hash),
        }
    }

    #[cold]
    fn prepare_slow(&mut self, hash: impl Fn(&K) -> u64) {
        self.reserve(1, hash);
        if let Some(body) = &mut self.body {
            if body.is_unknown() {
                let contents = entries::<K, V>(body).iter().map(|(key, _)| hash::of(key));
                let identity = Identity::begin(contents);
                body.set_identity(identity);
            }
        }
    }

    #[inline]
    pub(super) fn new_key(&self, hash: u64, key: &K) -> NewKey {
        let knows_contents = self.body().is_some_and(Body::knows_contents);
        NewKey { hash, content: if knows_contents { hash::of(key) } else { 0 } }
    }
}

impl<K: Hash + Eq, V> Slots<K, V> {
    /// Finds the slot of `key`, or adds the key with `value`. Returns the unused key and value if
    /// the key is present.
    #[inline]
    pub(super) fn insert(&mut self, hash: impl Fn(&K) -> u64, key: K, value: V) -> Inserted<K, V> {
        let own = hash(&key);
        self.prepare(hash);
        let new = self.new_key(own, &key);
        let body = self.body.as_deref_mut().expect("room was prepared");
        let slot = body.len() as u32;
        let Body { index, buffer, .. } = body;
        // SAFETY: the slots below the length have a valid entry each, of this type.
        let entries = unsafe { buffer.entries::<(K, V)>(slot as usize) };
        let is_key = |&other: &u32| key == entries[other as usize].0;
        match index.get_mut().entry(own, is_key, |_| own) {
            Entry::Occupied(entry) => Inserted::Present(*entry.get(), key, value),
            Entry::Vacant(entry) => {
                let bucket = entry.insert(slot).bucket_index();
                write(body, slot, (key, value));
                body.added(bucket, new.content);
                Inserted::Added
            }
        }
    }
}

/// Result of an insertion.
#[derive(Debug)]
pub(super) enum Inserted<K, V> {
    /// The key was new.
    Added,
    /// The key is in this slot; nothing was changed.
    Present(u32, K, V),
}
