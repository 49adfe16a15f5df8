//! The entries of a collection in insertion order, beside their index.

use ::std::hash::Hash;
use ::std::num::NonZeroU64;
use ::std::panic::Location;

use hashbrown::hash_table::{Entry, HashTable};
use hashbrown::{TryReserveError, hash_table};
use nondex_core::stack::Stack;
use nondex_core::{Aspect, Decision, ElementRecord, Frame, hash};

use super::identity::Identity;
use super::index;
use super::order::{Order, Plan, Ranks};
use crate::caller;

/// One entry and the hash that its collection's hasher gave it.
#[derive(Clone, Debug)]
pub(super) struct Bucket<K, V> {
    hash: StoredHash,
    pub(super) key: K,
    pub(super) value: V,
}

/// A hash whose bit 56 is set, so that a free slot takes no room of its own.
///
/// That bit decides nothing: a table takes the seven highest bits of a `usize` as an entry's tag, and as many of the
/// lowest as it has buckets to find its place; no table has 2^56 buckets.
#[derive(Clone, Copy, Debug)]
struct StoredHash(NonZeroU64);

impl StoredHash {
    const UNUSED_BIT: u64 = 1 << 56;

    #[inline]
    const fn new(hash: u64) -> Self {
        match NonZeroU64::new(hash | Self::UNUSED_BIT) {
            Some(hash) => StoredHash(hash),
            None => unreachable!(),
        }
    }

    #[inline]
    const fn get(self) -> u64 {
        self.0.get()
    }
}

/// A place for an entry; free when its entry was removed.
pub(super) type Slot<K, V> = Option<Bucket<K, V>>;

/// Entries in insertion order with the index that finds them. Knows hashes, but no hasher.
///
/// Between calls, the index holds the number of each slot in use exactly once, and nothing else. A removal leaves its
/// slot free, so that the others keep their order; free slots at both ends are given up at once, the others when they
/// outnumber the entries, so a removal costs amortised O(1).
#[derive(Debug)]
pub(super) struct Slots<K, V> {
    index: HashTable<usize>,
    slots: Vec<Slot<K, V>>,
    /// No slot before this one is in use.
    first: usize,
    identity: Option<Box<Identity>>,
    /// Where the collection was created, as far as `#[track_caller]` knows.
    created: &'static Location<'static>,
}

/// The entry in a slot that the index holds.
#[inline]
fn bucket<K, V>(slots: &[Slot<K, V>], slot: usize) -> &Bucket<K, V> {
    slots[slot]
        .as_ref()
        .expect("the index holds only slots in use")
}

/// Says the hash of an entry of the index when it moves.
#[inline]
fn hash_in<K, V>(slots: &[Slot<K, V>]) -> impl Fn(&usize) -> u64 + '_ {
    |&slot| bucket(slots, slot).hash.get()
}

impl<K, V> Slots<K, V> {
    /// The size of the elements of std's own table.
    const SIZE: usize = size_of::<(K, V)>();

    #[track_caller]
    pub(super) const fn new() -> Self {
        Slots {
            index: HashTable::new(),
            slots: Vec::new(),
            first: 0,
            identity: None,
            created: Location::caller(),
        }
    }

    #[track_caller]
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Slots {
            index: index::with_capacity(capacity, Self::SIZE),
            slots: Vec::with_capacity(capacity),
            ..Slots::new()
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn capacity(&self) -> usize {
        self.index.capacity()
    }

    pub(super) fn as_slice(&self) -> &[Slot<K, V>] {
        &self.slots[self.first..]
    }

    /// All slots: these are what the numbers in the index and in an [`Order`] mean.
    pub(super) fn all(&self) -> &[Slot<K, V>] {
        &self.slots
    }

    /// See [`Slots::all`].
    pub(super) fn all_mut(&mut self) -> &mut [Slot<K, V>] {
        &mut self.slots
    }

    /// The slots from the first in use.
    pub(super) fn as_mut_slice(&mut self) -> &mut [Slot<K, V>] {
        &mut self.slots[self.first..]
    }

    /// The slots in use in the order of std's table.
    pub(super) fn table(&self) -> hash_table::Iter<'_, usize> {
        self.index.iter()
    }

    /// Takes all entries out. The index keeps its buckets, as std's table does when it is drained.
    pub(super) fn take(&mut self) -> Vec<Slot<K, V>> {
        if self.len() > 0 {
            self.note_change();
        }
        drop(self.index.drain());
        self.first = 0;
        if let Some(identity) = &mut self.identity {
            identity.truncate(0);
        }
        ::std::mem::take(&mut self.slots)
    }

    /// Drops all entries and keeps the room. As in std, buckets marked deleted stay so when there is no entry.
    pub(super) fn clear(&mut self) {
        if self.len() == 0 {
            return;
        }
        let mut slots = self.take();
        // Should a destructor panic, the vector drops the others and itself; the collection is empty by then.
        slots.clear();
        self.slots = slots;
    }

    /// The slot with the key of `hash` that `is_key` accepts.
    #[inline]
    pub(super) fn find(&self, hash: u64, mut is_key: impl FnMut(&K) -> bool) -> Option<usize> {
        self.index
            .find(hash, |&slot| is_key(&bucket(&self.slots, slot).key))
            .copied()
    }

    #[inline]
    pub(super) fn get(&self, slot: usize) -> &Bucket<K, V> {
        bucket(&self.slots, slot)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: usize) -> &mut Bucket<K, V> {
        self.slots[slot]
            .as_mut()
            .expect("the index holds only slots in use")
    }

    /// The values in several slots at once.
    pub(super) fn get_disjoint_mut<const N: usize>(
        &mut self,
        found: [Option<usize>; N],
    ) -> [Option<&mut V>; N] {
        let mut by_slot: [usize; N] = ::std::array::from_fn(|place| place);
        by_slot.sort_unstable_by_key(|&place| found[place]);
        let mut values = [const { None }; N];
        let mut rest = &mut self.slots[..];
        let mut passed = 0;
        for place in by_slot {
            let Some(slot) = found[place] else { continue };
            assert!(slot >= passed, "duplicate keys found");
            let (here, after) = rest[slot - passed..]
                .split_first_mut()
                .expect("the index holds only slots that are there");
            values[place] = here.as_mut().map(|bucket| &mut bucket.value);
            rest = after;
            passed = slot + 1;
        }
        values
    }

    /// Takes the entry with the key of `hash` that `is_key` accepts.
    #[inline]
    pub(super) fn remove(
        &mut self,
        hash: u64,
        mut is_key: impl FnMut(&K) -> bool,
    ) -> Option<(K, V)> {
        let found = self
            .index
            .find_entry(hash, |&slot| is_key(&bucket(&self.slots, slot).key));
        let (slot, _) = found.ok()?.remove();
        let entry = self.vacate(slot);
        self.settle();
        Some(entry)
    }

    /// Takes the entry in a slot that the index holds. The collection is to be [settled](Slots::settle) later.
    pub(super) fn remove_slot(&mut self, slot: usize) -> (K, V) {
        let hash = self.get(slot).hash.get();
        let found = self.index.find_entry(hash, |&other| other == slot);
        found.expect("the index holds every slot in use").remove();
        self.vacate(slot)
    }

    /// Takes the entry in a slot that the index does not hold any more.
    #[inline]
    fn vacate(&mut self, slot: usize) -> (K, V) {
        self.note_change();
        let bucket = self.slots[slot]
            .take()
            .expect("the index holds only slots in use");
        (bucket.key, bucket.value)
    }

    /// Gives free slots up when that is cheap.
    #[inline]
    pub(super) fn settle(&mut self) {
        if let Some(None) = self.slots.last() {
            let used = self.slots.iter().rposition(Option::is_some);
            self.truncate(used.map_or(0, |last| last + 1));
        }
        while let Some(None) = self.slots.get(self.first) {
            self.first += 1;
        }
        if self.slots.len() > 2 * self.len() + SPARE_SLOTS {
            self.compact();
        }
    }

    fn truncate(&mut self, len: usize) {
        self.slots.truncate(len);
        self.first = self.first.min(len);
        if let Some(identity) = &mut self.identity {
            identity.truncate(len);
        }
    }

    /// Gives all free slots up. Costs O(slots), whatever the number of buckets is.
    #[cold]
    fn compact(&mut self) {
        if self.is_dense() {
            return;
        }
        let mut used = 0;
        for slot in self.first..self.slots.len() {
            let Some(bucket) = &self.slots[slot] else {
                continue;
            };
            if slot != used {
                // No entry has the number `slot` but this one: those before it have moved to smaller numbers.
                let number = self
                    .index
                    .find_mut(bucket.hash.get(), |&other| other == slot);
                *number.expect("the index holds every slot in use") = used;
                self.slots.swap(used, slot);
                if let Some(identity) = &mut self.identity {
                    identity.swap(used, slot);
                }
            }
            used += 1;
        }
        self.truncate(used);
        self.first = 0;
    }

    #[inline]
    fn note_change(&mut self) {
        if let Some(identity) = &mut self.identity {
            identity.change();
        }
    }

    /// Adds an entry whose key is not there. Room must have been [prepared](Slots::prepare).
    #[inline]
    pub(super) fn insert_unique(&mut self, new: NewKey, key: K, value: V) -> usize {
        let slot = self.push(new, key, value);
        self.index
            .insert_unique(new.hash, slot, hash_in(&self.slots));
        slot
    }

    /// Adds an entry, not to the index. There is room, so this cannot fail.
    #[inline]
    fn push(&mut self, new: NewKey, key: K, value: V) -> usize {
        let slot = self.slots.len();
        self.slots.push(Some(Bucket {
            hash: StoredHash::new(new.hash),
            key,
            value,
        }));
        if let Some(identity) = &mut self.identity {
            identity.push(new.content);
        }
        slot
    }

    /// What a level asks about this collection.
    pub(super) fn aspect(&self, aspect: Aspect) -> u64 {
        match aspect {
            Aspect::Content => self.index.iter().fold(0, |sum: u64, &slot| {
                sum.wrapping_add(hash::mix(self.content(slot)))
            }),
            Aspect::Version => self
                .identity
                .as_ref()
                .map_or(0, |identity| identity.version()),
        }
    }

    /// The fixed hash of the key in a slot. A collection that was filled before its test began has none; what its
    /// hasher said is the best substitute.
    pub(super) fn content(&self, slot: usize) -> u64 {
        self.identity
            .as_ref()
            .and_then(|identity| identity.contents()?.get(slot).copied())
            .unwrap_or_else(|| self.get(slot).hash.get())
    }

    /// The order that a decision means, where `table_is_base` says which order "no permutation" is.
    pub(super) fn plan(&self, decision: Decision, table_is_base: bool) -> Plan {
        match decision {
            Decision::Base if table_is_base => Plan::Table,
            Decision::Base => Plan::Insertion,
            Decision::Std { .. } => Plan::Table,
            Decision::Permute(permutation) => {
                Plan::Other(Order::drawn(permutation, self.ranks(table_is_base)))
            }
            Decision::PermuteContent(permutation) => {
                let mut slots = self.in_base_order(table_is_base);
                slots.sort_by_cached_key(|&slot| self.content(slot));
                Plan::Other(Order::drawn(permutation, Ranks::Listed(slots.into())))
            }
            Decision::Partly(partly) => {
                let base = self.in_base_order(table_is_base);
                let drawn = self.listed(partly.decision.clone(), table_is_base);
                let describe = |slot, is_traced| self.describe(slot, is_traced);
                Plan::Other(Order::listed(
                    partly.order(&base, &drawn, describe, || self.created()),
                ))
            }
        }
    }

    /// The slots in use in the order that a decision means.
    pub(super) fn listed(&self, decision: Decision, table_is_base: bool) -> Vec<usize> {
        let order = self.order(self.plan(decision, table_is_base));
        order.filter(|&slot| self.slots[slot].is_some()).collect()
    }

    /// What is told about the element in a slot.
    pub(super) fn describe(&self, slot: usize, is_traced: bool) -> ElementRecord {
        let before = self.slots[..slot].iter().flatten().count();
        let place = || self.identity.as_ref()?.place(slot);
        ElementRecord {
            index: Some(before as u64),
            stack: match place() {
                Some(place) if is_traced => place.frames(),
                _ => Vec::new(),
            },
            ..ElementRecord::default()
        }
    }

    /// Where the collection was created or, when code of std did that (`collect`), how its first element came in.
    pub(super) fn created(&self) -> Vec<Frame> {
        let place = || self.identity.as_ref()?.place(self.first);
        match caller::visible(self.created) {
            Some(frame) => vec![frame],
            None => place().map(Stack::frames).unwrap_or_default(),
        }
    }

    /// Whether no slot is free.
    pub(super) fn is_dense(&self) -> bool {
        self.slots.len() == self.len()
    }

    /// The base order by rank. Costs O(1) for an insertion order without free slots, else O(n).
    fn ranks(&self, table_is_base: bool) -> Ranks {
        if !table_is_base && self.is_dense() {
            Ranks::Dense
        } else {
            Ranks::Listed(self.in_base_order(table_is_base).into())
        }
    }

    /// The slots in use in base order.
    pub(super) fn in_base_order(&self, table_is_base: bool) -> Vec<usize> {
        if table_is_base {
            return self.index.iter().copied().collect();
        }
        let mut slots = Vec::with_capacity(self.len());
        slots.extend((self.first..self.slots.len()).filter(|&slot| self.slots[slot].is_some()));
        slots
    }

    /// The slots that a plan means, free ones included where that is simpler.
    pub(super) fn order(&self, plan: Plan) -> Order {
        match plan {
            Plan::Insertion => Order::Scan(self.first..self.slots.len()),
            Plan::Table => Order::listed(self.index.iter().copied().collect()),
            Plan::Other(order) => order,
        }
    }
}

/// So many slots more than twice the entries may be there before free slots are given up.
const SPARE_SLOTS: usize = 16;

/// What is known of a key before it is added.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewKey {
    pub(super) hash: u64,
    /// Its fixed hash, at level EQ.
    content: u64,
}

impl<K: Hash, V> Slots<K, V> {
    /// Makes room for one entry, as std does before it looks a key up to insert it.
    #[inline]
    pub(super) fn prepare(&mut self) {
        if index::is_full(&self.index)
            || self.slots.len() == self.slots.capacity()
            || (self.identity.is_none() && self.len() == 0)
        {
            self.prepare_slow();
        }
    }

    #[cold]
    fn prepare_slow(&mut self) {
        self.settle();
        index::reserve(&mut self.index, 1, Self::SIZE, hash_in(&self.slots));
        // As much room as the index has: both then grow together.
        let room = self.capacity().saturating_sub(self.slots.len());
        self.slots.reserve(room.max(1));
        if self.identity.is_none() {
            let slots = &self.slots;
            // The key of a free slot is gone; its content is never asked for.
            let content = |slot: &Slot<K, V>| slot.as_ref().map_or(0, |b| hash::of(&b.key));
            let contents = || Some(slots.iter().map(content).collect());
            self.identity = Identity::begin(slots.len(), contents);
        }
    }

    #[inline]
    pub(super) fn new_key(&self, hash: u64, key: &K) -> NewKey {
        let content = match &self.identity {
            Some(identity) if identity.contents().is_some() => hash::of(key),
            _ => 0,
        };
        NewKey { hash, content }
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        index::reserve(
            &mut self.index,
            additional,
            Self::SIZE,
            hash_in(&self.slots),
        );
        self.slots.reserve(additional);
    }

    /// The collection is unchanged when there is an error.
    pub(super) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        // Slots first: std's table never gets smaller than asked, and must not have grown when the slots fail.
        let slots = self.slots.try_reserve(additional);
        slots.map_err(|_| TryReserveError::CapacityOverflow)?;
        index::try_reserve(
            &mut self.index,
            additional,
            Self::SIZE,
            hash_in(&self.slots),
        )
    }

    pub(super) fn shrink_to(&mut self, capacity: usize) {
        self.compact();
        index::shrink_to(&mut self.index, capacity, Self::SIZE, hash_in(&self.slots));
        self.slots.shrink_to(capacity);
    }
}

impl<K: Hash + Eq, V> Slots<K, V> {
    /// Finds the slot of `key` and says that it was there, or adds it with `value`; gives back what was not used.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, key: K, value: V) -> Inserted<K, V> {
        self.prepare();
        let new = self.new_key(hash, &key);
        let slots = &self.slots;
        let found = self
            .index
            .entry(hash, |&slot| key == bucket(slots, slot).key, hash_in(slots));
        match found {
            Entry::Occupied(entry) => Inserted::Present(*entry.get(), key, value),
            Entry::Vacant(entry) => {
                entry.insert(self.slots.len());
                self.push(new, key, value);
                Inserted::Added
            }
        }
    }
}

/// What an insertion met.
#[derive(Debug)]
pub(super) enum Inserted<K, V> {
    /// The key is new.
    Added,
    /// The key was in this slot; nothing has changed.
    Present(usize, K, V),
}

impl<K: Clone, V: Clone> Clone for Slots<K, V> {
    /// The clone's table has the order of this one, as in std. It is another object once either changes.
    #[track_caller]
    fn clone(&self) -> Self {
        let slots = self.slots.clone();
        let contents = || self.identity.as_ref()?.contents().cloned();
        let mut identity = Identity::begin(slots.len(), contents);
        if let (Some(own), Some(other)) = (&mut identity, &self.identity) {
            own.inherit(other);
        }
        Slots {
            index: self.index.clone(),
            slots,
            first: self.first,
            identity,
            created: Location::caller(),
        }
    }

    #[track_caller]
    fn clone_from(&mut self, source: &Self) {
        // As in std, the entries go first; should a clone panic, the collection is empty.
        self.clear();
        *self = source.clone();
    }
}
