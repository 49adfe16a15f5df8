//! Entries and a hasher: what a map and a set are made of, and the one place that asks for a decision.

use ::std::any::type_name;
use ::std::borrow::Borrow;
use ::std::collections::TryReserveError;
use ::std::hash::{BuildHasher, Hash};

use nondex_core::{Aspect, Decision, Family, Model, context, decide, hash};

use super::extract::Extract;
use super::order::Plan;
use super::slots::{Inserted, Slots};
use super::visit::{Entries, EntriesMut, IntoEntries};
use crate::caller::caller;
use crate::hash::RandomState;
use crate::hash::random::hash_in_table;

/// A hash collection of entries `(K, V)`; a set has no values.
#[derive(Debug)]
pub(super) struct Store<K, V, S> {
    pub(super) hash_builder: S,
    pub(super) slots: Slots<K, V>,
}

/// Asks for the decision at one call.
#[track_caller]
pub(super) fn decide_order<S>(
    model: &'static Model,
    len: usize,
    aspect: impl FnOnce(Aspect) -> u64,
) -> Decision {
    // Asked here too, because the caller may be costly to find.
    if len < 2 || context::level().is_none() {
        return Decision::Base;
    }
    let family = if is_repeatable::<S>() {
        Family::FixedHasher
    } else {
        model.family
    };
    decide(model, family, caller(), len, aspect)
}

/// Whether std's own order is repeatable with this hasher, so that it is the base order.
///
/// A hasher need not be `'static`, so its name is asked for, not its `TypeId`. No other type has this name.
#[inline]
pub(super) fn is_repeatable<S>() -> bool {
    type_name::<S>() != type_name::<RandomState>()
}

impl<K, V, S> Store<K, V, S> {
    #[inline]
    #[track_caller]
    pub(super) const fn with_hasher(hash_builder: S) -> Self {
        Store {
            hash_builder,
            slots: Slots::new(),
        }
    }

    #[track_caller]
    pub(super) fn with_capacity_and_hasher(capacity: usize, hash_builder: S) -> Self {
        Store {
            hash_builder,
            slots: Slots::with_capacity(capacity),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Decides how this call visits the collection.
    #[track_caller]
    pub(super) fn plan(&self, model: &'static Model) -> Plan {
        let decision = decide_order::<S>(model, self.len(), |aspect| self.slots.aspect(aspect));
        self.slots.plan(decision, is_repeatable::<S>())
    }

    /// As [`Store::entries`] for an order that depends on `other` too.
    #[track_caller]
    pub(super) fn entries_beside(&self, other: &Self, model: &'static Model) -> Entries<'_, K, V> {
        let decision = decide_order::<S>(model, self.len(), |aspect| {
            self.aspect_beside(other, aspect)
        });
        Entries::new(&self.slots, self.slots.plan(decision, is_repeatable::<S>()))
    }

    /// What a level asks about two collections. At level EQ, the same whichever of them is asked.
    pub(super) fn aspect_beside(&self, other: &Self, aspect: Aspect) -> u64 {
        let (own, others) = (self.slots.aspect(aspect), other.slots.aspect(aspect));
        match aspect {
            Aspect::Content => own.wrapping_add(others),
            Aspect::Version => hash::mix(own ^ hash::mix(others)),
        }
    }

    /// The entries in base order, for what does not depend on their order. Asks for no decision.
    #[inline]
    pub(super) fn unordered(&self) -> Entries<'_, K, V> {
        Entries::new(&self.slots, Plan::Insertion)
    }

    #[track_caller]
    #[inline]
    pub(super) fn entries(&self, model: &'static Model) -> Entries<'_, K, V> {
        Entries::new(&self.slots, self.plan(model))
    }

    #[track_caller]
    #[inline]
    pub(super) fn entries_mut(&mut self, model: &'static Model) -> EntriesMut<'_, K, V> {
        let plan = self.plan(model);
        EntriesMut::new(&mut self.slots, plan)
    }

    #[track_caller]
    #[inline]
    pub(super) fn take_entries(&mut self, model: &'static Model) -> IntoEntries<K, V> {
        let plan = self.plan(model);
        IntoEntries::new(&mut self.slots, plan)
    }

    #[track_caller]
    #[inline]
    pub(super) fn extract(&mut self, model: &'static Model) -> Extract<'_, K, V> {
        let plan = self.plan(model);
        let order = self.slots.order(plan);
        Extract::new(&mut self.slots, order)
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
    /// The slot of `key`.
    #[inline]
    pub(super) fn find<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        // As std: nothing is hashed to look into an empty table.
        if self.len() == 0 {
            return None;
        }
        let hash = hash_in_table(&self.hash_builder, key);
        self.slots.find(hash, |other| key == other.borrow())
    }

    /// Adds `key`, or gives back what could not be added and its slot.
    #[inline]
    pub(super) fn insert(&mut self, key: K, value: V) -> Inserted<K, V> {
        let hash = hash_in_table(&self.hash_builder, &key);
        self.slots.insert(hash, key, value)
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

    /// Adds all, with the room that std makes for them first.
    pub(super) fn extend(
        &mut self,
        entries: impl Iterator<Item = (K, V)>,
        mut present: impl FnMut(&mut Slots<K, V>, usize, K, V),
    ) {
        let hint = entries.size_hint().0;
        let room = if self.len() == 0 {
            hint
        } else {
            hint.div_ceil(2)
        };
        self.slots.reserve(room);
        entries.for_each(|(key, value)| {
            if let Inserted::Present(slot, key, value) = self.insert(key, value) {
                present(&mut self.slots, slot, key, value);
            }
        });
    }

    pub(super) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        let asked = self.len().saturating_add(additional);
        self.slots.try_reserve(additional).map_err(|_| {
            // Only std can make its error: let it fail in the same way, or else in a like one.
            let mut std = ::std::collections::HashMap::<K, V>::new();
            match std.try_reserve(asked) {
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
        Store {
            hash_builder: self.hash_builder.clone(),
            slots: self.slots.clone(),
        }
    }

    #[track_caller]
    fn clone_from(&mut self, source: &Self) {
        self.slots.clone_from(&source.slots);
        // As in std: only when all entries are cloned.
        self.hash_builder.clone_from(&source.hash_builder);
    }
}
