//! Description of a race for a report.

use nondex_core::{AccessRecord, StateId};

use super::interleaving::{ForcedInterleaving, Moment};
use super::{Races, UsedState, stops_after};
use crate::campaign::state::StatePart;
use crate::judge::Run;
use crate::report::{Race, WrittenLine};

impl Races<'_> {
    /// Describes a race of `test` for a report. `stopped` is the run of the stopped test, with its
    /// lines.
    pub(super) fn described(
        &self,
        test: usize,
        interleaving: &ForcedInterleaving<'_>,
        stopped: &Run,
    ) -> Race {
        let ForcedInterleaving { outer, inner, state, moment: Moment { access, pause_at } } =
            *interleaving;
        let is_inner = test == inner.test;
        let name = |used: &UsedState<'_>| self.processes.tests[used.test].name.clone();
        // One test changes the state that the other one uses.
        let [own, other] = if is_inner { [inner, outer] } else { [outer, inner] };
        let writer = [other, own].into_iter().find(|used| used.changes(state)).unwrap_or(other);
        let line = |access: &AccessRecord| self.states.line(access);
        let accesses = |used: &UsedState<'_>| self.watched(used.test, state, true);
        let writes = accesses(writer);
        // The user sees only what a stopped writer has done by then, and everything that an ended
        // writer has done.
        let after = u64::from(stops_after(state));
        let done = match (std::ptr::eq(writer, outer), is_inner, pause_at) {
            (true, true, None) => Some(access + after),
            (false, false, Some(until)) => Some(until + after),
            _ => None,
        };
        let by_then =
            done.and_then(|done| writes.iter().take_while(before(done)).filter(is_write).last());
        let written = by_then.or_else(|| writes.iter().rfind(is_write)).cloned();
        let read = if is_inner {
            let accesses = accesses(inner);
            let mut own = accesses.iter().filter(|access| access.own);
            // The access at which it continues, or its first one.
            let place = usize::try_from(pause_at.map_or(0, |access| access + after));
            place.ok().and_then(|place| own.nth(place)).and_then(line)
        } else {
            use_of(stopped, state).and_then(line)
        };
        let part = [inner, outer]
            .into_iter()
            .flat_map(|used| &used.changes)
            .find(|part| part.state == *state);
        let mut shared = match part {
            Some(part) => self.states.named(part),
            None => self.states.named(&StatePart::of(state.clone())),
        };
        shared.read = read;
        shared.written = written.as_ref().and_then(line).map(|line| WrittenLine {
            file: line.file,
            line: line.line,
            test: name(writer),
        });
        Race { with: name(other), inner: is_inner, interrupt_at: access, pause_at, state: shared }
    }
}

/// Returns the access at which that test uses what the other one has done.
fn use_of<'r>(run: &'r Run, state: &StateId) -> Option<&'r AccessRecord> {
    let mut own = run.accesses.iter().filter(|access| access.own);
    if stops_after(state) {
        own.skip_while(|access| !access.interrupted).nth(1)
    } else {
        own.find(|access| access.interrupted)
    }
}

fn is_write(access: &&AccessRecord) -> bool {
    access.writes
}

/// Returns a predicate for all accesses in their order. It holds for those before access `own` of
/// the test's own thread.
fn before(own: u64) -> impl FnMut(&&AccessRecord) -> bool {
    let mut left = own;
    move |access| {
        let is_before = !access.own || left > 0;
        left -= u64::from(access.own && left > 0);
        is_before
    }
}
