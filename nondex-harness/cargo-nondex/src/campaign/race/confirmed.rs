//! Repeated runs that confirm a race before it is reported, each while nothing else runs.

use std::time::Duration;

use nondex_core::{Interleaving, Level, RunSpec};

use super::Races;
use super::interleaving::ForcedInterleaving;
use crate::campaign::state::PLACE;
use crate::judge::Run;

/// Number of times that a run must fail.
const REPETITIONS: usize = 3;

/// Duration of a stop that may make a test exceed its own time limit.
const STOPPED: Duration = Duration::from_millis(200);

/// Number of seeds under which a test must pass alone.
const SEEDS: u64 = 30;

impl Races<'_> {
    /// Returns the run of the stopped test, with its lines, if the last test fails each time. Both
    /// must pass one after the other, in either order. The time that tracing lines takes does not
    /// count.
    pub(super) fn confirmed(&self, order: [usize; 2], spec: &RunSpec) -> Option<Option<Run>> {
        for _ in 1..REPETITIONS {
            let run = self.run(&order, spec)?.pop()?;
            if !self.fails(order[1], &run) {
                return Some(None);
            }
        }
        let [first, second] = order;
        for order in [[first, second], [second, first]] {
            let runs = self.run(&order, &self.processes.spec(order[1]))?;
            if !runs.iter().all(Run::passed) {
                return Some(None);
            }
        }
        if self.is_chance(second)? {
            return Some(None);
        }
        let mut tests = spec.interleaving()?.clone();
        tests.lines = true;
        let outer = usize::from(!tests.is_inner);
        Some(self.run(&order, &spec.clone().interleaved(tests))?.into_iter().nth(outer))
    }

    /// Returns whether a test fails alone under some seed. In the middle of another test it may
    /// draw other values.
    fn is_chance(&self, test: usize) -> Option<bool> {
        for seed in 0..SEEDS {
            let drawn = self.processes.with_choices(Level::Std, seed);
            let run = drawn.run(PLACE, &[test], &drawn.spec(test))?.pop()?;
            if run.points.is_empty() {
                return Some(false);
            }
            if self.fails(test, &run) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns whether this part of the state is the cause. The last test must pass each time if
    /// only this part is restored to its value before the other test. Otherwise the cause may be
    /// another change at the same moment.
    pub(super) fn is_proven(&self, order: [usize; 2], spec: &RunSpec) -> Option<bool> {
        self.always_passes(order, spec, |tests| tests.put_back = true)
    }

    /// Returns whether the last test may fail because it is stopped for long. To find out, the test
    /// only waits, for 1.5 times `took`. If both tests stop, this is assumed.
    pub(super) fn is_late(
        &self,
        order: [usize; 2],
        interleaving: &ForcedInterleaving<'_>,
        spec: &RunSpec,
        took: Duration,
    ) -> Option<bool> {
        let are_both = interleaving.moment.pause_at.is_some();
        let is_stopped = are_both || order[1] == interleaving.outer.test;
        if !is_stopped || took < STOPPED {
            return Some(false);
        }
        if are_both {
            return Some(true);
        }
        let wait = u64::try_from((took * 3 / 2).as_millis()).unwrap_or(u64::MAX);
        let passes = self.always_passes(order, spec, |tests| tests.waits_ms = wait)?;
        Some(!passes)
    }

    /// Returns whether the last test passes each time in this interleaving after `change`.
    fn always_passes(
        &self,
        order: [usize; 2],
        spec: &RunSpec,
        change: impl FnOnce(&mut Interleaving),
    ) -> Option<bool> {
        let mut tests = spec.interleaving()?.clone();
        change(&mut tests);
        let spec = spec.clone().interleaved(tests);
        for _ in 0..REPETITIONS {
            let run = self.run(&order, &spec)?.pop()?;
            if !run.passed() {
                return Some(false);
            }
        }
        Some(true)
    }
}
