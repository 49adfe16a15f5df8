//! What a shim does at a choice of an order, and what is recorded of a call that follows it only
//! partly.

use super::between::between;
use super::permutation::Permutation;
use crate::catalogue::{Family, Model};
use crate::context::stack::Stack;
use crate::context::{self, points};
use crate::hidden::{self, Box, Text, Vec};
use crate::json::Object;
use crate::protocol::site::Caller;

/// What a shim does at one choice point.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Take the canonical order: nothing is chosen here.
    Base,
    /// Do what std and the platform would do under another seed: a hash collection takes its
    /// table's own order; a directory or environment sorts its names by a hash keyed with `key`,
    /// which is the same for the whole run.
    Std {
        /// The key, the same for the whole run.
        key: u64,
    },
    /// Permute the canonical order.
    Permute(Permutation),
    /// Sort by content, whatever the canonical order is, then permute.
    PermuteContent(Permutation),
    /// Sort by a hash of the content that is keyed with `tree`, which is the same for the whole
    /// run, and then compared after an exclusive or with `key`. It is the order of long sequences
    /// at level EQ, where sorting for each read would cost too much.
    ByContent {
        /// Keys the hash.
        tree: u64,
        /// Drawn from the contents.
        key: u64,
    },
    /// Take an order between the canonical order and another decision's.
    Intermediate(Box<Intermediate>),
}

/// A decision that a shim follows for some steps only.
#[derive(Clone, Debug)]
pub struct Intermediate {
    /// The decision in whole.
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

    /// The items in the order that is to be followed, where `base` has them in canonical order and
    /// `drawn` in the decision's. What the last step exchanged is recorded, as `describe` returns
    /// it: it is given an item, and whether the run requests stacks; then `created` returns where
    /// the collection is from. Takes no memory of the program's.
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

/// What is recorded of an element that was exchanged: see [`ElementRecord`](crate::ElementRecord).
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// Where it was in canonical order.
    pub index: Option<u64>,
    /// Its name, if it has one.
    pub name: Option<Text>,
    /// Where it was inserted, if the run asks for that.
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

/// A call whose choice was given as steps: see [`StepRecord`](crate::StepRecord).
pub(super) struct Step {
    pub(super) call: (&'static Model, Family, Caller),
    pub(super) ordinal: u64,
    pub(super) len: u64,
    pub(super) steps: u64,
    pub(super) position: u64,
}

impl Step {
    /// Records it, with what `others` writes. Takes no memory of the program's.
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
