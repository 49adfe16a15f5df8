//! The order of a collection's slots that was decided, and what is recorded about it.

use nondex_core::context::stack::Stack;
use nondex_core::{Aspect, Caller, Decision, Element, Intermediate, Permutation, context};

use super::about::Act;
use super::body::Body;
use super::order::{AT_ONCE, Order, Visit};
use crate::caller;
use nondex_core::hidden;

impl Body {
    /// The order in which an act visits all entries.
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

    /// What a level asks about this collection. One that was filled before its test began knows
    /// nothing.
    pub(super) fn aspect(&self, aspect: Aspect) -> u64 {
        self.identity.as_ref().and_then(|own| own.aspect(aspect)).unwrap_or(0)
    }

    /// The slots in order of their numbers.
    fn slots(&self) -> Order {
        Visit::Range(0..self.len() as u32)
    }

    /// The slots in canonical order.
    pub(super) fn base(&self) -> Visit<'_> {
        if self.table_is_base {
            return self.table();
        }
        match &self.trail {
            Some(trail) => Visit::Trail(trail.walk()),
            None => self.slots(),
        }
    }

    /// The slots in the order of std's table.
    pub(super) fn table(&self) -> Visit<'_> {
        Visit::Table(self.index.iter())
    }

    /// The slots in the order that a decision means.
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

    /// A permutation of the canonical order; of a long collection, where listing that order would
    /// cost too much, of its slots.
    ///
    /// Slots are in order of insertion until something is removed, and then every slot has some
    /// place in every order all the same.
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

    /// A fixed hash of the key in a slot, if that is known.
    pub(super) fn content(&self, slot: usize) -> Option<u64> {
        Some(self.identity.as_ref()?.contents()?.get(slot))
    }

    /// What is recorded about the element in a slot.
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

    /// Where the collection was created or, when code of std did that (`collect`), how its first
    /// element came in.
    pub(super) fn created(&self) -> Stack {
        let first = match &self.trail {
            Some(trail) => trail.first().unwrap_or_default(),
            None => 0,
        };
        let insertion = || self.identity.as_ref()?.insertion(first as usize);
        caller::visible(self.created).or_else(|| insertion().cloned()).unwrap_or_default()
    }
}

/// Up to this length the canonical order is listed to be permuted.
const LISTED: usize = 1 << 10;
