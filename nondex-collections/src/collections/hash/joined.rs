//! Visits of two collections in one call, as in the set operations.

use nondex_core::{Decision, Model};

use super::body::Body;
use super::contents::leaf;
use super::order::{Order, Visit};
use super::store::{Store, decide_order};
use super::visit::Entries;
use nondex_core::hidden::{self, Vec};

/// The collection of two that an element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

/// The elements of two sets. Draws an order only as far as it is consumed.
#[derive(Debug)]
pub(super) struct Joined<'a, T> {
    visit: Both<'a, T>,
    /// Number of remaining elements of the first and of the second set.
    left: (usize, usize),
}

#[derive(Debug)]
enum Both<'a, T> {
    /// The first set and then the second one, as in std.
    InTurn(Entries<'a, T, ()>, Entries<'a, T, ()>),
    /// Both sets mixed; the slots of the second set are numbered after those of the first one.
    Mixed(&'a [(T, ())], &'a [(T, ())], Order),
}

impl<'a, T> Joined<'a, T> {
    /// Decides how this call visits the two sets, which is one choice.
    #[track_caller]
    pub(super) fn new<S>(
        first: &'a Store<T, (), S>,
        second: &'a Store<T, (), S>,
        model: &'static Model,
    ) -> Self {
        let left = (first.len(), second.len());
        let decision =
            decide_order::<S>(model, left.0 + left.1, |aspect| first.aspect_with(second, aspect));
        let visit = match decision {
            Decision::Base | Decision::Std { .. } => {
                let entries = |store: &'a Store<T, (), S>, decision| {
                    Entries::new(&store.slots, store.slots.visit(decision))
                };
                Both::InTurn(entries(first, decision.clone()), entries(second, decision))
            }
            decision => Both::Mixed(
                first.slots.entries(),
                second.slots.entries(),
                mixed(&Pair::new(first.slots.body(), second.slots.body()), decision),
            ),
        };
        Joined { visit, left }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(Side, &'a T)> {
        let (side, key) = match &mut self.visit {
            Both::InTurn(first, second) => match first.next() {
                Some((key, ())) => (Side::First, key),
                None => (Side::Second, second.next()?.0),
            },
            Both::Mixed(first, second, order) => {
                let slot = order.next()? as usize;
                match slot.checked_sub(first.len()) {
                    None => (Side::First, &first[slot].0),
                    Some(slot) => (Side::Second, &second[slot].0),
                }
            }
        };
        match side {
            Side::First => self.left.0 -= 1,
            Side::Second => self.left.1 -= 1,
        }
        Some((side, key))
    }

    /// Returns the numbers of remaining elements of the first and of the second set.
    #[inline]
    pub(super) const fn left(&self) -> (usize, usize) {
        self.left
    }
}

/// Two collections, without the types of their elements.
struct Pair<'a> {
    first: Option<&'a Body>,
    second: Option<&'a Body>,
    /// Number of slots of the first collection.
    len: u32,
}

impl<'a> Pair<'a> {
    fn new(first: Option<&'a Body>, second: Option<&'a Body>) -> Self {
        Pair { first, second, len: first.map_or(0, Body::len) as u32 }
    }

    /// Lists the slots of the first collection, then those of the second one, each in the order of
    /// `visit`.
    fn in_turn(&self, visit: impl Fn(&'a Body) -> Visit<'a>) -> Vec<u32> {
        let list = |body: Option<&'a Body>| body.map_or(Visit::NONE, &visit);
        let second = list(self.second).map(|slot| slot + self.len);
        let mut slots = list(self.first).list();
        slots.extend(second);
        slots
    }

    /// Calls `what` on the collection that has a slot.
    fn with_slot<R>(&self, slot: u32, what: impl Fn(&Body, usize) -> Option<R>) -> Option<R> {
        match slot.checked_sub(self.len) {
            None => what(self.first?, slot as usize),
            Some(slot) => what(self.second?, slot as usize),
        }
    }
}

/// Returns the order of both sets that a decision yields.
fn mixed(pair: &Pair<'_>, decision: Decision) -> Order {
    let base = || pair.in_turn(Body::base);
    let by_content = |slot: u32| pair.with_slot(slot, Body::content);
    match decision {
        Decision::Base => Order::Listed(base(), 0),
        Decision::Std { .. } => Order::Listed(pair.in_turn(Body::table), 0),
        Decision::Permute(permutation) => Order::ranked(permutation, &base()),
        Decision::PermuteContent(permutation) => {
            Order::ranked(permutation, &sorted(base(), &by_content))
        }
        Decision::ByContent { tree, key } => {
            let key = |slot| Some(leaf(by_content(slot)?, tree) ^ key);
            Order::Listed(sorted(base(), &key), 0)
        }
        Decision::Intermediate(partly) => {
            let widened =
                |slots: Vec<u32>| hidden::collect(slots.iter().map(|&slot| slot as usize));
            let drawn = hidden::collect(mixed(pair, partly.decision.clone()));
            let describe = |slot: usize, is_traced| {
                pair.with_slot(slot as u32, |body, slot| Some(body.describe(slot, is_traced)))
                    .unwrap_or_default()
            };
            let created = || pair.first.map(Body::created).unwrap_or_default();
            let order = partly.order(&widened(base()), &widened(drawn), &describe, &created);
            Order::Listed(hidden::collect(order.into_iter().map(|slot| slot as u32)), 0)
        }
    }
}

/// Sorts the slots stably by a key.
fn sorted(mut slots: Vec<u32>, key: &dyn Fn(u32) -> Option<u64>) -> Vec<u32> {
    let enumerated = slots.iter().enumerate();
    let mut keyed = hidden::collect(enumerated.map(|(place, &slot)| (key(slot), place, slot)));
    keyed.sort_unstable();
    slots.clear();
    slots.extend(keyed.iter().map(|&(_, _, slot)| slot));
    slots
}

impl<T> Clone for Joined<'_, T> {
    fn clone(&self) -> Self {
        Joined {
            left: self.left,
            visit: match &self.visit {
                Both::InTurn(first, second) => Both::InTurn(first.clone(), second.clone()),
                Both::Mixed(first, second, order) => Both::Mixed(first, second, order.clone()),
            },
        }
    }
}
