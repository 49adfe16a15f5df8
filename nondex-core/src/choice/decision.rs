//! What a shim does at a choice of an order, and what is told of a call that follows it only so
//! far.

use super::between::between;
use super::permutation::Permutation;
use crate::catalogue::{Family, Model};
use crate::context;
use crate::protocol::event::Event;
use crate::protocol::point::{ElementRecord, StepRecord};
use crate::protocol::site::{Caller, Frame, Site};

/// What a shim does at one choice point.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Take the base order: nothing is chosen here.
    Base,
    /// Do what std and the platform would do under another seed: a hash collection takes its
    /// table's own order; a directory or environment sorts its names by a hash keyed with `key`,
    /// which is the same for the whole run.
    Std {
        /// The key, the same for the whole run.
        key: u64,
    },
    /// Permute the base order.
    Permute(Permutation),
    /// Sort by content, whatever the base order is, then permute.
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
    /// Take an order between the base order and another decision's.
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
        Intermediate {
            decision,
            steps,
            model,
            family,
            caller,
            ordinal,
        }
    }

    /// The items in the order that is to be followed, where `base` has them in base order and
    /// `drawn` in the decision's. What the last step exchanged is recorded, as `describe` says it:
    /// it is given an item, and whether the run asks for stacks; then `created` is asked where the
    /// collection is from.
    #[must_use]
    pub fn order(
        &self,
        base: &[usize],
        drawn: &[usize],
        describe: &dyn Fn(usize, bool) -> ElementRecord,
        created: &dyn Fn() -> Vec<Frame>,
    ) -> Vec<usize> {
        let mut ranks = vec![0; base.iter().max().map_or(0, |most| most + 1)];
        for (rank, &item) in base.iter().enumerate() {
            ranks[item] = rank;
        }
        let drawn: Vec<usize> = drawn.iter().map(|&item| ranks[item]).collect();
        let found = between(&drawn, self.steps);
        let site = Site::new(self.model, self.family, self.caller);
        let is_traced = context::is_traced(&site);
        let pause = context::pause();
        let element = |rank: usize| ElementRecord {
            rank: rank as u64,
            ..describe(base[rank], is_traced)
        };
        let step = StepRecord {
            thread: String::new(),
            ordinal: self.ordinal,
            len: base.len() as u64,
            steps: found.steps,
            position: found.last.map_or(0, |step| step.position as u64),
            exchanged: found.last.map_or_else(Vec::new, |step| {
                vec![element(step.first), element(step.second)]
            }),
            created: if is_traced { created() } else { Vec::new() },
            number: None,
            site,
        };
        drop(pause);
        context::record(|test, thread| Event::Step {
            test,
            step: StepRecord { thread, ..step },
        });
        found.ranks.into_iter().map(|rank| base[rank]).collect()
    }
}
