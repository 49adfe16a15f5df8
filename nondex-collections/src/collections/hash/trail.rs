//! The order of insertion, once a removal has changed the order of slots.
#![expect(
    unsafe_code,
    reason = "all numbers of a table are looked at with the buckets that they are in"
)]

use ::std::hint::assert_unchecked;
use ::std::iter::Rev;
use ::std::slice;

use nondex_core::hidden::{self, Table, Vec};

/// Marks a step without a slot.
const NONE: u32 = u32::MAX;

/// The bucket of each slot, and the order in which the slots were filled; parallel to the slots.
///
/// The last entry fills a slot that becomes free, so that slots have no gaps. This needs the bucket
/// of the last entry. While only last entries are removed, a collection has no trail: its slots are
/// in the order of insertion.
#[derive(Debug)]
pub(super) struct Trail {
    marks: Vec<Mark>,
    /// Slot that was filled at each step, or [`NONE`] once its entry is gone.
    steps: Vec<u32>,
    /// First step with a slot. The last of `steps` has a slot, too.
    first: usize,
}

/// Data about a slot.
#[derive(Clone, Copy, Debug)]
struct Mark {
    bucket: u32,
    /// Step at which the slot was filled.
    step: u32,
}

impl Clone for Trail {
    fn clone(&self) -> Self {
        Trail {
            marks: hidden::copy(&self.marks),
            steps: hidden::copy(&self.steps),
            first: self.first,
        }
    }
}

impl Trail {
    /// Creates the trail of this number of slots in the order of insertion. The index may lack a
    /// slot that is about to be removed.
    #[cold]
    pub(super) fn new(index: &Table<u32>, slots: usize) -> Self {
        let mut trail = Trail { marks: hidden::vec(), steps: hidden::vec(), first: 0 };
        trail.steps.resize(slots, 0);
        trail.marks.resize(slots, Mark { bucket: 0, step: 0 });
        // Loops without branches.
        for (step, slot) in trail.steps.iter_mut().enumerate() {
            *slot = step as u32;
        }
        for (step, mark) in trail.marks.iter_mut().enumerate() {
            mark.step = step as u32;
        }
        trail.find_buckets(index);
        trail
    }

    /// Updates the buckets from an index that was rearranged.
    pub(super) fn find_buckets(&mut self, index: &Table<u32>) {
        for bucket in index.iter_buckets() {
            // SAFETY: `iter_buckets` returns only full buckets.
            let slot = *unsafe { index.get_bucket_unchecked(bucket) };
            self.marks[slot as usize].bucket = bucket as u32;
        }
    }

    /// Returns the bucket of a slot.
    #[inline]
    pub(super) fn bucket(&self, slot: u32) -> usize {
        self.marks[slot as usize].bucket as usize
    }

    /// Adds a new slot and its bucket.
    #[inline]
    pub(super) fn push(&mut self, bucket: usize) {
        if self.steps.len() > 2 * self.marks.len() + 32 {
            self.count_again();
        }
        let slot = self.marks.len() as u32;
        self.marks.push(Mark { bucket: bucket as u32, step: self.steps.len() as u32 });
        self.steps.push(slot);
    }

    /// Discards the steps without a slot.
    #[cold]
    fn count_again(&mut self) {
        self.steps.retain(|&slot| slot != NONE);
        self.first = 0;
        for (step, &slot) in self.steps.iter().enumerate() {
            self.marks[slot as usize].step = step as u32;
        }
    }

    /// Notes that a slot was freed, and that the last slot took its number. Returns the bucket of
    /// the latter, unless the two are the same.
    ///
    /// # Safety
    /// The slot must exist.
    #[inline]
    pub(super) unsafe fn swap_remove(&mut self, slot: u32) -> Option<usize> {
        // SAFETY: the caller ensures that the slot exists.
        unsafe { assert_unchecked((slot as usize) < self.marks.len()) }
        let freed = self.marks.swap_remove(slot as usize).step as usize;
        // SAFETY: the step of a mark is one of the steps.
        unsafe { assert_unchecked(freed < self.steps.len()) }
        self.steps[freed] = NONE;
        let moved = self.marks.get(slot as usize).copied();
        if let Some(moved) = moved {
            // SAFETY: as above.
            unsafe { assert_unchecked((moved.step as usize) < self.steps.len()) }
            self.steps[moved.step as usize] = slot;
        }
        // The steps begin and end with one that has a slot, if there are any.
        if freed == self.first {
            while self.steps.get(self.first) == Some(&NONE) {
                self.first += 1;
            }
        } else if freed + 1 == self.steps.len() {
            while self.steps.last() == Some(&NONE) {
                self.steps.pop();
            }
        }
        moved.map(|moved| moved.bucket as usize)
    }

    /// Notes that all slots were removed.
    pub(super) fn clear(&mut self) {
        self.marks.clear();
        self.steps.clear();
        self.first = 0;
    }

    /// Returns the slot that was filled first.
    pub(super) fn first(&self) -> Option<u32> {
        self.steps.get(self.first).copied()
    }

    /// Returns the slot that was filled after this one.
    pub(super) fn after(&self, slot: u32) -> Option<u32> {
        let step = self.marks[slot as usize].step as usize;
        self.steps[step + 1..].iter().copied().find(|&slot| slot != NONE)
    }

    /// Returns the slot that was filled before this one.
    pub(super) fn before(&self, slot: u32) -> Option<u32> {
        let step = self.marks[slot as usize].step as usize;
        self.steps[self.first..step].iter().rev().copied().find(|&slot| slot != NONE)
    }

    /// Returns all slots in the order of insertion.
    pub(super) fn walk(&self) -> Walk<'_> {
        Walk::Forward(self.steps[self.first..].iter())
    }

    /// Returns all slots in the reverse order of insertion.
    pub(super) fn walk_back(&self) -> Walk<'_> {
        Walk::Backward(self.steps[self.first..].iter().rev())
    }
}

/// Iterator over the slots of a trail.
#[derive(Clone, Debug)]
pub(super) enum Walk<'a> {
    Forward(slice::Iter<'a, u32>),
    Backward(Rev<slice::Iter<'a, u32>>),
}

impl Iterator for Walk<'_> {
    type Item = u32;

    /// Returns the next slot. It is not inlined, so that loops over a `Visit` have room for the
    /// more common orders.
    fn next(&mut self) -> Option<u32> {
        let is_there = |slot: &&u32| **slot != NONE;
        match self {
            Walk::Forward(steps) => steps.find(is_there),
            Walk::Backward(steps) => steps.find(is_there),
        }
        .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_tells_the_order_of_insertion_after_any_removals() {
        let hash = |slot: &u32| u64::from(*slot).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut index = Table::new_in(nondex_core::arena::Arena);
        for slot in 0..10 {
            index.insert_unique(hash(&slot), slot, hash);
        }
        let mut trail = Trail::new(&index, 10);
        // Model of the collection: the content of each slot, and all contents in the order of
        // insertion.
        let mut slots: ::std::vec::Vec<u32> = (0..10).collect();
        let mut expected = slots.clone();
        for (step, freed) in [3, 0, 7, 5, 4, 4, 0].into_iter().enumerate() {
            let content = slots.swap_remove(freed);
            expected.retain(|&other| other != content);
            // SAFETY: there are as many slots as numbers in `slots`.
            unsafe { trail.swap_remove(freed as u32) };
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
        for step in 0..10_000 {
            let freed = step * 7 % slots.len();
            let content = slots.swap_remove(freed);
            expected.retain(|&other| other != content);
            // SAFETY: there are as many slots as numbers in `slots`.
            unsafe { trail.swap_remove(freed as u32) };
            slots.push(200 + step as u32);
            expected.push(200 + step as u32);
            trail.push(0);
        }
        assert!(trail.walk().map(|slot| slots[slot as usize]).eq(expected));
        assert!(trail.steps.len() < 60, "freed steps are given up");
        trail.clear();
        assert_eq!(trail.walk().next(), None);
    }
}
