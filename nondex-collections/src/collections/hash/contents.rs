//! What the keys of a collection are, and an order of them that depends on nothing else.
//!
//! At level EQ, equal collections have equal orders, however they came to be. Short ones are sorted, and then permuted. Long ones
//! are not sorted for each read: their keys are sent through a hash that is keyed by the seed, as leaves of a binary tree (which
//! is never written out), and a read goes through that tree with the two sides of each level exchanged or not, as a word says
//! that is keyed by the contents. So every pair of keys is in either order in half of all reads, each key comes first sometimes,
//! and the first one is found without looking at the others. The word is drawn anew with every change of the contents.

use ::std::sync::OnceLock;

use nondex_core::hash;

use super::hidden::{self, Vec};

/// No slot.
const NONE: u32 = u32::MAX;

/// A fixed hash of the key in each slot, beside the slots.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    hashes: Vec<u64>,
    /// Of all hashes, in whatever order.
    sum: u64,
    /// The slots sorted by their hashes, once they were asked for.
    sorted: OnceLock<Vec<u32>>,
    /// Once a long collection was read.
    tree: OnceLock<Tree>,
}

/// The leaves of the tree in groups with the same first bits.
#[derive(Clone, Debug)]
struct Tree {
    /// What the hashes are keyed with.
    key: u64,
    /// How many first bits a group has in common; there are as many groups as these bits have values.
    bits: u32,
    /// The first slot of each group.
    heads: Vec<u32>,
    /// The slot after each slot in its group.
    next: Vec<u32>,
}

impl Contents {
    /// What has keys of these hashes.
    pub(super) fn of(hashes: impl Iterator<Item = u64>) -> Self {
        let hashes = hidden::collect(hashes);
        let sum = hashes.iter().copied().map(hash::mix);
        Contents {
            sum: sum.fold(0, u64::wrapping_add),
            hashes,
            sorted: OnceLock::new(),
            tree: OnceLock::new(),
        }
    }

    /// A hash of all contents that does not depend on their order.
    pub(super) const fn sum(&self) -> u64 {
        self.sum
    }

    /// The hash of the key in a slot.
    pub(super) fn get(&self, slot: usize) -> u64 {
        self.hashes[slot]
    }

    pub(super) fn push(&mut self, content: u64) {
        self.sum = self.sum.wrapping_add(hash::mix(content));
        self.sorted.take();
        let slot = self.hashes.len();
        self.hashes.push(content);
        if let Some(tree) = self.tree.get_mut() {
            if tree.has_room_for(self.hashes.len()) {
                tree.push(slot, content);
            } else {
                self.tree.take();
            }
        }
    }

    pub(super) fn swap_remove(&mut self, slot: usize) {
        self.sorted.take();
        let content = self.hashes[slot];
        self.sum = self.sum.wrapping_sub(hash::mix(content));
        let last = self.hashes.len() - 1;
        if let Some(tree) = self.tree.get_mut() {
            if tree.has_room_for(last) {
                tree.swap_remove(slot, content, last, self.hashes[last]);
            } else {
                self.tree.take();
            }
        }
        self.hashes.swap_remove(slot);
    }

    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.sum = 0;
        self.sorted.take();
        self.tree.take();
    }

    /// The slots sorted by their hashes; slots with equal hashes are in the order of `base`. Costs O(1) until the next change.
    pub(super) fn sorted(&self, base: impl FnOnce() -> Vec<u32>) -> &[u32] {
        self.sorted.get_or_init(|| {
            let mut slots = base();
            slots.sort_by_key(|&slot| self.hashes[slot as usize]);
            slots
        })
    }

    /// All slots in an order that depends on the two keys and on the hashes only, but for equal hashes. `tree_key` is to be the
    /// same in one run. The first slot costs amortised O(1), as does each other one.
    pub(super) fn visit(&self, tree_key: u64, key: u64) -> ByContent<'_> {
        let tree = self.tree.get_or_init(|| Tree::new(tree_key, &self.hashes));
        ByContent {
            hashes: &self.hashes,
            tree,
            key,
            group: 0,
            pending: hidden::vec(),
        }
    }
}

/// Where a key is in the tree: the bits say which way to go at each level.
pub(super) const fn leaf(content: u64, tree_key: u64) -> u64 {
    hash::mix(content ^ tree_key)
}

impl Tree {
    fn new(key: u64, hashes: &[u64]) -> Self {
        let bits = hashes.len().max(2).next_power_of_two().ilog2();
        let mut tree = Tree {
            key,
            bits,
            heads: hidden::vec(),
            next: Vec::with_capacity_in(hashes.len(), ::std::alloc::System),
        };
        tree.heads.resize(1 << bits, NONE);
        for (slot, &content) in hashes.iter().enumerate() {
            tree.push(slot, content);
        }
        tree
    }

    /// Whether groups are neither long nor mostly empty with so many slots.
    fn has_room_for(&self, slots: usize) -> bool {
        (self.heads.len() / 4..=self.heads.len() * 2).contains(&slots)
    }

    fn leaf(&self, content: u64) -> u64 {
        leaf(content, self.key)
    }

    fn group(&self, leaf: u64) -> usize {
        (leaf >> (64 - self.bits)) as usize
    }

    fn push(&mut self, slot: usize, content: u64) {
        let group = self.group(self.leaf(content));
        self.next.push(self.heads[group]);
        self.heads[group] = slot as u32;
    }

    /// Lets what names `slot` in its group name another slot, or none.
    fn rename(&mut self, slot: usize, content: u64, to: u32) {
        let group = self.group(self.leaf(content));
        let mut at = self.heads[group];
        if at as usize == slot {
            self.heads[group] = to;
            return;
        }
        while self.next[at as usize] as usize != slot {
            at = self.next[at as usize];
        }
        self.next[at as usize] = to;
    }

    fn swap_remove(&mut self, slot: usize, content: u64, last: usize, content_of_last: u64) {
        self.rename(slot, content, self.next[slot]);
        if slot != last {
            self.rename(last, content_of_last, slot as u32);
        }
        self.next.swap_remove(slot);
    }
}

/// Slots in the order of one read.
#[derive(Clone, Debug)]
pub(super) struct ByContent<'a> {
    hashes: &'a [u64],
    tree: &'a Tree,
    key: u64,
    /// The next group, counted as this read meets them.
    group: usize,
    /// What is left of the group before, the next one last.
    pending: Vec<(u64, u32)>,
}

impl Iterator for ByContent<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some((_, slot)) = self.pending.pop() {
                return Some(slot);
            }
            if self.group == self.tree.heads.len() {
                return None;
            }
            let mut slot = self.tree.heads[self.group ^ self.tree.group(self.key)];
            self.group += 1;
            if slot == NONE {
                continue;
            }
            let after = self.tree.next[slot as usize];
            if after == NONE {
                return Some(slot);
            }
            while slot != NONE {
                let leaf = self.tree.leaf(self.hashes[slot as usize]);
                self.pending.push((leaf ^ self.key, slot));
                slot = self.tree.next[slot as usize];
            }
            self.pending.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

#[cfg(test)]
mod tests {
    use ::std::collections::BTreeSet;
    use ::std::vec::Vec;

    use super::*;

    fn read(contents: &Contents, key: u64) -> Vec<u64> {
        let slots = contents.visit(7, key);
        slots.map(|slot| contents.get(slot as usize)).collect()
    }

    fn of(hashes: impl IntoIterator<Item = u64>) -> Contents {
        Contents::of(hashes.into_iter())
    }

    #[test]
    fn the_order_depends_on_the_hashes_and_not_on_the_history() {
        let mut contents = of(0..5_000);
        for step in 0..4_500u64 {
            let slot = hash::mix(step) as usize % contents.hashes.len();
            if step % 2 == 0 {
                contents.visit(7, step).next();
            }
            contents.swap_remove(slot);
            if step % 3 == 0 {
                contents.push(10_000 + step);
            }
        }
        let mut hashes: Vec<u64> = contents.hashes.iter().copied().collect();
        for key in [0, 1, u64::MAX, hash::mix(3)] {
            let expected = read(&contents, key);
            hashes.sort_unstable_by_key(|&content| hash::mix(content ^ key));
            let other = of(hashes.iter().copied());
            assert_eq!(other.sum(), contents.sum());
            assert_eq!(read(&other, key), expected);
            hashes.sort_unstable_by_key(|&content| hash::mix(content ^ 7) ^ key);
            assert_eq!(expected, hashes);
        }
    }

    #[test]
    fn every_pair_is_in_either_order_and_every_slot_comes_first() {
        let contents = of((0..300).map(hash::mix));
        let mut first = BTreeSet::new();
        let mut forth = 0;
        for read in 0..10_000u64 {
            let order: Vec<u32> = contents.visit(7, hash::mix(read)).collect();
            first.insert(order[0]);
            let at = |slot| order.iter().position(|&other| other == slot);
            forth += u32::from(at(3) < at(4));
        }
        assert_eq!(first.len(), 300);
        assert!((4_700..5_300).contains(&forth), "{forth} of 10,000");
    }

    #[test]
    fn equal_hashes_are_all_there() {
        let mut contents = of([5; 20]);
        assert_eq!(read(&contents, 3), [5; 20]);
        contents.swap_remove(3);
        contents.swap_remove(18);
        assert_eq!(read(&contents, 3), [5; 18]);
    }
}
