//! The decided order of a collection's slots, and its record.

use nondex_core::context::stack::Stack;
use nondex_core::{Aspect, Caller, Decision, Element, Intermediate, Permutation, context};

use super::about::Act;
use super::body::Body;
use super::order::{AT_ONCE, Order, Visit};
use crate::caller;
use nondex_core::hidden;

impl Body {
    /// Returns the order in which an operation visits all entries.
    pub(super) fn act(&self, act: Act, caller: impl FnOnce() -> Caller) -> Visit<'_> {
        let model = if self.len() < 2 { None } else { self.about.model(act) };
        let Some(model) = model else { return self.slots() };
        if context::level().is_none() {
            return self.base();
        }
        let family = self.about.family(model);
        let aspect = |aspect| self.aspect(aspect);
        self.visit(nondex_core::decide(model, family, caller(), self.len(), aspect))
    }

    /// Returns the value of an aspect of this collection; 0 if it was filled before its test began
    /// and has no identity.
    pub(super) fn aspect(&self, aspect: Aspect) -> u64 {
        self.identity.as_ref().and_then(|own| own.aspect(aspect)).unwrap_or(0)
    }

    /// Returns the slots in the order of their numbers.
    fn slots(&self) -> Order {
        Visit::Range(0..self.len() as u32)
    }

    /// Returns the slots in canonical order.
    pub(super) fn base(&self) -> Visit<'_> {
        if self.table_is_base {
            return self.table();
        }
        match &self.trail {
            Some(trail) => Visit::Trail(trail.walk()),
            None => self.slots(),
        }
    }

    /// Returns the slots in the order of std's table.
    pub(super) fn table(&self) -> Visit<'_> {
        Visit::Table(self.index.iter())
    }

    /// Returns the slots in the order that a decision yields.
    #[inline]
    pub(super) fn visit(&self, decision: Decision) -> Visit<'_> {
        match decision {
            Decision::Base => self.base(),
            Decision::Std { .. } => self.table(),
            Decision::Permute(permutation) => self.permuted(permutation),
            decision => self.visit_rarely(decision),
        }
    }

    #[cold]
    fn visit_rarely(&self, decision: Decision) -> Visit<'_> {
        let contents = || self.identity.as_ref()?.contents();
        match decision {
            Decision::PermuteContent(permutation) => match contents() {
                Some(contents) => {
                    let sorted = contents.sorted(|| self.base().list());
                    Order::ranked(permutation, sorted)
                }
                None => self.permuted(permutation),
            },
            Decision::ByContent { tree, key } => match contents() {
                Some(contents) => Visit::Content(contents.visit(tree, key)),
                None => self.base(),
            },
            Decision::Intermediate(partly) => self.partly(&partly),
            Decision::Base | Decision::Std { .. } | Decision::Permute(_) => self.visit(decision),
        }
    }

    /// Returns a permutation of the canonical order. Listing that order would cost too much for a
    /// long collection, so there it is a permutation of the slots.
    ///
    /// Slots are in the order of insertion until something is removed. After that, a permutation of
    /// the slots still has every slot once.
    fn permuted(&self, permutation: Permutation) -> Visit<'_> {
        let is_base = !self.table_is_base && self.trail.is_none();
        if is_base || (self.len() > LISTED && self.index.num_buckets() > LISTED) {
            return match &self.trail {
                Some(trail) if permutation.is_reversed() && !self.table_is_base => {
                    Visit::Trail(trail.walk_back())
                }
                _ => Visit::Drawn(permutation),
            };
        }
        if self.len() > AT_ONCE {
            return Order::ranked(permutation, &self.base().list());
        }
        let mut slots = [0; AT_ONCE];
        for (place, slot) in slots.iter_mut().zip(self.base()) {
            *place = slot;
        }
        Order::ranked(permutation, &slots[..self.len()])
    }

    fn partly(&self, partly: &Intermediate) -> Order {
        let widened = |slots: Visit<'_>| hidden::collect(slots.map(|slot| slot as usize));
        let base = widened(self.base());
        let drawn = widened(self.visit(partly.decision.clone()));
        let describe = |slot, is_traced| self.describe(slot, is_traced);
        let order = partly.order(&base, &drawn, &describe, &|| self.created());
        Order::Listed(hidden::collect(order.into_iter().map(|slot| slot as u32)), 0)
    }

    /// Returns a fixed hash of the key in a slot, if it is known.
    pub(super) fn content(&self, slot: usize) -> Option<u64> {
        Some(self.identity.as_ref()?.contents()?.get(slot))
    }

    /// Returns the record of the element in a slot.
    pub(super) fn describe(&self, slot: usize, is_traced: bool) -> Element {
        let before = match &self.trail {
            Some(trail) => trail.walk().position(|other| other as usize == slot),
            None => Some(slot),
        };
        let insertion = || self.identity.as_ref()?.insertion(slot);
        Element {
            index: before.map(|before| before as u64),
            stack: match insertion() {
                Some(stack) if is_traced => stack.clone(),
                _ => Stack::default(),
            },
            ..Element::default()
        }
    }

    /// Returns the place where the collection was created. If code of std created it (`collect`),
    /// returns the stack of the insertion of its first element.
    pub(super) fn created(&self) -> Stack {
        let first = match &self.trail {
            Some(trail) => trail.first().unwrap_or_default(),
            None => 0,
        };
        let insertion = || self.identity.as_ref()?.insertion(first as usize);
        caller::visible(self.created).or_else(|| insertion().cloned()).unwrap_or_default()
    }
}

/// Maximum length up to which the canonical order is listed for a permutation.
const LISTED: usize = 1 << 10;
