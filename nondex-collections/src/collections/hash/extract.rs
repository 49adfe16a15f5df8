//! Removal while visiting.

use nondex_core::Decision;

use super::order::Order;
use super::slots::Slots;

/// Visits entries in the decided order and takes those that a predicate chooses.
///
/// Each entry is out before the predicate sees the next one, so a panic or a leak leaves a valid collection. It has no
/// destructor, as in std, so that entries may refer to what is dropped before it.
#[derive(Debug)]
pub(super) struct Extract<'a, K, V> {
    slots: &'a mut Slots<K, V>,
    path: Path,
    left: usize,
}

/// What is left to visit. A removal gives other entries other slots, but never other buckets.
#[derive(Debug)]
enum Path {
    /// In the order of insertion, from this slot on.
    Insertion(Option<u32>),
    /// In the order of std's table, from this bucket on.
    Table(usize),
    /// The entries in these buckets.
    Buckets(Order),
}

impl<'a, K, V> Extract<'a, K, V> {
    pub(super) fn new(slots: &'a mut Slots<K, V>, decision: Decision, table_is_base: bool) -> Self {
        let path = match (&decision, slots.body()) {
            (_, None) => Path::Table(0),
            (Decision::Base, Some(body)) if !table_is_base => Path::Insertion(body.first()),
            (Decision::Base | Decision::Std { .. }, _) => Path::Table(0),
            (_, Some(body)) => {
                let buckets = body.buckets(body.visit(decision));
                Path::Buckets(Order::Listed(buckets, 0))
            }
        };
        Extract {
            left: slots.len(),
            slots,
            path,
        }
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
            if let (Path::Insertion(next), Some(body)) = (&mut self.path, self.slots.body())
                && *next == Some(body.len() as u32 - 1)
            {
                // The last entry is next, and gets this slot.
                *next = Some(slot);
            }
            return match bucket {
                Some(bucket) => self.slots.remove_bucket(bucket),
                None => self.slots.remove_slot(slot),
            };
        }
    }

    /// The next slot, and its bucket where that is known.
    fn step(&mut self) -> Option<(u32, Option<usize>)> {
        let body = self.slots.body()?;
        match &mut self.path {
            Path::Insertion(next) => {
                let slot = (*next)?;
                *next = body.after(slot);
                Some((slot, None))
            }
            Path::Table(bucket) => loop {
                let here = *bucket;
                if here == body.index.num_buckets() {
                    return None;
                }
                *bucket += 1;
                if let Some(&slot) = body.index.get_bucket(here) {
                    return Some((slot, Some(here)));
                }
            },
            Path::Buckets(buckets) => {
                let bucket = buckets.next()? as usize;
                let &slot = body.index.get_bucket(bucket)?;
                Some((slot, Some(bucket)))
            }
        }
    }

    /// At most so many entries come.
    pub(super) const fn left(&self) -> usize {
        self.left
    }
}
