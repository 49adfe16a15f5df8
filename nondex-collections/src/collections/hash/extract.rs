//! Removal while visiting.

use super::order::Order;
use super::slots::Slots;

/// Visits entries in the decided order and takes those that a predicate chooses.
///
/// Each entry is out before the predicate sees the next one, so a panic or a leak leaves a valid collection. It has no
/// destructor, as in std, so that entries may refer to what is dropped before it; the slots that a visit frees without
/// coming to its end are given up by a later removal or insertion.
#[derive(Debug)]
pub(super) struct Extract<'a, K, V> {
    slots: &'a mut Slots<K, V>,
    order: Order,
    left: usize,
}

impl<'a, K, V> Extract<'a, K, V> {
    pub(super) fn new(slots: &'a mut Slots<K, V>, order: Order) -> Self {
        Extract {
            left: slots.len(),
            slots,
            order,
        }
    }

    /// The next entry that `take` chooses.
    #[inline]
    pub(super) fn next(&mut self, mut take: impl FnMut(&K, &mut V) -> bool) -> Option<(K, V)> {
        for slot in self.order.by_ref() {
            if let Some(bucket) = &mut self.slots.all_mut()[slot] {
                self.left -= 1;
                if take(&bucket.key, &mut bucket.value) {
                    return Some(self.slots.remove_slot(slot));
                }
            }
        }
        self.slots.settle();
        None
    }

    /// At most so many entries come.
    pub(super) const fn left(&self) -> usize {
        self.left
    }
}
