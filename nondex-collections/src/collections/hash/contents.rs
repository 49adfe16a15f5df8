//! The contents of a collection's keys, and an order that depends only on them.
//!
//! At level EQ, equal collections have equal orders, whatever their history. Short ones are sorted,
//! and then permuted. Sorting long ones at each read would cost too much. Instead, their keys are
//! leaves of a binary tree (which is never written out), placed by a hash that is keyed by the
//! seed.
//!
//! A read traverses that tree. At each depth, the two sides are exchanged or not, by the bits of a
//! word that is keyed by the contents. So every pair of keys is in either order in half of all
//! reads, and each key sometimes comes first. The first key is found without visiting the others.
//! Each change of the contents leads to a new word.

use ::std::sync::OnceLock;

use nondex_core::hash;

use nondex_core::hidden::{self, Vec};

/// Fixed hashes of the keys, parallel to the slots.
#[derive(Debug)]
pub(super) struct Contents {
    hashes: Vec<u64>,
    /// Combined hash that does not depend on the order.
    sum: u64,
    /// Slots sorted by their hashes, once they are needed.
    sorted: OnceLock<Vec<u32>>,
    /// Tree, once a long collection is read.
    tree: OnceLock<Tree>,
}

/// Clones only the hashes. The orders that follow from them take several times as much room, and
/// may never be needed.
impl Clone for Contents {
    fn clone(&self) -> Self {
        Contents {
            hashes: hidden::copy(&self.hashes),
            sum: self.sum,
            sorted: OnceLock::new(),
            tree: OnceLock::new(),
        }
    }
}

/// The leaves of the tree, in groups with the same leading bits.
#[derive(Debug)]
struct Tree {
    /// Key of the hashes.
    key: u64,
    /// Number of leading bits that identify a group. There are as many groups as values of these
    /// bits.
    bits: u32,
    groups: Vec<Group>,
    /// Members of all groups; those of one group are adjacent. A group that outgrows its room moves
    /// to the end, so there are gaps.
    members: Vec<Member>,
}

/// Range of the members of a group.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: u32,
    len: u32,
    room: u32,
}

/// A slot, and the bits of its leaf that follow those of the group.
#[derive(Clone, Copy, Debug)]
struct Member {
    bits: u32,
    slot: u32,
}

impl Contents {
    /// Creates the contents with these hashes.
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

    /// Returns a hash of all contents that does not depend on their order.
    pub(super) const fn sum(&self) -> u64 {
        self.sum
    }

    /// Returns the hash of the key in a slot.
    pub(super) fn get(&self, slot: usize) -> u64 {
        self.hashes[slot]
    }

    #[inline]
    pub(super) fn push(&mut self, content: u64) {
        self.sum = self.sum.wrapping_add(hash::mix(content));
        let slot = self.hashes.len();
        self.hashes.push(content);
        self.forget_sorted();
        if let Some(tree) = self.tree.get_mut() {
            if tree.has_room_for(self.hashes.len()) {
                tree.push(slot, content);
            } else {
                self.tree.take();
            }
        }
    }

    pub(super) fn swap_remove(&mut self, slot: usize) {
        self.forget_sorted();
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

    /// Discards the sorted slots after a change.
    #[inline]
    fn forget_sorted(&mut self) {
        // Checking first is cheaper than taking an empty value.
        if self.sorted.get().is_some() {
            self.sorted.take();
        }
    }

    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.sum = 0;
        self.sorted.take();
        self.tree.take();
    }

    /// Returns the slots sorted by their hashes; slots with equal hashes are in the order of
    /// `base`. Costs O(1) until the next change.
    pub(super) fn sorted(&self, base: impl FnOnce() -> Vec<u32>) -> &[u32] {
        self.sorted.get_or_init(|| {
            let mut slots = base();
            slots.sort_by_key(|&slot| self.hashes[slot as usize]);
            slots
        })
    }

    /// Returns all slots in an order that depends only on the two keys and on the hashes, except
    /// for equal hashes. `tree_key` must be the same in the whole run. Each slot costs amortised
    /// O(1), including the first one.
    pub(super) fn visit(&self, tree_key: u64, key: u64) -> ByContent<'_> {
        self.tree.get_or_init(|| Tree::new(tree_key, &self.hashes));
        ByContent { contents: self, key, group: 0, pending: hidden::vec(), at: 0 }
    }
}

/// Returns the place of a key in the tree: each bit gives the direction at one depth.
pub(super) const fn leaf(content: u64, tree_key: u64) -> u64 {
    hash::mix(content ^ tree_key)
}

impl Tree {
    fn new(key: u64, hashes: &[u64]) -> Self {
        let bits = (hashes.len() / 2).max(2).next_power_of_two().ilog2();
        let mut tree = Tree { key, bits, groups: hidden::vec(), members: hidden::vec() };
        let group = Group { start: 0, len: 0, room: 0 };
        tree.groups.resize(1 << bits, group);
        for &content in hashes {
            let group = tree.group(tree.leaf(content));
            tree.groups[group].room += 1;
        }
        let mut end = 0;
        for group in &mut tree.groups {
            group.start = end;
            end += group.room;
        }
        tree.members.resize(hashes.len(), Member { bits: 0, slot: 0 });
        for (slot, &content) in hashes.iter().enumerate() {
            let leaf = tree.leaf(content);
            tree.put(tree.group(leaf), slot, leaf);
        }
        tree
    }

    /// Returns whether groups are neither long nor mostly empty with this number of slots.
    fn has_room_for(&self, slots: usize) -> bool {
        (self.groups.len() / 2..=self.groups.len() * 8).contains(&slots)
            && self.members.len() <= slots * 4 + 64
    }

    fn leaf(&self, content: u64) -> u64 {
        leaf(content, self.key)
    }

    fn group(&self, leaf: u64) -> usize {
        (leaf >> (64 - self.bits)) as usize
    }

    /// Returns the bits of a leaf that a member stores.
    fn bits(&self, leaf: u64) -> u32 {
        (leaf << self.bits >> 32) as u32
    }

    /// Returns the members of a group.
    fn members(&self, group: usize) -> &[Member] {
        let Group { start, len, .. } = self.groups[group];
        &self.members[start as usize..][..len as usize]
    }

    fn push(&mut self, slot: usize, content: u64) {
        let leaf = self.leaf(content);
        let number = self.group(leaf);
        let Group { start, len, room } = self.groups[number];
        if len == room {
            let moved = start as usize..(start + len) as usize;
            self.groups[number].start = self.members.len() as u32;
            self.groups[number].room = room * 2 + 2;
            self.members.extend_from_within(moved);
            let end = self.members.len() + room as usize + 2;
            self.members.resize(end, Member { bits: 0, slot: 0 });
        }
        self.put(number, slot, leaf);
    }

    /// Adds a member to a group that has room for it.
    #[inline]
    fn put(&mut self, group: usize, slot: usize, leaf: u64) {
        let bits = self.bits(leaf);
        let group = &mut self.groups[group];
        let slot = slot as u32;
        self.members[(group.start + group.len) as usize] = Member { bits, slot };
        group.len += 1;
    }

    /// Returns the position of a slot among the members.
    fn find(&self, slot: usize, content: u64) -> usize {
        let group = self.group(self.leaf(content));
        let at = self.members(group).iter().position(|member| member.slot as usize == slot);
        self.groups[group].start as usize + at.expect("every slot is in its group")
    }

    fn swap_remove(&mut self, slot: usize, content: u64, last: usize, content_of_last: u64) {
        let at = self.find(slot, content);
        let number = self.group(self.leaf(content));
        let group = &mut self.groups[number];
        group.len -= 1;
        self.members[at] = self.members[(group.start + group.len) as usize];
        if slot != last {
            let at = self.find(last, content_of_last);
            self.members[at].slot = slot as u32;
        }
    }
}

/// Iterator over the slots in the order of one read.
#[derive(Clone, Debug)]
pub(super) struct ByContent<'a> {
    /// Contents whose tree exists.
    contents: &'a Contents,
    key: u64,
    /// Number of groups visited, in the order of this read.
    group: usize,
    /// Slots of these groups; those before [`at`](ByContent::at) are consumed.
    pending: Vec<u32>,
    at: usize,
}

impl<'a> ByContent<'a> {
    fn tree(&self) -> &'a Tree {
        let tree = self.contents.tree.get();
        tree.expect("a visit begins with its tree")
    }

    /// Returns the place of a slot's key in the tree, as this read exchanges the sides.
    fn turned(&self, slot: u32) -> u64 {
        self.tree().leaf(self.contents.get(slot as usize)) ^ self.key
    }

    /// Takes the next group that has members, and more groups if the read continues.
    #[cold]
    fn fill(&mut self) {
        let least = if self.group == 0 { 1 } else { 128 };
        self.pending.clear();
        self.at = 0;
        let tree = self.tree();
        // Groups are subtrees, so an exclusive or with the leading bits of the key exchanges the
        // sides above them.
        let first = tree.group(self.key);
        while self.pending.len() < least && self.group < tree.groups.len() {
            let members = tree.members(self.group ^ first);
            self.group += 1;
            match *members {
                [] => {}
                [only] => self.pending.push(only.slot),
                [a, b] => {
                    let (a, b) = if self.is_before(a, b) { (a, b) } else { (b, a) };
                    self.pending.extend_from_slice(&[a.slot, b.slot]);
                }
                _ => self.sort(members),
            }
        }
    }

    /// Appends several members in order.
    fn sort(&mut self, members: &[Member]) {
        let mut sorted: [Member; 8] = [Member { bits: 0, slot: 0 }; 8];
        let Some(sorted) = sorted.get_mut(..members.len()) else { return self.sort_many(members) };
        for (len, &member) in members.iter().enumerate() {
            let mut at = len;
            while at > 0 && self.is_before(member, sorted[at - 1]) {
                sorted[at] = sorted[at - 1];
                at -= 1;
            }
            sorted[at] = member;
        }
        self.pending.extend(sorted.iter().map(|member| member.slot));
    }

    #[cold]
    fn sort_many(&mut self, members: &[Member]) {
        let mut sorted = hidden::collect(members.iter().copied());
        sorted.sort_unstable_by_key(|member| (self.turned(member.slot), member.slot));
        self.pending.extend(sorted.iter().map(|member| member.slot));
    }

    /// Returns whether member `a` of a group comes before member `b`.
    #[inline]
    fn is_before(&self, a: Member, b: Member) -> bool {
        let turned = self.tree().bits(self.key);
        if a.bits != b.bits {
            return a.bits ^ turned < b.bits ^ turned;
        }
        (self.turned(a.slot), a.slot) < (self.turned(b.slot), b.slot)
    }
}

impl Iterator for ByContent<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.at == self.pending.len() {
            self.fill();
        }
        let slot = *self.pending.get(self.at)?;
        self.at += 1;
        Some(slot)
    }

    #[inline]
    fn fold<B, F: FnMut(B, u32) -> B>(mut self, init: B, mut f: F) -> B {
        let mut acc = init;
        loop {
            let pending = self.pending.iter().skip(self.at);
            acc = pending.fold(acc, |acc, &slot| f(acc, slot));
            self.fill();
            if self.pending.is_empty() {
                return acc;
            }
        }
    }
}

#[cfg(test)]
mod tests;
