//! Removal while visiting.

use ::std::mem;

use nondex_core::Decision;

use super::body::Body;
use super::order::{Order, Visit};
use super::slots::Slots;
use super::trail::Walk;

/// Visits entries in the decided order and takes those that a predicate chooses.
///
/// Each entry is out before the predicate sees the next one, so a panic or a leak leaves a valid
/// collection. It has no destructor, as in std, so that entries may refer to what is dropped before
/// it.
#[derive(Debug)]
pub(super) struct Extract<'a, K, V> {
    slots: &'a mut Slots<K, V>,
    path: Path,
    left: usize,
}

/// What is left to visit. A removal gives other entries other slots, but never other buckets.
///
/// What is taken first costs no look at the others, so that a loop may take one entry at a time
/// from a long collection.
#[derive(Debug)]
enum Path {
    /// In the order of insertion, from this slot on.
    Insertion(Option<u32>),
    /// In the reverse of that order, from this slot on.
    Reverse(Option<u32>),
    /// In the order of std's table, from this bucket on.
    Table(usize),
    /// The entries in these slots: nothing was removed yet.
    Slots(Order),
    /// The entries that were in these slots before the last one of all, `from`, came to `to`.
    Moved { order: Order, from: u32, to: u32 },
    /// By content, what is still there but the first: that one only if it was not `looked` at.
    Content { tree: u64, key: u64, looked: bool },
    /// The entries in these buckets.
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

    /// The entries that are in these slots now.
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

    /// The next entry that `take` chooses.
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

    /// The next slot, and its bucket where that is known.
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

    /// Notes that the entry in this slot goes, and the last one of all gets its slot.
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

    /// Upper bound of the number of entries.
    pub(super) const fn left(&self) -> usize {
        self.left
    }
}
