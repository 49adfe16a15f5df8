//! Interleavings that show nothing, made several at once.
//!
//! Nearly all interleavings pass. Those of tests that meet nothing outside their process cannot
//! disturb each other, so they are made several at once, a few pairs ahead of the search. It goes
//! on from the first one that may show something: that is made again, while nothing else runs.
//! Whether what it finds is the same as with one job is a test.

use nondex_core::StateId;

use super::interleaving::{ForcedInterleaving, Moment, is_past_the_last};
use super::uses::is_outside;
use super::{Races, Use, WAITS};
use crate::campaign::order::Processes;
use crate::judge::run::Run;

/// Number of pairs that are screened at once, for each job.
const AHEAD: usize = 4;

/// The interleavings of a pair that may show something.
pub(super) struct Screened<'m> {
    pub(super) outer: &'m Use<'m>,
    pub(super) inner: &'m Use<'m>,
    pub(super) state: &'m StateId,
    /// Those that have not passed, in the order in which they are made.
    pub(super) moments: Vec<Moment>,
}

impl Screened<'_> {
    /// Whether others may run at the same time: neither test uses what is not its process's own.
    fn is_confined(&self) -> bool {
        let of = |used: &Use<'_>| {
            used.changes.iter().map(|part| &part.state).chain(&used.reads).any(is_outside)
        };
        !of(self.outer) && !of(self.inner)
    }

    /// Makes these interleavings up to the first one that may show something: how many need not be
    /// made again. `None` when it was stopped.
    fn passed(&self, processes: &Processes<'_>, place: usize) -> Option<usize> {
        for (number, moment) in self.moments.iter().enumerate() {
            let interleaving = ForcedInterleaving {
                outer: self.outer,
                inner: self.inner,
                state: self.state,
                moment: *moment,
            };
            let spec = interleaving.spec(processes, false);
            let runs = processes.run(place, &interleaving.order(), &spec)?;
            let [inner, outer] = &runs[..] else { return Some(number) };
            if !shows_nothing(inner) || !shows_nothing(outer) {
                return Some(number);
            }
            if is_past_the_last(outer) {
                break;
            }
        }
        Some(self.moments.len())
    }
}

/// Whether this is a run as if the test ran alone.
fn shows_nothing(run: &Run) -> bool {
    let is_seen = run.accesses.iter().all(|access| !access.unseen);
    run.passed() && run.took < WAITS && is_seen
}

impl Races<'_> {
    /// Number of pairs that are looked at together.
    pub(super) fn ahead(&self) -> usize {
        if self.processes.are_at_once() { self.processes.options.jobs.get() * AHEAD } else { 1 }
    }

    /// Leaves out the first interleavings of each of these pairs that show nothing.
    pub(super) fn screen(&self, pairs: &mut [Screened<'_>]) {
        let processes = self.processes;
        if !processes.are_at_once() {
            return;
        }
        let confined: Vec<&mut Screened<'_>> = pairs
            .iter_mut()
            .filter(|pair| pair.is_confined() && !pair.moments.is_empty())
            .collect();
        let required = |pair: &&mut Screened<'_>| {
            processes.required([pair.outer.test, pair.inner.test].into_iter())
        };
        let stop = &self.stop;
        let passed = processes.each(&confined, false, required, |place, pair| {
            let passed = if stop.is_set() { None } else { pair.passed(processes, place) };
            // A result of each, so that they belong together.
            Some(passed.unwrap_or(0))
        });
        for (pair, passed) in confined.into_iter().zip(passed) {
            pair.moments.drain(..passed);
        }
    }
}
