//! What each test does with the state when it runs alone.

use std::collections::{BTreeMap, BTreeSet};

use nondex_core::{AccessRecord, RunSpec, StateId, StateKind};

use crate::campaign::order::Processes;
use crate::campaign::state::{PLACE, Part, States};

/// What a test does with the state.
pub(in crate::campaign) struct Use<'s> {
    pub(in crate::campaign) test: usize,
    /// What it changes, or leaves changed.
    pub(super) changes: Vec<Part<'s>>,
    /// What else it uses.
    pub(super) reads: BTreeSet<StateId>,
    pub(super) accesses: Vec<AccessRecord>,
}

impl Use<'_> {
    pub(super) fn changes(&self, state: &StateId) -> bool {
        self.changes.iter().any(|part| part.state == *state)
    }
}

/// What each of these tests uses when it runs alone, in a process each; without some when it was stopped.
pub(in crate::campaign) fn uses<'s>(
    processes: &Processes<'_>,
    states: &'s States<'s>,
    tests: &[usize],
) -> Vec<Use<'s>> {
    let used = tests
        .iter()
        .map_while(|test| used(processes, states, *test));
    used.collect()
}

/// All accesses that functions make.
pub(super) fn every() -> Vec<StateId> {
    let kinds = [StateKind::Env, StateKind::Cwd, StateKind::File];
    kinds.map(StateId::every).to_vec()
}

fn used<'s>(processes: &Processes<'_>, states: &'s States<'s>, test: usize) -> Option<Use<'s>> {
    let spec = RunSpec {
        states: true,
        watch: every(),
        ..processes.spec(test)
    };
    let run = processes.run(PLACE, &[test], &spec)?.pop()?;
    let mut changes = states.parts(run.states.iter());
    changes.retain(|part| part.state.kind == StateKind::Static);
    let mut reads = BTreeSet::new();
    for access in run.accesses.iter() {
        let is_known = changes.iter().any(|part| part.state == access.state);
        if access.writes && !is_known {
            changes.push(Part::of(access.state.clone()));
        } else if !access.writes {
            reads.insert(access.state.clone());
        }
    }
    Some(Use {
        test,
        changes,
        reads,
        accesses: run.accesses.to_vec(),
    })
}

/// The tests that change each part of the state that several do, each list of tests once.
pub(in crate::campaign) fn writers(uses: &[Use<'_>]) -> Vec<Vec<usize>> {
    let mut writers: BTreeMap<&StateId, Vec<usize>> = BTreeMap::new();
    for used in uses {
        for part in &used.changes {
            writers.entry(&part.state).or_default().push(used.test);
        }
    }
    let several = writers.into_values().filter(|tests| tests.len() > 1);
    several.collect::<BTreeSet<_>>().into_iter().collect()
}
