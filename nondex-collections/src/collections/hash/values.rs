//! Entries by value, in the decided order.
#![expect(
    unsafe_code,
    reason = "entries are moved out one by one, and the others dropped by code that is not \
        generic over them"
)]

use ::std::marker::PhantomData;
use ::std::ptr::NonNull;

use super::about::About;
use super::body::Body;
use super::buffer::Buffer;
use super::order::Order;
use super::shared::SharedIndex;

/// Entries by value. Those that are not consumed are dropped with it, in order.
#[derive(Debug)]
pub(super) struct IntoEntries<K, V> {
    rest: Rest,
    entries: PhantomData<(K, V)>,
}

/// Entries that nothing else refers to. It is not generic, so that its destructor has no stricter
/// bounds than std's.
#[derive(Debug)]
struct Rest {
    start: NonNull<u8>,
    about: Option<&'static About>,
    order: Order,
    left: usize,
    /// Block that holds the entries.
    buffer: Option<Buffer>,
    /// Collection to which the block returns, and its index.
    home: Option<(NonNull<Body>, SharedIndex)>,
}

// SAFETY: the collection is borrowed for as long as this value lives. All else that is shared or
// sent are entries, for which `IntoEntries` has a marker.
unsafe impl Send for Rest {}
// SAFETY: as above.
unsafe impl Sync for Rest {}

impl Rest {
    /// Returns the address of the next entry, which the caller then owns.
    #[inline]
    fn next(&mut self) -> Option<NonNull<u8>> {
        let about = self.about?;
        let slot = self.order.next()?;
        self.left -= 1;
        // SAFETY: the slots of the order are in the block.
        Some(unsafe { self.start.add(slot as usize * about.size()) })
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        if let Some(drop) = self.about.and_then(|about| about.drop) {
            while let Some(entry) = self.next() {
                // SAFETY: each entry is valid and comes once. After a panic the remaining entries
                // are leaked, as in std.
                unsafe { drop(entry.as_ptr()) }
            }
        }
        // As in std, this does not happen after a panic, nor if this value is leaked. The
        // collection then stays without room.
        if let (Some((mut body, index)), Some(buffer)) = (self.home.take(), self.buffer.take()) {
            // SAFETY: the collection is borrowed for as long as this value lives.
            unsafe { body.as_mut() }.return_room(index, buffer);
        }
    }
}

impl<K, V> IntoEntries<K, V> {
    /// Creates the entries in the slots of an order, of which there are `left`. Takes the buffer,
    /// and returns it at the end if it is only lent.
    ///
    /// # Safety
    /// Each slot must have a valid entry of this type that nothing else refers to. If the room is
    /// lent, `body` must live, and must not be used, for as long as this value lives.
    pub(super) unsafe fn new(body: &mut Body, order: Order, left: usize, lends_room: bool) -> Self {
        let (index, buffer) = body.take_room();
        IntoEntries {
            rest: Rest {
                start: buffer.start(),
                about: Some(body.about),
                order,
                left,
                buffer: Some(buffer),
                home: lends_room.then(|| (NonNull::from(body), index)),
            },
            entries: PhantomData,
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(K, V)> {
        let entry = self.rest.next()?;
        // SAFETY: a valid entry, which is not read again.
        Some(unsafe { entry.cast::<(K, V)>().read() })
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.rest.left
    }

    #[inline]
    pub(super) fn fold<B>(mut self, init: B, mut f: impl FnMut(B, (K, V)) -> B) -> B {
        if self.rest.about.and_then(|about| about.drop).is_some() {
            // One by one, so that the remaining entries are dropped if `f` panics.
            let mut acc = init;
            while let Some(entry) = self.next() {
                acc = f(acc, entry);
            }
            return acc;
        }
        let start = self.rest.start.cast::<(K, V)>();
        ::std::mem::replace(&mut self.rest.order, Order::NONE).fold(init, |acc, slot| {
            // SAFETY: a valid entry, which is not read again.
            f(acc, unsafe { start.add(slot as usize).read() })
        })
    }

    /// Calls `f` on the remaining entries, in order.
    pub(super) fn peek(&self, mut f: impl FnMut(&K, &V)) {
        let start = self.rest.start.cast::<(K, V)>();
        for slot in self.rest.order.clone() {
            // SAFETY: a valid entry that was not consumed yet.
            let (key, value) = unsafe { start.add(slot as usize).as_ref() };
            f(key, value);
        }
    }
}

impl<K, V> Default for IntoEntries<K, V> {
    fn default() -> Self {
        IntoEntries {
            rest: Rest {
                start: NonNull::dangling(),
                about: None,
                order: Order::NONE,
                left: 0,
                buffer: None,
                home: None,
            },
            entries: PhantomData,
        }
    }
}
