//! Entries and a hasher: the core of a map and a set. It is the only module that requests decisions
//! about visits.

use ::std::borrow::Borrow;
use ::std::collections::TryReserveError;
use ::std::hash::{BuildHasher, Hash};
use ::std::panic::Location;

use nondex_core::{Aspect, Decision, Family, Model, decide_at, hash};

use super::about::{About, Act, Of, is_repeatable};
use super::extract::Extract;
use super::order::Visit;
use super::slots::{Inserted, Slots};
use super::values::IntoEntries;
use super::visit::{Entries, EntriesMut};
use crate::caller::{self, caller};
use crate::hash::random::table::hash_in_table;

/// A hash collection of entries `(K, V)`; a set has no values.
#[derive(Debug)]
pub(super) struct Store<K, V, S> {
    pub(super) hash_builder: S,
    pub(super) slots: Slots<K, V>,
}

/// Decides the order at one call.
#[track_caller]
pub(super) fn decide_order<S>(
    model: &'static Model,
    len: usize,
    aspect: impl Fn(Aspect) -> u64,
) -> Decision {
    let family = if is_repeatable::<S>() { Family::FixedHasher } else { model.family };
    let place = Location::caller();
    decide_at(model, family, place, caller::of, len, &aspect)
}

impl<K, V, S> Store<K, V, S> {
    /// Creates an empty map.
    #[inline]
    #[track_caller]
    pub(super) const fn map(hash_builder: S) -> Self {
        Store { hash_builder, slots: Slots::new(Of::<K, V, S>::MAP) }
    }

    /// Creates an empty set.
    #[inline]
    #[track_caller]
    pub(super) const fn set(hash_builder: S) -> Self {
        Store { hash_builder, slots: Slots::new(Of::<K, V, S>::SET) }
    }

    /// Creates an empty map with room for this number of entries.
    #[track_caller]
    pub(super) fn map_with_capacity(capacity: usize, hash_builder: S) -> Self {
        Store::with_capacity(Of::<K, V, S>::MAP, capacity, hash_builder)
    }

    /// Creates an empty set with room for this number of elements.
    #[track_caller]
    pub(super) fn set_with_capacity(capacity: usize, hash_builder: S) -> Self {
        Store::with_capacity(Of::<K, V, S>::SET, capacity, hash_builder)
    }

    #[track_caller]
    fn with_capacity(about: &'static About, capacity: usize, hash_builder: S) -> Self {
        Store { hash_builder, slots: Slots::with_capacity(about, capacity) }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Decides how this call visits the collection.
    #[inline]
    #[track_caller]
    fn decide(&self, model: &'static Model) -> Decision {
        decide_order::<S>(model, self.len(), |aspect| self.slots.aspect(aspect))
    }

    /// Returns the entries as [`Store::entries`] does, for an order that also depends on `other`.
    #[track_caller]
    pub(super) fn entries_with(&self, other: &Self, model: &'static Model) -> Entries<'_, K, V> {
        let decision =
            decide_order::<S>(model, self.len(), |aspect| self.aspect_with(other, aspect));
        Entries::new(&self.slots, self.slots.visit(decision))
    }

    /// Returns the value of an aspect of two collections. At level EQ, it does not depend on which
    /// of them comes first.
    pub(super) fn aspect_with(&self, other: &Self, aspect: Aspect) -> u64 {
        let (own, others) = (self.slots.aspect(aspect), other.slots.aspect(aspect));
        match aspect {
            Aspect::Content | Aspect::Own => own.wrapping_add(others),
            Aspect::Version => hash::mix(own ^ hash::mix(others)),
        }
    }

    /// Returns the entries in the order in which a comparison looks them up in `other`.
    #[track_caller]
    pub(super) fn compared(&self) -> Entries<'_, K, V> {
        let body = self.slots.body();
        let visit = body.map_or(Visit::NONE, |body| body.act(Act::Eq, caller));
        Entries::new(&self.slots, visit)
    }

    #[track_caller]
    #[inline]
    pub(super) fn entries(&self, model: &'static Model) -> Entries<'_, K, V> {
        let decision = self.decide(model);
        Entries::new(&self.slots, self.slots.visit(decision))
    }

    #[track_caller]
    #[inline]
    pub(super) fn entries_mut(&mut self, model: &'static Model) -> EntriesMut<'_, K, V> {
        let decision = self.decide(model);
        EntriesMut::new(&mut self.slots, |slots| slots.visit(decision))
    }

    #[track_caller]
    #[inline]
    pub(super) fn take_entries(&mut self, model: &'static Model) -> IntoEntries<K, V> {
        let decision = self.decide(model);
        self.slots.take(decision, false)
    }

    /// Takes out the entries as [`Store::take_entries`] does, but keeps the room. The result must
    /// not outlive a borrow of this collection.
    #[track_caller]
    #[inline]
    pub(super) fn drain(&mut self, model: &'static Model) -> IntoEntries<K, V> {
        let decision = self.decide(model);
        self.slots.take(decision, true)
    }

    /// Drops all entries and keeps the room.
    #[track_caller]
    pub(super) fn clear(&mut self) {
        self.slots.clear(caller);
    }

    #[track_caller]
    #[inline]
    pub(super) fn extract(&mut self, model: &'static Model) -> Extract<'_, K, V> {
        let decision = self.decide(model);
        Extract::new(&mut self.slots, decision, is_repeatable::<S>())
    }

    #[track_caller]
    #[inline]
    pub(super) fn retain(
        &mut self,
        model: &'static Model,
        mut keep: impl FnMut(&K, &mut V) -> bool,
    ) {
        let mut extract = self.extract(model);
        while extract.next(|key, value| !keep(key, value)).is_some() {}
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Store<K, V, S> {
    /// Returns the slot of `key`.
    #[inline]
    pub(super) fn find<Q>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        // As in std, a lookup in an empty table hashes nothing.
        if self.len() == 0 {
            return None;
        }
        let hash = hash_in_table(&self.hash_builder, key);
        self.slots.find(hash, |other| key == other.borrow())
    }

    /// Returns the slots of several keys. As in std, all keys are hashed first, even for an empty
    /// table.
    pub(super) fn find_each<Q, const N: usize>(&self, keys: [&Q; N]) -> [Option<u32>; N]
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hashes = keys.map(|key| hash_in_table(&self.hash_builder, key));
        ::std::array::from_fn(|at| self.slots.find(hashes[at], |other| keys[at] == other.borrow()))
    }

    /// Adds `key`, or returns its slot with the unused key and value.
    #[inline]
    pub(super) fn insert(&mut self, key: K, value: V) -> Inserted<K, V> {
        let hasher = &self.hash_builder;
        self.slots.insert(|key| hash_in_table(hasher, key), key, value)
    }

    #[inline]
    pub(super) fn remove<Q>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = hash_in_table(&self.hash_builder, key);
        self.slots.remove(hash, |other| key == other.borrow())
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        let hasher = &self.hash_builder;
        self.slots.reserve(additional, |key| hash_in_table(hasher, key));
    }

    pub(super) fn shrink_to(&mut self, capacity: usize) {
        let hasher = &self.hash_builder;
        self.slots.shrink_to(capacity, |key| hash_in_table(hasher, key));
    }

    /// Adds all entries, after reserving the room that std reserves.
    pub(super) fn extend(
        &mut self,
        entries: impl Iterator<Item = (K, V)>,
        mut present: impl FnMut(&mut Slots<K, V>, u32, K, V),
    ) {
        let hint = entries.size_hint().0;
        let room = if self.len() == 0 { hint } else { hint.div_ceil(2) };
        self.reserve(room);
        entries.for_each(|(key, value)| {
            if let Inserted::Present(slot, key, value) = self.insert(key, value) {
                present(&mut self.slots, slot, key, value);
            }
        });
    }

    pub(super) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        let total = self.len().saturating_add(additional);
        let hasher = &self.hash_builder;
        self.slots.try_reserve(additional, |key| hash_in_table(hasher, key)).map_err(|_| {
            // Only std can create its error: let std's map fail in the same way, or a vector in a
            // similar way.
            let mut std = ::std::collections::HashMap::<K, V>::new();
            match std.try_reserve(total) {
                Err(error) => error,
                Ok(()) => match Vec::<u8>::new().try_reserve(usize::MAX) {
                    Err(error) => error,
                    Ok(()) => unreachable!("no vector has more than isize::MAX bytes"),
                },
            }
        })
    }
}

impl<K: Clone, V: Clone, S: Clone> Clone for Store<K, V, S> {
    #[track_caller]
    fn clone(&self) -> Self {
        Store { hash_builder: self.hash_builder.clone(), slots: self.slots.clone() }
    }

    #[track_caller]
    fn clone_from(&mut self, source: &Self) {
        self.slots.clone_from(&source.slots);
        // As in std, this happens only after all entries are cloned.
        self.hash_builder.clone_from(&source.hash_builder);
    }
}
