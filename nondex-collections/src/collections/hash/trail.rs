//! The order of insertion, once a removal has changed the order of slots.

use super::hidden::{self, Table, Vec};

/// No slot.
const NONE: u32 = u32::MAX;

/// Where each slot is in the index, and which slots were filled before and after it. Beside the slots.
///
/// A slot that becomes free is filled with the last entry, so that slots have no gaps; that needs the bucket of that last one.
/// A collection of which nothing but the last entry was ever removed has no trail: its slots are in the order of insertion.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    buckets: Vec<u32>,
    links: Vec<Link>,
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
}

impl Trail {
    /// The trail of slots that are in the order of insertion.
    #[cold]
    pub(super) fn new(index: &Table<u32>) -> Self {
        let len = index.len() as u32;
        let mut trail = Trail {
            buckets: hidden::vec(),
            links: hidden::collect((0..len).map(|slot| Link {
                before: slot.wrapping_sub(1),
                after: if slot + 1 == len { NONE } else { slot + 1 },
            })),
            first: if len == 0 { NONE } else { 0 },
            last: len.wrapping_sub(1),
        };
        trail.find_buckets(index);
        trail
    }

    /// Looks up where the slots are in an index that was rearranged.
    pub(super) fn find_buckets(&mut self, index: &Table<u32>) {
        self.buckets.clear();
        self.buckets.resize(index.len(), NONE);
        for bucket in index.iter_buckets() {
            if let Some(&slot) = index.get_bucket(bucket) {
                self.buckets[slot as usize] = bucket as u32;
            }
        }
    }

    /// The bucket of a slot.
    pub(super) fn bucket(&self, slot: u32) -> usize {
        self.buckets[slot as usize] as usize
    }

    /// Notes a new slot, and its bucket.
    pub(super) fn push(&mut self, bucket: usize) {
        let slot = self.links.len() as u32;
        self.buckets.push(bucket as u32);
        self.links.push(Link {
            before: self.last,
            after: NONE,
        });
        self.join(self.last, slot);
        self.join(slot, NONE);
    }

    /// Notes that a slot was freed and the last one has taken its number.
    pub(super) fn swap_remove(&mut self, slot: u32) {
        let Link { before, after } = self.links[slot as usize];
        self.join(before, after);
        self.buckets.swap_remove(slot as usize);
        let moved = self.links.len() as u32 - 1;
        if slot != moved {
            let Link { before, after } = self.links[moved as usize];
            self.links[slot as usize] = Link { before, after };
            self.join(before, slot);
            self.join(slot, after);
        }
        self.links.truncate(moved as usize);
    }

    /// Notes that no slot is left.
    pub(super) fn clear(&mut self) {
        self.buckets.clear();
        self.links.clear();
        (self.first, self.last) = (NONE, NONE);
    }

    /// Lets one slot follow another; either may be an end.
    fn join(&mut self, before: u32, after: u32) {
        match before {
            NONE => self.first = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => self.last = before,
            after => self.links[after as usize].before = before,
        }
    }

    /// The slot that was filled first.
    pub(super) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// The slot that was filled after this one.
    pub(super) fn after(&self, slot: u32) -> Option<u32> {
        let after = self.links[slot as usize].after;
        (after != NONE).then_some(after)
    }

    /// All slots in the order of insertion.
    pub(super) fn walk(&self) -> Walk<'_> {
        Walk {
            links: &self.links,
            next: self.first,
            is_backward: false,
        }
    }

    /// All slots from the one that was filled last.
    pub(super) fn walk_back(&self) -> Walk<'_> {
        Walk {
            links: &self.links,
            next: self.last,
            is_backward: true,
        }
    }
}

/// Slots along a trail.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    links: &'a [Link],
    next: u32,
    is_backward: bool,
}

impl Iterator for Walk<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let here = self.next;
        let link = self.links.get(here as usize)?;
        self.next = if self.is_backward {
            link.before
        } else {
            link.after
        };
        Some(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_tells_the_order_of_insertion_after_any_removals() {
        let hash = |slot: &u32| u64::from(*slot).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut index = Table::new_in(::std::alloc::System);
        for slot in 0..10 {
            index.insert_unique(hash(&slot), slot, hash);
        }
        let mut trail = Trail::new(&index);
        // What is in each slot, and all of it in the order of insertion.
        let mut slots: ::std::vec::Vec<u32> = (0..10).collect();
        let mut expected = slots.clone();
        for (step, freed) in [3, 0, 7, 5, 4, 4, 0].into_iter().enumerate() {
            let content = slots.swap_remove(freed);
            expected.retain(|&other| other != content);
            trail.swap_remove(freed as u32);
            if step % 3 == 2 {
                let new = 100 + step as u32;
                slots.push(new);
                expected.push(new);
                trail.push(0);
            }
            let walked: ::std::vec::Vec<u32> =
                trail.walk().map(|slot| slots[slot as usize]).collect();
            assert_eq!(walked, expected);
            let mut back: ::std::vec::Vec<u32> =
                trail.walk_back().map(|slot| slots[slot as usize]).collect();
            back.reverse();
            assert_eq!(back, expected);
        }
        trail.clear();
        assert_eq!(trail.walk().next(), None);
    }
}
