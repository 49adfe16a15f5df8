//! The accesses at which two tests stop for each other: the first before it changes what the second
//! one has used by then, and the second before it looks again.
//!
//! A thread that is stopped while it holds a lock lets nobody else go on. Few accesses to a static
//! without a lock are made in one line, and each of them is tried. Of more, those come first that
//! begin a line: there the lock of the line before is free, unless its guard is kept.

use nondex_core::{AccessRecord, StateId, StateKind};

use super::interleaving::Moment;
use super::{Races, Use, stops_after};

/// Maximum number of accesses of each of two tests that are tried.
const MAX_PARTS: usize = 4;

/// An access before which a thread may be stopped.
struct Stop {
    number: u64,
    reads: bool,
    writes: bool,
}

impl Races<'_> {
    /// The accesses of two tests at which each may stop for the other.
    pub(super) fn parts(&self, outer: &Use<'_>, inner: &Use<'_>, state: &StateId) -> Vec<Moment> {
        if !outer.changes(state) {
            return Vec::new();
        }
        let numbers = |used: &Use<'_>, is_wanted: fn(&Stop) -> bool| -> Vec<u64> {
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

    /// The accesses of a test before which it may be stopped, the most promising first.
    fn stops(&self, used: &Use<'_>, state: &StateId) -> Vec<Stop> {
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
        let traced = self.traced(used, state);
        let own: Vec<_> = traced.iter().filter(|access| access.own).collect();
        let mut at = 0_usize;
        let mut lines: Vec<Stop> = Vec::new();
        for line in own.chunk_by(|one, next| self.states.line(one) == self.states.line(next)) {
            if let Some(number) = at.checked_sub(after) {
                lines.push(Stop {
                    number: number as u64,
                    reads: line.iter().any(|access| !access.writes),
                    writes: line.iter().any(|access| access.writes),
                });
            }
            at += line.len();
        }
        let others = singles.filter(|stop| lines.iter().all(|line| line.number != stop.number));
        let others: Vec<Stop> = others.collect();
        lines.into_iter().chain(others).collect()
    }
}
