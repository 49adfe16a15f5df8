//! A decision that is followed only so far, and what is told about the call then.

use crate::between::between;
use crate::choice::Decision;
use crate::context;
use crate::model::{Family, Model};
use crate::record::{ElementRecord, Event, Frame, StepRecord};
use crate::site::{Caller, Site, portable_path};

/// A decision that a shim follows for some [steps](crate::between) only.
#[derive(Clone, Debug)]
pub struct Partly {
    /// The decision in whole.
    pub decision: Decision,
    steps: u64,
    model: &'static Model,
    family: Family,
    caller: Caller,
    ordinal: u64,
}

impl Partly {
    pub(crate) const fn new(
        decision: Decision,
        steps: u64,
        model: &'static Model,
        family: Family,
        caller: Caller,
        ordinal: u64,
    ) -> Self {
        Partly {
            decision,
            steps,
            model,
            family,
            caller,
            ordinal,
        }
    }

    /// The items in the order that is to be followed, where `base` has them in base order and `drawn` in the decision's. What
    /// the last step exchanged is recorded, as `describe` says it: it is given an item, and whether the run asks for stacks;
    /// then `created` is asked where the collection is from.
    #[must_use]
    pub fn order(
        &self,
        base: &[usize],
        drawn: &[usize],
        describe: impl Fn(usize, bool) -> ElementRecord,
        created: impl FnOnce() -> Vec<Frame>,
    ) -> Vec<usize> {
        let mut ranks = vec![0; base.iter().max().map_or(0, |most| most + 1)];
        for (rank, &item) in base.iter().enumerate() {
            ranks[item] = rank;
        }
        let drawn: Vec<usize> = drawn.iter().map(|&item| ranks[item]).collect();
        let found = between(&drawn, self.steps);
        let site = Site {
            api: self.model.api.to_owned(),
            family: self.family,
            file: portable_path(self.caller.file).to_owned(),
            line: self.caller.line,
            column: self.caller.column,
        };
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
