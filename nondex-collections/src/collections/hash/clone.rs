//! Cloning of the entries of a collection, in the decided order.
#![expect(
    unsafe_code,
    reason = "clones are put into their places in any order, and dropped should one panic"
)]

use ::std::mem::{self, ManuallyDrop};
use ::std::panic::Location;
use ::std::slice;

use super::about::Act;
use super::body::Body;
use super::index;
use super::order::Visit;
use super::slots::Slots;
use crate::caller::caller;

impl<K: Clone, V: Clone> Clone for Slots<K, V> {
    /// Clones the entries, and the order of the table, as in std. The clone gets a separate
    /// identity once one of the two changes.
    #[track_caller]
    fn clone(&self) -> Self {
        let mut clone = self.like(Location::caller());
        if let Some(body) = self.body() {
            let mut new = body.begin_clone(Location::caller());
            clone_entries::<K, V>(body, &mut new, order(body));
            new.end_clone(body);
            clone.set_body(new);
        }
        clone
    }

    #[track_caller]
    fn clone_from(&mut self, source: &Self) {
        // As in std, the old entries are dropped first, and the new room is that of the source. If
        // a clone panics, the collection is empty.
        let allocated = source.body().filter(|body| body.index.num_buckets() > 1);
        let Some(body) = allocated else {
            mem::replace(self, self.like(Location::caller())).clear(caller);
            return;
        };
        self.clear(caller);
        let buckets = self.body().map(|own| own.index.num_buckets());
        if buckets != Some(body.index.num_buckets()) {
            let index = index::like(&body.index);
            self.set_body(Body::new(self.about, Location::caller(), index));
        }
        let Some(own) = self.body_mut() else { return };
        assert!(own.buffer.capacity() >= body.len(), "a table has room");
        clone_entries::<K, V>(body, own, order(body));
        own.end_clone(body);
    }
}

/// Returns the order in which entries are cloned, if it can be observed.
#[track_caller]
fn order(body: &Body) -> Option<Visit<'_>> {
    body.about.model(Act::Clone)?;
    Some(body.act(Act::Clone, caller))
}

/// Clones all entries of `from` into the same slots of `to`, which must be empty and have as much
/// room. If a clone panics, the other clones are dropped.
fn clone_entries<K: Clone, V: Clone>(from: &Body, to: &mut Body, order: Option<Visit<'_>>) {
    /// Guard that drops the clones made until now.
    struct Cloned<'a> {
        order: Visit<'a>,
        count: usize,
        body: &'a Body,
    }
    impl Drop for Cloned<'_> {
        fn drop(&mut self) {
            if let Some(drop) = self.body.about.drop {
                for slot in self.order.by_ref().take(self.count) {
                    // SAFETY: a clone that nothing else refers to.
                    unsafe { drop(self.body.buffer.at(slot as usize)) }
                }
            }
        }
    }
    let len = from.len();
    let source = from.buffer.start().cast::<(K, V)>().as_ptr();
    let target = to.buffer.start().cast::<(K, V)>().as_ptr();
    let Some(order) = order else {
        // SAFETY: the target is a block of the global allocator with this capacity and without
        // entries. The source has this number of valid entries. `Vec` copies types that need no
        // clone bytewise.
        unsafe {
            let room = Vec::from_raw_parts(target, 0, to.buffer.capacity());
            ManuallyDrop::new(room).extend_from_slice(slice::from_raw_parts(source, len));
        }
        return;
    };
    let mut cloned = Cloned { order: order.clone(), count: 0, body: to };
    for slot in order {
        // SAFETY: the source has a valid entry in this slot, and the target has room there.
        unsafe {
            let entry = &*source.add(slot as usize);
            target.add(slot as usize).write(entry.clone());
        }
        cloned.count += 1;
    }
    ::std::mem::forget(cloned);
}
