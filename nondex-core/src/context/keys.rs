//! The keys of `RandomState`s in one run.

use super::stack::Stack;
use crate::catalogue::{Family, Level, Model};
use crate::fork_lock::ForkLock;
use crate::hash;
use crate::hidden;
use crate::protocol::site::{Caller, Site, portable_path};
use crate::protocol::spec::RunSpec;

/// Identity of a site.
type Call = (&'static Model, Family, Caller);

/// Returns whether two calls are of the same site.
fn is_same((a, one, x): &Call, (b, other, y): &Call) -> bool {
    let place = |caller: &Caller| (portable_path(caller.file), caller.line, caller.column);
    a.api == b.api && one == other && place(x) == place(y)
}

/// Data about keys that all threads of a run share.
#[derive(Debug)]
pub(super) struct Keys {
    /// Value that the seed adds to each key; 0 if it adds none.
    pub(super) secret: u64,
    /// Whether the run records where some keys are created.
    pub(super) are_traced: bool,
    /// Stack of the first creation at each site for which the run records it.
    created: ForkLock<hidden::Vec<(Call, Stack)>>,
    /// Decisions for keys that have clones.
    shared: ForkLock<hidden::Table<(u64, u64)>>,
}

impl Keys {
    pub(super) fn new(spec: &RunSpec) -> Self {
        let is_seeded = spec.drawn().is_some_and(|drawn| {
            drawn.level == Level::Std && drawn.schedule.chooses(Family::HashKeys)
        });
        Keys {
            secret: if is_seeded { hash::mix(spec.seed() ^ SECRET) } else { 0 },
            are_traced: spec.trace.iter().any(is_of_keys),
            created: ForkLock::new(hidden::vec),
            shared: ForkLock::new(hidden::table),
        }
    }

    /// Keeps the stack of the creation of a state by `caller`, if the run requests it.
    pub(super) fn note_creation(&self, model: &'static Model, caller: Caller, trace: &[Site]) {
        let is_requested = |site: &Site| site.is_of(model, model.family, caller);
        if !trace.iter().any(is_requested) {
            return;
        }
        let call = (model, model.family, caller);
        let stack = Stack::capture();
        if let Some(mut created) = self.created.lock() {
            if !created.iter().any(|(known, _)| is_same(known, &call)) {
                created.push((call, stack));
            }
        }
    }

    /// Returns the stack at which the first state of this site was created, if it was
    /// [noted](Keys::note_creation).
    pub(super) fn created(&self, call: Call) -> Option<Stack> {
        let created = self.created.lock()?;
        let mut known = created.iter();
        Some(known.find(|(known, _)| is_same(known, &call))?.1.clone())
    }

    /// Returns the result of `decide` for this key. If it `is_shared`, the first call decides for
    /// the state and all its clones, which are one choice.
    pub(super) fn once(&self, key: u64, is_shared: bool, decide: impl FnOnce() -> u64) -> u64 {
        if !is_shared {
            return decide();
        }
        match self.shared.lock() {
            Some(mut shared) => {
                let is_it = |known: &(u64, u64)| known.0 == key;
                let entry = shared.entry(hash::mix(key), is_it, |known| hash::mix(known.0));
                entry.or_insert_with(|| (key, decide())).get().1
            }
            None => decide(),
        }
    }
}

fn is_of_keys(site: &Site) -> bool {
    site.family == Family::HashKeys
}

/// Separates the keys from everything else that a seed decides.
const SECRET: u64 = 0x6b65_7973_206f_6620;
