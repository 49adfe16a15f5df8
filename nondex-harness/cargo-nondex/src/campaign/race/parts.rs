//! Accesses at which two tests stop for each other. The first test stops before it changes what the
//! second one has used until then. The second test stops before it uses that again.
//!
//! A thread that is stopped while it holds a lock blocks all others. If there are few accesses to a
//! static, each of them is tried. If there are more, those that begin a line come first. There, a
//! lock of the previous line is free, unless its guard is kept.

use nondex_core::{AccessRecord, StateId, StateKind};

use super::interleaving::Moment;
use super::{Races, UsedState, stops_after};

/// Maximum number of accesses that are tried of each of two tests.
const MAX_PARTS: usize = 4;

/// Access before which a thread may be stopped.
struct Stop {
    number: u64,
    reads: bool,
    writes: bool,
}

impl Races<'_> {
    /// Returns the accesses of two tests at which each may stop for the other.
    pub(super) fn parts(
        &self,
        outer: &UsedState<'_>,
        inner: &UsedState<'_>,
        state: &StateId,
    ) -> Vec<Moment> {
        if !outer.changes(state) {
            return Vec::new();
        }
        let numbers = |used: &UsedState<'_>, is_wanted: fn(&Stop) -> bool| -> Vec<u64> {
            let stops = self.stops(used, state);
            let wanted = stops.iter().filter(|stop| is_wanted(stop));
            wanted.map(|stop| stop.number).take(MAX_PARTS).collect()
        };
        let writes = numbers(outer, |stop| stop.writes);
        let reads = numbers(inner, |stop| stop.reads);
        let each = writes.iter().flat_map(|access| {
            reads.iter().map(|until| Moment { access: *access, pause_at: Some(*until) })
        });
        each.collect()
    }

    /// Returns the accesses of a test before which it may be stopped, most promising first.
    fn stops(&self, used: &UsedState<'_>, state: &StateId) -> Vec<Stop> {
        let after = usize::from(stops_after(state));
        let single = |(number, access): (u64, &AccessRecord)| Stop {
            number,
            reads: !access.writes,
            writes: access.writes,
        };
        let accesses = self.accesses(used, state);
        let own: Vec<_> = accesses.iter().filter(|access| access.own).collect();
        let singles = (0..).zip(own.iter().skip(after).copied()).map(single);
        if state.kind != StateKind::Static || own.len() <= MAX_PARTS + after {
            return singles.collect();
        }
        let traced = self.watched(used.test, state, true);
        let own_traced: Vec<_> = traced.iter().filter(|access| access.own).collect();
        let mut at = 0_usize;
        let mut lines: Vec<Stop> = Vec::new();
        for line in own_traced.chunk_by(|one, next| self.states.line(one) == self.states.line(next))
        {
            if let Some(number) = at.checked_sub(after) {
                lines.push(Stop {
                    number: number as u64,
                    reads: line.iter().any(|access| !access.writes),
                    writes: line.iter().any(|access| access.writes),
                });
            }
            at += line.len();
        }
        let others: Vec<Stop> =
            singles.filter(|stop| lines.iter().all(|line| line.number != stop.number)).collect();
        lines.into_iter().chain(others).collect()
    }
}
