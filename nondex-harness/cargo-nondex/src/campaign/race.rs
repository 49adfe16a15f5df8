//! Tests that fail when another test runs in the middle of them.
//!
//! `cargo test` runs the tests of one process concurrently. A change by one test while another uses
//! the same state is a race. So one test runs completely at each access of the other to state that
//! both use. It runs on another thread while the other test waits, so each run repeats. Where both
//! tests change the state, the inner test also pauses at one of its accesses until the outer test
//! has ended. It is a race only if this fails each time, and if both tests pass one after the
//! other, in either order.

mod confirmed;
mod described;
mod found;
mod interleaving;
mod parts;
mod screening;
mod uses;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use nondex_core::{AccessRecord, RunSpec, StateId, StateKind};

pub(super) use self::found::FoundRace;
use self::found::TriedRaces;
use self::interleaving::{ForcedInterleaving, Moment, is_past_the_last};
use self::screening::Screened;
use self::uses::every;
pub(super) use self::uses::{UsedState, sharers, uses};
use super::order::Processes;
use super::state::{BinaryState, PLACE};
use super::stop::StopFlag;
use crate::judge::Run;
use crate::judge::order::ProcessBudget;
use crate::judge::order::interleavings::{self, InterleavedPair, Plan, StateProperties};

/// Maximum number of accesses of a test to one part of the state that are tried.
const MAX_ACCESSES: u64 = 16;

/// Maximum number of accesses at which a test fails without proof that this part of the state is
/// the cause. After them, the search moves on.
const MAX_UNPROVEN: usize = 2;

/// Duration of a run after which no further accesses of its test are tried. The test probably waits
/// for the other one in a loop, so that they would show nothing new.
const WAITS: Duration = Duration::from_secs(4);

/// Result of one interleaving.
enum Interleaved {
    /// There may be a further access.
    Further,
    /// There is no further access, or none that would show more.
    Enough,
    /// The run took so long that nothing more is tried.
    Waits,
}

/// The search for races in one binary.
pub(super) struct Races<'a> {
    pub(super) processes: &'a Processes<'a>,
    pub(super) states: &'a BinaryState<'a>,
    /// Returns whether to search for races of this test.
    pub(super) is_selected: &'a dyn Fn(usize) -> bool,
    /// Returns whether the second test is known to fail after the first one.
    pub(super) is_polluter: &'a dyn Fn(usize, usize) -> bool,
    /// The known accesses.
    pub(super) known: KnownAccesses,
    /// Number of processes started before the search.
    pub(super) before: u64,
    /// Limit on the number of processes.
    pub(super) budget: ProcessBudget,
    /// Start of the search.
    pub(super) start: Instant,
    /// Flag that stops the search; also set when the time for races is over.
    pub(super) stop: StopFlag,
}

/// Accesses of tests that run alone to parts of the state, with their lines or without.
pub(super) type KnownAccesses = RefCell<BTreeMap<(usize, StateId, bool), Vec<AccessRecord>>>;

impl Races<'_> {
    /// Returns the races among the tests of `uses`. Tries the most suspicious pairs first, as far
    /// as the budget allows.
    pub(super) fn find(&self, uses: &[UsedState<'_>]) -> TriedRaces {
        let mut tried = TriedRaces::default();
        let (states, plan) = self.plan(uses);
        tried.left = plan.dropped;
        let is_wanted = |pair: &InterleavedPair, tried: &TriedRaces| {
            let tests = [pair.outer, pair.inner].map(|place| uses[place].test);
            // The test waits for the other one, so the run would take as long again.
            let waits = |test: &usize| pair.in_parts && tried.waiting.contains(test);
            tests.iter().any(|test| self.is_open(*test, tried)) && !tests.iter().any(waits)
        };
        for pairs in plan.pairs.chunks(self.ahead()) {
            let mut screened: Vec<Screened<'_>> = pairs
                .iter()
                .map(|pair| Screened {
                    outer: &uses[pair.outer],
                    inner: &uses[pair.inner],
                    state: states[pair.state],
                    moments: if is_wanted(pair, &tried) && !self.is_over() {
                        self.moments(pair, uses, states[pair.state])
                    } else {
                        Vec::new()
                    },
                })
                .collect();
            self.screen(&mut screened);
            for (pair, screened) in pairs.iter().zip(&screened) {
                if is_wanted(pair, &tried) {
                    let is_tried = !self.is_over() && self.is_tried(screened, &mut tried);
                    tried.left += usize::from(!is_tried);
                }
            }
        }
        tried.with_unproven()
    }

    /// Returns the number of processes that the search has started.
    pub(super) fn made(&self) -> u64 {
        self.processes.started() - self.before
    }

    fn is_over(&self) -> bool {
        self.budget.is_over(self.made(), self.start.elapsed()) || self.stop.is_set()
    }

    /// Returns the parts of the state by number, and which pairs to interleave.
    fn plan<'u>(&self, uses: &'u [UsedState<'_>]) -> (Vec<&'u StateId>, Plan) {
        fn changed<'u>(used: &'u UsedState<'_>) -> impl Iterator<Item = &'u StateId> {
            used.changes.iter().map(|part| &part.state)
        }
        let distinct: BTreeSet<&StateId> = uses.iter().flat_map(changed).collect();
        let states: Vec<&StateId> = distinct.into_iter().collect();
        let shared: Vec<StateProperties> = states
            .iter()
            .map(|state| StateProperties {
                is_foreign: self.states.is_foreign(state),
                is_static: state.kind == StateKind::Static,
            })
            .collect();
        let number = |state: &'u StateId| states.binary_search(&state).ok();
        let numbered: Vec<interleavings::StateUse> = uses
            .iter()
            .map(|used| interleavings::StateUse {
                changes: changed(used).filter_map(number).collect(),
                undone: used.undone.iter().filter_map(number).collect(),
                reads: used.reads.iter().filter_map(number).collect(),
                may_use_any: used.may_use_any,
            })
            .collect();
        let required = |test: usize| self.processes.required([test].into_iter());
        let is_wanted = |pair: [usize; 2]| {
            let [outer, inner] = pair.map(|place| uses[place].test);
            let is_selected = (self.is_selected)(outer) || (self.is_selected)(inner);
            // Tests of a group that never run concurrently cannot disturb each other.
            is_selected && !required(outer).excludes(&required(inner))
        };
        let plan = interleavings::plan(&numbered, &shared, &is_wanted);
        (states, plan)
    }

    /// Returns the moments at which a test, or parts of it, may run in the middle of another one.
    fn moments(
        &self,
        pair: &InterleavedPair,
        uses: &[UsedState<'_>],
        state: &StateId,
    ) -> Vec<Moment> {
        let [outer, inner] = [pair.outer, pair.inner].map(|place| &uses[place]);
        let is_used = [outer, inner].into_iter().all(|used| {
            used.uses(state)
                || state.kind != StateKind::Static
                || !self.accesses(used, state).is_empty()
        });
        let whole = |access| Moment { access, pause_at: None };
        match (is_used, pair.in_parts) {
            (false, _) => Vec::new(),
            (true, false) => (0..MAX_ACCESSES).map(whole).collect(),
            (true, true) => self.parts(outer, inner, state),
        }
    }

    /// Makes these interleavings. Returns whether all were made, as far as they are needed.
    fn is_tried(&self, pair: &Screened<'_>, tried: &mut TriedRaces) -> bool {
        let before = tried.unproven.len();
        for moment in &pair.moments {
            if tried.unproven.len() >= before + MAX_UNPROVEN {
                break;
            }
            if self.is_over() {
                return false;
            }
            match self.interleave(&pair.at(*moment), tried) {
                Some(Interleaved::Further) => {}
                Some(Interleaved::Enough) => return true,
                Some(Interleaved::Waits) => {
                    tried.waiting.insert(pair.outer.test);
                    return true;
                }
                None => return false,
            }
        }
        true
    }

    /// Returns whether to search further for a race of this test.
    fn is_open(&self, test: usize, tried: &TriedRaces) -> bool {
        (self.is_selected)(test) && !tried.is_known(test)
    }

    /// Interleaves two tests, and adds the races found. Returns `None` when it was stopped.
    fn interleave(
        &self,
        interleaving: &ForcedInterleaving<'_>,
        tried: &mut TriedRaces,
    ) -> Option<Interleaved> {
        let [first, second] = interleaving.order();
        let spec = interleaving.spec(self.processes, false);
        let runs = self.run(&[first, second], &spec)?;
        let [inner, outer] = &runs[..] else { return Some(Interleaved::Enough) };
        if self.states.note_unseen(outer) {
            return Some(Interleaved::Enough);
        }
        if is_past_the_last(outer) {
            return Some(Interleaved::Enough);
        }
        let of_inner = interleaving.spec(self.processes, true);
        for (order, spec, run) in
            [([first, second], &spec, outer), ([second, first], &of_inner, inner)]
        {
            let [other, test] = order;
            let is_open = self.is_open(test, tried)
                && !(self.is_polluter)(other, test)
                && self.fails(test, run);
            if !is_open {
                continue;
            }
            if let Some(outer) = self.confirmed(order, spec)? {
                let is_proven = self.is_proven(order, spec)?;
                let is_late = !is_proven && self.is_late(order, interleaving, spec, inner.took)?;
                let mut race = self.described(test, interleaving, &outer);
                race.state.confirmed = is_proven;
                let list = if is_proven { &mut tried.found } else { &mut tried.unproven };
                list.push(FoundRace { test, race, spec: spec.clone(), run: run.clone(), is_late });
            }
        }
        Some(if outer.took >= WAITS { Interleaved::Waits } else { Interleaved::Further })
    }

    fn fails(&self, test: usize, run: &Run) -> bool {
        self.processes.passed(test, run) == Some(false)
    }

    /// Returns the accesses of a test that runs alone to a part of the state.
    fn accesses(&self, used: &UsedState<'_>, state: &StateId) -> Vec<AccessRecord> {
        match state.kind {
            StateKind::Static => self.watched(used.test, state, false),
            _ => of_state(&used.accesses, state),
        }
    }

    /// Returns the accesses of a test that runs alone to a part of the state. With `lines`, each
    /// access has its lines.
    fn watched(&self, test: usize, state: &StateId, lines: bool) -> Vec<AccessRecord> {
        let mut known = self.known.borrow_mut();
        let watched = known.entry((test, state.clone(), lines)).or_insert_with(|| {
            let spec = self.processes.spec(test).in_order(|tests| {
                tests.lines = lines;
                tests.watch = match state.kind {
                    StateKind::Static => vec![state.clone()],
                    _ => every(),
                };
            });
            let run = self.run(&[test], &spec).and_then(|mut runs| runs.pop());
            run.map_or_else(Vec::new, |run| of_state(&run.accesses, state))
        });
        watched.clone()
    }

    fn run(&self, order: &[usize], spec: &RunSpec) -> Option<Vec<Run>> {
        self.processes.run(PLACE, order, spec)
    }
}

/// Returns the accesses to a part of the state.
fn of_state(accesses: &[AccessRecord], state: &StateId) -> Vec<AccessRecord> {
    accesses.iter().filter(|access| access.state == *state).cloned().collect()
}

/// Returns whether a thread stops after its access to this state, not before it. std protects the
/// environment with a lock, and a thread that is stopped in a call with the lock held continues
/// until the lock is free.
fn stops_after(state: &StateId) -> bool {
    matches!(state.kind, StateKind::Static | StateKind::Env)
}
