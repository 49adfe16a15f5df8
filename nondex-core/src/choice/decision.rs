//! The decision about an order that a shim follows, and the record of a call that follows it only
//! partly.

use super::between::between;
use super::permutation::Permutation;
use crate::catalogue::{Family, Model};
use crate::context::stack::Stack;
use crate::context::{self, points};
use crate::hidden::{self, Box, Text, Vec};
use crate::json::Object;
use crate::protocol::site::Caller;

/// The decision at one choice point, which the shim follows.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Take the canonical order: no choice is made here.
    Base,
    /// Do what std and the platform would do under another seed. A hash collection takes its
    /// table's own order. A directory or environment sorts its names by a hash keyed with `key`.
    Std {
        /// Key of the hash, the same for the whole run.
        key: u64,
    },
    /// Permute the canonical order.
    Permute(Permutation),
    /// Sort by content, regardless of the canonical order, and permute the result.
    PermuteContent(Permutation),
    /// Sort by a hash of the content combined with `key` by exclusive or. The hash is keyed with
    /// `tree`, which is the same for the whole run. Long sequences have this order at level EQ,
    /// where sorting by content at each read would cost too much.
    ByContent {
        /// Key of the hash.
        tree: u64,
        /// Word drawn from the content.
        key: u64,
    },
    /// Take an order between the canonical order and that of another decision.
    Intermediate(Box<Intermediate>),
}

/// A decision that a shim follows only for some steps.
#[derive(Clone, Debug)]
pub struct Intermediate {
    /// The complete decision.
    pub decision: Decision,
    steps: u64,
    model: &'static Model,
    family: Family,
    caller: Caller,
    ordinal: u64,
}

impl Intermediate {
    pub(crate) const fn new(
        decision: Decision,
        steps: u64,
        model: &'static Model,
        family: Family,
        caller: Caller,
        ordinal: u64,
    ) -> Self {
        Intermediate { decision, steps, model, family, caller, ordinal }
    }

    /// Returns the items in the order to follow. `base` has them in canonical order, `drawn` in
    /// that of the decision.
    ///
    /// Records what the last step exchanged: `describe` receives an item and whether the run
    /// requests stacks. In a run that does, `created` returns the stack of the collection's
    /// creation. Does not use the program's allocator.
    pub fn order(
        &self,
        base: &[usize],
        drawn: &[usize],
        describe: &dyn Fn(usize, bool) -> Element,
        created: &dyn Fn() -> Stack,
    ) -> Vec<usize> {
        let len = base.iter().max().map_or(0, |most| most + 1);
        let mut ranks = hidden::collect(std::iter::repeat_n(0, len));
        for (rank, &item) in base.iter().enumerate() {
            ranks[item] = rank;
        }
        let drawn = hidden::collect(drawn.iter().map(|&item| ranks[item]));
        let found = between(&drawn, self.steps);
        let is_traced = context::is_traced(self.model, self.family, self.caller);
        let pause = context::pause();
        let exchanged = found.last.map(|step| {
            let element = |rank: usize| (rank, describe(base[rank], is_traced));
            [element(step.first), element(step.second)]
        });
        let step = Step {
            call: (self.model, self.family, self.caller),
            ordinal: self.ordinal,
            len: base.len() as u64,
            steps: found.steps,
            position: found.last.map_or(0, |step| step.position as u64),
        };
        let created = if is_traced { created() } else { Stack::default() };
        drop(pause);
        step.record(|object| {
            if let Some(exchanged) = &exchanged {
                object.objects("exchanged", exchanged, |(rank, element), object| {
                    element.write(*rank as u64, object);
                });
            }
            created.write("created", object);
        });
        hidden::collect(found.ranks.into_iter().map(|rank| base[rank]))
    }
}

/// Record of an exchanged element: see [`ElementRecord`](crate::ElementRecord).
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// Position in canonical order.
    pub index: Option<u64>,
    /// Its name, if it has one.
    pub name: Option<Text>,
    /// Stack of its insertion, if the run requests it.
    pub stack: Stack,
}

impl Element {
    fn write(&self, rank: u64, object: &mut Object<'_>) {
        object
            .number("rank", rank)
            .optional_number("index", self.index)
            .optional_string("name", self.name.as_deref());
        self.stack.write("stack", object);
    }
}

/// Record of a call whose choice was given as steps: see [`StepRecord`](crate::StepRecord).
pub(super) struct Step {
    pub(super) call: (&'static Model, Family, Caller),
    pub(super) ordinal: u64,
    pub(super) len: u64,
    pub(super) steps: u64,
    pub(super) position: u64,
}

impl Step {
    /// Records the step, with the fields that `others` writes. Does not use the program's
    /// allocator.
    pub(super) fn record(&self, others: impl FnOnce(&mut Object<'_>)) {
        let (model, family, caller) = self.call;
        context::record("step", |thread, event| {
            event.object("step", |object| {
                object
                    .object("site", |object| {
                        points::site(model.api, family, caller, object);
                    })
                    .string("thread", thread)
                    .number("ordinal", self.ordinal)
                    .number("len", self.len)
                    .number("steps", self.steps)
                    .number("position", self.position);
                others(object);
            });
        });
    }
}
