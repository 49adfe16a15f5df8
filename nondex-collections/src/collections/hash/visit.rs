//! Iterators over entries in the decided order, by shared and by unique reference.
#![expect(
    unsafe_code,
    reason = "unique references are taken one by one from entries that are visited in any order"
)]

use ::std::marker::PhantomData;
use ::std::ptr::NonNull;

use super::order::Visit;
use super::slots::Slots;

/// Entries by reference. Draws an order only as far as it is consumed.
#[derive(Debug)]
pub(super) struct Entries<'a, K, V> {
    entries: &'a [(K, V)],
    visit: Visit<'a>,
    left: usize,
}

impl<'a, K, V> Entries<'a, K, V> {
    #[inline]
    pub(super) fn new(slots: &'a Slots<K, V>, visit: Visit<'a>) -> Self {
        Entries { entries: slots.entries(), visit, left: slots.len() }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(&'a K, &'a V)> {
        let slot = self.visit.next()?;
        self.left -= 1;
        Some(pair(&self.entries[slot as usize]))
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.left
    }

    #[inline]
    pub(super) fn fold<B>(self, init: B, mut f: impl FnMut(B, (&'a K, &'a V)) -> B) -> B {
        let entries = self.entries;
        self.visit.fold(init, |acc, slot| f(acc, pair(&entries[slot as usize])))
    }
}

#[inline]
const fn pair<K, V>(entry: &(K, V)) -> (&K, &V) {
    (&entry.0, &entry.1)
}

impl<K, V> Clone for Entries<'_, K, V> {
    fn clone(&self) -> Self {
        Entries { entries: self.entries, visit: self.visit.clone(), left: self.left }
    }
}

impl<K, V> Default for Entries<'_, K, V> {
    fn default() -> Self {
        Entries { entries: &[], visit: Visit::NONE, left: 0 }
    }
}

/// Entries with mutable values. Like std's type, it is covariant in the keys.
#[derive(Debug)]
pub(super) struct EntriesMut<'a, K, V> {
    start: NonNull<(K, V)>,
    slots: usize,
    visit: Visit<'a>,
    left: usize,
    entries: PhantomData<(&'a K, &'a mut V)>,
}

// SAFETY: it has unique access to keys and values. The bounds are std's; shared references to keys
// would require `K: Sync`.
unsafe impl<K: Send, V: Send> Send for EntriesMut<'_, K, V> {}
// SAFETY: a shared reference to it gives only shared references to the remaining entries.
unsafe impl<K: Sync, V: Sync> Sync for EntriesMut<'_, K, V> {}

impl<'a, K, V> EntriesMut<'a, K, V> {
    /// Creates the iterator. `visit` must yield no slot of `slots` twice.
    #[inline]
    pub(super) fn new(
        slots: &'a mut Slots<K, V>,
        visit: impl FnOnce(&'a Slots<K, V>) -> Visit<'a>,
    ) -> Self {
        let (start, len) = (slots.start(), slots.len());
        EntriesMut {
            start,
            slots: len,
            // The slots to visit are stored separately from the entries.
            visit: visit(slots),
            left: len,
            entries: PhantomData,
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(&'a K, &'a mut V)> {
        let slot = self.visit.next()?;
        self.left -= 1;
        // SAFETY: each slot comes once.
        Some(unsafe { pair_mut(self.start, self.slots, slot) })
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.left
    }

    #[inline]
    pub(super) fn fold<B>(self, init: B, mut f: impl FnMut(B, (&'a K, &'a mut V)) -> B) -> B {
        let (start, len) = (self.start, self.slots);
        self.visit.fold(init, |acc, slot| {
            // SAFETY: each slot comes once.
            f(acc, unsafe { pair_mut(start, len, slot) })
        })
    }

    /// Calls `f` on the remaining entries, in order.
    pub(super) fn peek(&self, mut f: impl FnMut(&K, &V)) {
        for slot in self.visit.clone() {
            // SAFETY: this slot was not visited yet, and the references do not outlive the call.
            let (key, value) = unsafe { pair_mut(self.start, self.slots, slot) };
            f(key, value);
        }
    }
}

/// Returns the entry in a slot.
///
/// # Safety
/// There must be `len` valid entries from `start` on, and no reference to the entry in the slot.
#[inline]
unsafe fn pair_mut<'a, K, V>(start: NonNull<(K, V)>, len: usize, slot: u32) -> (&'a K, &'a mut V) {
    assert!((slot as usize) < len, "the index holds only slots in use");
    // SAFETY: the caller ensures that the entry is valid; key and value do not overlap.
    unsafe {
        let entry = start.as_ptr().add(slot as usize);
        (&(*entry).0, &mut (*entry).1)
    }
}

impl<K, V> Default for EntriesMut<'_, K, V> {
    fn default() -> Self {
        EntriesMut {
            start: NonNull::dangling(),
            slots: 0,
            visit: Visit::NONE,
            left: 0,
            entries: PhantomData,
        }
    }
}
