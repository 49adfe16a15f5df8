//! Screening: interleavings made concurrently to find those that show nothing.
//!
//! Nearly all interleavings pass. Tests that use nothing outside their process cannot disturb other
//! processes. So their interleavings are made concurrently, a few pairs ahead of the search. The
//! search continues from the first one that may show something, and repeats that one while nothing
//! else runs. A test checks that the results are the same as with one job.

use nondex_core::StateId;

use super::interleaving::{ForcedInterleaving, Moment, is_past_the_last};
use super::uses::is_outside;
use super::{Races, UsedState, WAITS};
use crate::campaign::order::Processes;
use crate::judge::Run;

/// Number of pairs that are screened together, for each job.
const AHEAD: usize = 4;

/// The interleavings of a pair that may show something.
pub(super) struct Screened<'m> {
    pub(super) outer: &'m UsedState<'m>,
    pub(super) inner: &'m UsedState<'m>,
    pub(super) state: &'m StateId,
    /// Moments that have not passed, in the order in which they are tried.
    pub(super) moments: Vec<Moment>,
}

impl<'m> Screened<'m> {
    /// Returns the interleaving at this moment.
    pub(super) const fn at(&self, moment: Moment) -> ForcedInterleaving<'m> {
        ForcedInterleaving { outer: self.outer, inner: self.inner, state: self.state, moment }
    }

    /// Returns whether other processes may run concurrently, because both tests use only state of
    /// their own process.
    fn is_confined(&self) -> bool {
        let of = |used: &UsedState<'_>| {
            used.changes.iter().map(|part| &part.state).chain(&used.reads).any(is_outside)
        };
        !of(self.outer) && !of(self.inner)
    }

    /// Makes these interleavings up to the first one that may show something. Returns the number
    /// that need not be repeated; `None` when it was stopped.
    fn passed(&self, processes: &Processes<'_>, place: usize) -> Option<usize> {
        for (number, moment) in self.moments.iter().enumerate() {
            let interleaving = self.at(*moment);
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

/// Returns whether the run is like one of the test alone.
fn shows_nothing(run: &Run) -> bool {
    let is_seen = run.accesses.iter().all(|access| !access.unseen);
    run.passed() && run.took < WAITS && is_seen
}

impl Races<'_> {
    /// Returns the number of pairs to screen together.
    pub(super) fn ahead(&self) -> usize {
        if self.processes.are_at_once() {
            self.processes.context.options.jobs.get() * AHEAD
        } else {
            1
        }
    }

    /// Removes the leading interleavings of each pair that show nothing.
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
            // Return a result for each pair, so that `zip` below matches them.
            Some(passed.unwrap_or(0))
        });
        for (pair, passed) in confined.into_iter().zip(passed) {
            pair.moments.drain(..passed);
        }
    }
}
