//! State that each test uses when it runs alone.

use std::collections::{BTreeMap, BTreeSet};

use nondex_core::{AccessRecord, StateChange, StateId, StateKind};

use crate::campaign::state::{BinaryState, PLACE, StatePart};
use crate::campaign::{Processes, temporary};
use crate::judge::Run;
use crate::judge::order::Sharers;

/// State that a test uses.
pub(in crate::campaign) struct UsedState<'s> {
    pub(in crate::campaign) test: usize,
    /// Parts that it changes, or leaves changed.
    pub(super) changes: Vec<StatePart<'s>>,
    /// Statics among these that have their old value afterwards.
    pub(super) undone: BTreeSet<StateId>,
    /// Parts that are changed when it has ended.
    left: BTreeSet<StateId>,
    /// Other parts that it uses.
    pub(super) reads: BTreeSet<StateId>,
    /// Whether it may use other statics, too.
    pub(super) may_use_any: bool,
    pub(super) accesses: Vec<AccessRecord>,
}

impl UsedState<'_> {
    /// Returns whether it changes anything.
    pub(in crate::campaign) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Returns whether it leaves a change that `other` uses or may use.
    pub(in crate::campaign) fn leaves_to(&self, other: &UsedState<'_>) -> bool {
        self.changes.iter().map(|part| &part.state).any(|state| {
            let may_use = state.kind == StateKind::Static && other.may_use_any;
            !self.undone.contains(state) && (other.uses(state) || may_use)
        })
    }

    /// Returns the files that it changes.
    pub(in crate::campaign) fn changed_files(&self) -> impl Iterator<Item = &str> {
        let files = self.changes.iter().map(|part| &part.state);
        files.filter(|state| state.kind == StateKind::File).map(|state| state.name.as_str())
    }

    /// Returns the parts of the state that it leaves changed, each with the other tests of `uses`
    /// that use it. Tests that leave the part changed themselves do not count: state that is
    /// initialised at first use is not shared through its first user.
    pub(in crate::campaign) fn left_to<'u>(
        &'u self,
        uses: &'u [UsedState<'_>],
    ) -> impl Iterator<Item = (&'u StatePart<'u>, Vec<usize>)> {
        self.changes.iter().filter_map(move |part| {
            let users: Vec<usize> = uses
                .iter()
                .filter(|other| other.test != self.test)
                .filter(|other| {
                    other.reads.contains(&part.state) && !other.left.contains(&part.state)
                })
                .map(|other| other.test)
                .collect();
            (self.left.contains(&part.state) && !users.is_empty()).then_some((part, users))
        })
    }

    pub(super) fn uses(&self, state: &StateId) -> bool {
        self.changes(state) || self.reads.contains(state)
    }

    pub(super) fn changes(&self, state: &StateId) -> bool {
        self.changes.iter().any(|part| part.state == *state)
    }
}

/// Returns what each of these tests uses when it runs alone, in a process each. Some are missing
/// when it was stopped.
///
/// Several processes run concurrently. Tests that fail, or use changed state outside their process,
/// may have disturbed each other. They are repeated one at a time.
pub(in crate::campaign) fn uses<'s>(
    processes: &Processes<'_>,
    states: &'s BinaryState<'s>,
    tests: &[usize],
) -> Vec<UsedState<'s>> {
    let required = |test: &usize| processes.required([*test].into_iter());
    let mut watched =
        processes.each(tests, false, required, |place, test| Watched::of(processes, place, *test));
    // If these tests left files, each was repeated alone already.
    if processes.are_at_once() {
        let outside: BTreeSet<StateId> = watched
            .iter()
            .flat_map(|watched| &watched.run.accesses[..])
            .filter(|access| access.writes && is_outside(&access.state))
            .map(|access| access.state.clone())
            .collect();
        for watched in &mut watched {
            let accesses = &watched.run.accesses;
            let is_affected = accesses.iter().any(|access| outside.contains(&access.state));
            if is_affected || !watched.run.passed() {
                match Watched::of(processes, PLACE, watched.test) {
                    Some(alone) => *watched = alone,
                    None => break,
                }
            }
        }
    }
    watched.iter().map(|watched| used(states, watched)).collect()
}

/// Returns whether a part of the state may be shared between processes.
pub(super) fn is_outside(state: &StateId) -> bool {
    match state.kind {
        StateKind::Port => true,
        StateKind::File => !state.name.starts_with(temporary::FOLDER),
        _ => false,
    }
}

/// Returns the kinds of state that are accessed through functions.
pub(super) fn every() -> Vec<StateId> {
    let kinds =
        [StateKind::Env, StateKind::Cwd, StateKind::Umask, StateKind::File, StateKind::Port];
    kinds.map(StateId::every).to_vec()
}

/// A run of a test alone, with its accesses.
struct Watched {
    test: usize,
    run: Run,
    /// Whether accesses to statics were recorded.
    has_statics: bool,
}

impl Watched {
    /// Runs a test with temporary files at this place; `None` when it was stopped.
    fn of(processes: &Processes<'_>, place: usize, test: usize) -> Option<Self> {
        let watched = |watch: Vec<StateId>| {
            let spec = processes.spec(test).in_order(|tests| {
                tests.changes = true;
                tests.watch = watch;
            });
            processes.run(place, &[test], &spec)?.pop()
        };
        let statics = vec![StateId::every(StateKind::Static)];
        let mut run = watched([every(), statics].concat())?;
        // Watching statics may itself break a test: the kernel cannot write to a protected page,
        // and the test may handle faults itself.
        let has_statics = run.passed();
        if !has_statics {
            run = watched(every())?;
        }
        Some(Watched { test, run, has_statics })
    }
}

fn used<'s>(states: &'s BinaryState<'s>, watched: &Watched) -> UsedState<'s> {
    let any = StateId::every(StateKind::Static);
    let run = &watched.run;
    let (of_statics, others): (Vec<_>, Vec<_>) =
        run.accesses.iter().cloned().partition(|access| access.state.kind == StateKind::Static);
    let mut changes = states.parts(run.states.iter());
    let left = changes.iter().map(|part| part.state.clone()).collect();
    changes.retain(|part| part.state.kind == StateKind::Static);
    let mut undone = BTreeSet::new();
    let mut reads = BTreeSet::new();
    for access in &of_statics {
        let accessed = StateChange { state: access.state.clone(), before: None, after: None };
        for part in states.parts([&accessed].into_iter()) {
            if !access.writes {
                reads.insert(part.state);
            } else if changes.iter().all(|known| known.state != part.state) {
                undone.insert(part.state.clone());
                changes.push(part);
            }
        }
    }
    for access in &others {
        let is_known = changes.iter().any(|part| part.state == access.state);
        if access.writes && !is_known {
            changes.push(StatePart::of(access.state.clone()));
        } else if !access.writes {
            reads.insert(access.state.clone());
        }
    }
    UsedState {
        test: watched.test,
        changes,
        left,
        undone,
        reads,
        may_use_any: !watched.has_statics || of_statics.iter().any(|access| access.state == any),
        accesses: others,
    }
}

/// Returns the tests that share each part of the state that one of them leaves changed, each set
/// once.
pub(in crate::campaign) fn sharers(uses: &[UsedState<'_>]) -> Vec<Sharers> {
    let mut writers: BTreeMap<&StateId, Vec<usize>> = BTreeMap::new();
    for used in uses {
        for part in used.changes.iter().filter(|part| !used.undone.contains(&part.state)) {
            writers.entry(&part.state).or_default().push(used.test);
        }
    }
    let shared = writers.into_iter().map(|(state, writers)| {
        let readers = uses
            .iter()
            .filter(|used| used.uses(state) && !writers.contains(&used.test))
            .map(|used| used.test)
            .collect();
        Sharers { writers, readers }
    });
    shared.collect::<BTreeSet<_>>().into_iter().collect()
}
