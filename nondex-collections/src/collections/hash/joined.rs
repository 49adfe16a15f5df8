//! Two collections visited in one call, as the set operations do.

use nondex_core::{Decision, Model};

use super::order::{Order, Ranks};
use super::slots::Slot;
use super::store::{Store, decide_order, is_repeatable};
use super::visit::Entries;

/// Which of two collections an element is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

/// The elements of two sets. Draws an order only as far as it is consumed.
#[derive(Debug)]
pub(super) struct Joined<'a, T> {
    visit: Visit<'a, T>,
    /// How many elements of the first and of the second set are left.
    left: (usize, usize),
}

#[derive(Debug)]
enum Visit<'a, T> {
    /// The first set, then the second one, as in std.
    InTurn(Entries<'a, T, ()>, Entries<'a, T, ()>),
    /// All together; the slots of the second set are numbered after those of the first one.
    Mixed(&'a [Slot<T, ()>], &'a [Slot<T, ()>], Order),
}

impl<'a, T> Joined<'a, T> {
    /// Decides how this call visits the two sets. It is one choice.
    #[track_caller]
    pub(super) fn new<S>(
        first: &'a Store<T, (), S>,
        second: &'a Store<T, (), S>,
        model: &'static Model,
    ) -> Self {
        let left = (first.len(), second.len());
        let decision = decide_order::<S>(model, left.0 + left.1, |aspect| {
            first.aspect_beside(second, aspect)
        });
        let visit = match decision {
            Decision::Base | Decision::Std { .. } => {
                let entries = |store: &'a Store<T, (), S>, decision| {
                    Entries::new(
                        &store.slots,
                        store.slots.plan(decision, is_repeatable::<S>()),
                    )
                };
                Visit::InTurn(entries(first, decision.clone()), entries(second, decision))
            }
            decision => Visit::Mixed(
                first.slots.all(),
                second.slots.all(),
                mixed(first, second, decision),
            ),
        };
        Joined { visit, left }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(Side, &'a T)> {
        let (side, key) = match &mut self.visit {
            Visit::InTurn(first, second) => match first.next() {
                Some((key, ())) => (Side::First, key),
                None => (Side::Second, second.next()?.0),
            },
            Visit::Mixed(first, second, order) => {
                let slot = order.next()?;
                let (side, bucket) = match slot.checked_sub(first.len()) {
                    None => (Side::First, &first[slot]),
                    Some(slot) => (Side::Second, &second[slot]),
                };
                (side, &bucket.as_ref()?.key)
            }
        };
        match side {
            Side::First => self.left.0 -= 1,
            Side::Second => self.left.1 -= 1,
        }
        Some((side, key))
    }

    /// How many elements of the first and of the second set are left.
    #[inline]
    pub(super) const fn left(&self) -> (usize, usize) {
        self.left
    }
}

/// The order of both sets that a decision means.
fn mixed<T, S>(first: &Store<T, (), S>, second: &Store<T, (), S>, decision: Decision) -> Order {
    let table_is_base = is_repeatable::<S>();
    let all_of_first = first.slots.all().len();
    let in_turn = |decision: Decision| {
        let mut slots = first.slots.listed(decision.clone(), table_is_base);
        let others = second.slots.listed(decision, table_is_base);
        slots.extend(others.into_iter().map(|slot| slot + all_of_first));
        slots
    };
    match decision {
        Decision::Base | Decision::Std { .. } => Order::listed(in_turn(decision)),
        Decision::Permute(permutation) => {
            let dense = first.slots.is_dense() && second.slots.is_dense();
            let ranks = if dense && !table_is_base {
                Ranks::Dense
            } else {
                Ranks::Listed(in_turn(Decision::Base).into())
            };
            Order::drawn(permutation, ranks)
        }
        Decision::PermuteContent(permutation) => {
            let mut slots = in_turn(Decision::Base);
            slots.sort_by_cached_key(|&slot| match slot.checked_sub(all_of_first) {
                None => first.slots.content(slot),
                Some(slot) => second.slots.content(slot),
            });
            Order::drawn(permutation, Ranks::Listed(slots.into()))
        }
        Decision::Partly(partly) => {
            let drawn = mixed(first, second, partly.decision.clone());
            let describe = |slot: usize, is_traced| match slot.checked_sub(all_of_first) {
                None => first.slots.describe(slot, is_traced),
                Some(slot) => second.slots.describe(slot, is_traced),
            };
            let drawn: Vec<usize> = drawn.collect();
            let created = || first.slots.created();
            Order::listed(partly.order(&in_turn(Decision::Base), &drawn, describe, created))
        }
    }
}

impl<T> Clone for Joined<'_, T> {
    fn clone(&self) -> Self {
        Joined {
            left: self.left,
            visit: match &self.visit {
                Visit::InTurn(first, second) => Visit::InTurn(first.clone(), second.clone()),
                Visit::Mixed(first, second, order) => Visit::Mixed(first, second, order.clone()),
            },
        }
    }
}
