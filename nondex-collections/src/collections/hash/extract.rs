//! Removal of entries during a visit.

use ::std::mem;

use nondex_core::Decision;

use super::body::Body;
use super::order::{Order, Visit};
use super::slots::Slots;
use super::trail::Walk;

/// Iterator that visits entries in the decided order and takes out those that a predicate accepts.
///
/// Each entry is out before the predicate sees the next one, so a panic or a leak leaves a valid
/// collection. As in std, there is no destructor, so that entries may refer to data that is dropped
/// before the iterator.
#[derive(Debug)]
pub(super) struct Extract<'a, K, V> {
    slots: &'a mut Slots<K, V>,
    path: Path,
    left: usize,
}

/// The remaining path of the visit. A removal gives other entries other slots, but never other
/// buckets.
///
/// Taking the first entry does not visit the others, so that a loop may take one entry at a time
/// from a long collection.
#[derive(Debug)]
enum Path {
    /// In the order of insertion, starting at this slot.
    Insertion(Option<u32>),
    /// In the reverse order of insertion, starting at this slot.
    Reverse(Option<u32>),
    /// In the order of std's table, starting at this bucket.
    Table(usize),
    /// In the order of these slots; nothing was removed yet.
    Slots(Order),
    /// The entries that were in these slots before the last entry moved from slot `from` to `to`.
    Moved { order: Order, from: u32, to: u32 },
    /// By content: all remaining entries. The first one is excluded if the predicate has `looked`
    /// at it.
    Content { tree: u64, key: u64, looked: bool },
    /// In the order of these buckets.
    Buckets(Order),
}

impl Path {
    fn new(body: &Body, decision: Decision, table_is_base: bool) -> Self {
        match decision {
            Decision::Base if !table_is_base => Path::Insertion(body.first()),
            Decision::Base | Decision::Std { .. } => Path::Table(0),
            Decision::ByContent { tree, key } if body.knows_contents() => {
                Path::Content { tree, key, looked: false }
            }
            decision => match body.visit(decision) {
                Visit::Trail(Walk::Backward(_)) => Path::Reverse(body.last()),
                visit @ (Visit::Table(_) | Visit::Trail(_) | Visit::Content(_)) => {
                    Path::buckets(body, visit)
                }
                visit => Path::Slots(visit.own()),
            },
        }
    }

    /// Returns the path through the entries that are in these slots now.
    fn buckets(body: &Body, slots: impl Iterator<Item = u32>) -> Self {
        Path::Buckets(Order::Listed(body.buckets(slots), 0))
    }
}

impl<'a, K, V> Extract<'a, K, V> {
    pub(super) fn new(slots: &'a mut Slots<K, V>, decision: Decision, table_is_base: bool) -> Self {
        let path =
            slots.body().map_or(Path::Table(0), |body| Path::new(body, decision, table_is_base));
        Extract { left: slots.len(), slots, path }
    }

    /// Returns the next entry that `take` accepts.
    #[inline]
    pub(super) fn next(&mut self, mut take: impl FnMut(&K, &mut V) -> bool) -> Option<(K, V)> {
        loop {
            let (slot, bucket) = self.step()?;
            self.left -= 1;
            let (key, value) = self.slots.get_mut(slot);
            if !take(key, value) {
                continue;
            }
            self.will_remove(slot);
            return match bucket {
                Some(bucket) => self.slots.remove_bucket(bucket),
                None => self.slots.remove_slot(slot),
            };
        }
    }

    /// Returns the next slot, and its bucket if it is known.
    fn step(&mut self) -> Option<(u32, Option<usize>)> {
        let body = self.slots.body()?;
        loop {
            match &mut self.path {
                Path::Insertion(next) => {
                    let slot = (*next)?;
                    *next = body.after(slot);
                    return Some((slot, None));
                }
                Path::Reverse(next) => {
                    let slot = (*next)?;
                    *next = body.before(slot);
                    return Some((slot, None));
                }
                Path::Table(bucket) => {
                    let here = *bucket;
                    if here == body.index.num_buckets() {
                        return None;
                    }
                    *bucket += 1;
                    if let Some(&slot) = body.index.get_bucket(here) {
                        return Some((slot, Some(here)));
                    }
                }
                Path::Slots(order) => return Some((order.next()?, None)),
                Path::Moved { order, from, to } => {
                    // From the first removal on, buckets replace the slots, because further
                    // removals change the slots but never the buckets.
                    let (order, from, to) = (mem::replace(order, Order::NONE), *from, *to);
                    let slots = order.map(|slot| if slot == from { to } else { slot });
                    self.path = Path::buckets(body, slots);
                }
                Path::Content { tree, key, looked } => {
                    let (tree, key) = (*tree, *key);
                    let mut slots = body.visit(Decision::ByContent { tree, key });
                    if mem::replace(looked, true) {
                        self.path = Path::buckets(body, slots.skip(1));
                    } else {
                        return Some((slots.next()?, None));
                    }
                }
                Path::Buckets(buckets) => {
                    let bucket = buckets.next()? as usize;
                    let &slot = body.index.get_bucket(bucket)?;
                    return Some((slot, Some(bucket)));
                }
            }
        }
    }

    /// Notes that the entry in this slot will be removed, and that the last entry will move to its
    /// slot.
    fn will_remove(&mut self, slot: u32) {
        let from = self.slots.len() as u32 - 1;
        match &mut self.path {
            Path::Insertion(next) | Path::Reverse(next) if *next == Some(from) => {
                *next = Some(slot);
            }
            Path::Slots(order) => {
                let order = mem::replace(order, Order::NONE);
                self.path = Path::Moved { order, from, to: slot };
            }
            Path::Content { looked, .. } => *looked = false,
            _ => {}
        }
    }

    /// Returns an upper bound of the number of remaining entries.
    pub(super) const fn left(&self) -> usize {
        self.left
    }
}
