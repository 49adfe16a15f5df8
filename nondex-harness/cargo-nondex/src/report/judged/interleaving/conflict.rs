//! Conflicts between a delayed thread and another one: accesses of both to the same object.

use std::collections::BTreeSet;

use super::step::{Delay, SharedObject, ThreadStep};

/// Maximum number of steps of the delayed thread, on each side of its delay, that are searched for
/// conflicts.
const REACH: usize = 12;

/// The steps around a delay: those of the delayed thread before and after it, nearest first, and
/// those of other threads during it.
pub(super) struct StepsAroundDelay {
    pub(super) delay: usize,
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
    /// Like `after`, but including threads that the delayed thread starts late.
    with_started: Vec<usize>,
    pub(super) meanwhile: Vec<usize>,
}

/// Maximum number of later steps on the object that are shown.
const REST: usize = 3;

impl Conflict {
    /// Returns the steps that are part of the conflict.
    pub(super) fn steps(&self) -> impl Iterator<Item = usize> {
        [self.before, Some(self.meanwhile), self.after].into_iter().flatten()
    }

    /// Returns the sleep of the other thread that ends during the delay, right before the other
    /// thread's access.
    pub(super) fn sleep(&self, steps: &[ThreadStep]) -> Option<usize> {
        let thread = steps[self.meanwhile].thread;
        let is_own = |at: &usize| steps[*at].thread == thread && steps[*at].delay.is_none();
        for at in (0..self.meanwhile).rev().filter(is_own) {
            if steps[at].sleeps {
                return Some(at);
            }
            if at < self.delay || steps[at].waits {
                break;
            }
        }
        None
    }

    /// Returns the next steps of both threads on the object, after the delay.
    pub(super) fn rest(&self, steps: &[ThreadStep]) -> impl Iterator<Item = usize> {
        let late = self.after.unwrap_or(self.delay);
        let threads = [late, self.meanwhile].map(|at| steps[at].thread);
        let from = self.after.map_or(steps.len(), |after| after + 1);
        let is_next = move |at: &usize| {
            let step = &steps[*at];
            threads.contains(&step.thread) && step.delay.is_none() && step.touches(self.object)
        };
        (from..steps.len()).filter(is_next).take(REST)
    }
}

/// A conflict, with indices into all steps.
pub(super) struct Conflict {
    pub(super) object: SharedObject,
    pub(super) before: Option<usize>,
    pub(super) delay: usize,
    pub(super) meanwhile: usize,
    pub(super) after: Option<usize>,
}

impl StepsAroundDelay {
    pub(super) fn of(steps: &[ThreadStep], delay: usize) -> Self {
        let thread = steps[delay].thread;
        let is_own = |at: &usize| steps[*at].thread == thread && steps[*at].delay.is_none();
        let after: Vec<usize> = (delay + 1..steps.len()).filter(is_own).take(REACH).collect();
        let end = after.first().copied().unwrap_or(steps.len());
        let mut late = BTreeSet::from([thread]);
        for step in &steps[end..] {
            if late.contains(&step.thread) {
                late.extend(&step.starts);
            }
        }
        let is_late = |at: &usize| late.contains(&steps[*at].thread) && steps[*at].delay.is_none();
        // After a late wake, only the steps since the intended time of the wake are concurrent.
        let since = match steps[delay].delay {
            Some(Delay { length, is_late: true }) => {
                steps.get(end).map_or(0, |next| next.time.saturating_sub(length))
            }
            _ => 0,
        };
        let is_others = |at: &usize| {
            steps[*at].thread != thread && steps[*at].delay.is_none() && steps[*at].time >= since
        };
        StepsAroundDelay {
            delay,
            before: (0..delay).rev().filter(is_own).take(REACH).collect(),
            with_started: (end..steps.len()).filter(is_late).take(REACH).collect(),
            meanwhile: (delay + 1..end).filter(is_others).collect(),
            after,
        }
    }

    /// Returns the best conflict for the delay. A conflict with accesses of the delayed thread on
    /// both sides of its delay is best, then the nearest one. An access in which the other thread
    /// drops the object, such as its end of a channel, explains less than a use of it. What a
    /// global allocator of the user's does explains least.
    pub(super) fn conflict(&self, steps: &[ThreadStep]) -> Option<Conflict> {
        let objects: BTreeSet<SharedObject> =
            self.meanwhile.iter().flat_map(|&at| steps[at].objects.keys().copied()).collect();
        let found = objects.into_iter().filter_map(|object| {
            let first = |part: &[usize]| {
                let mut part = part.iter().enumerate();
                part.find(|(_, at)| steps[**at].touches(object)).map(|(far, at)| (far, *at))
            };
            let before = first(&self.before);
            // If the delayed thread has not used the object before, the threads that it starts late
            // may use it first.
            let candidates = if before.is_some() { &self.after } else { &self.with_started };
            let after = first(candidates);
            let line = |at: usize| steps[at].place.as_ref();
            let first_change = || {
                let is_change = |at: &usize| steps[*at].changes(object);
                let changing: Vec<usize> =
                    self.meanwhile.iter().copied().filter(is_change).collect();
                // Every thread that takes a lock changes it. A change at another line than the
                // delayed thread's own access is more informative.
                let other = before.and_then(|(_, before)| {
                    changing.iter().find(|at| line(**at) != line(before)).copied()
                });
                other.or_else(|| changing.first().copied())
            };
            let any = || self.meanwhile.iter().copied().find(|&at| steps[at].touches(object));
            let (meanwhile, is_changed) = match first_change() {
                Some(at) => (at, true),
                None => (any()?, false),
            };
            let changes =
                |at: Option<(usize, usize)>| at.is_some_and(|(_, at)| steps[at].changes(object));
            let rank = match (before, after) {
                (Some(_), Some(_)) if is_changed => 0,
                (_, Some(_)) if is_changed || changes(after) => 1,
                (Some(_), _) if is_changed || changes(before) => 2,
                _ => return None,
            };
            let far = |at: Option<(usize, usize)>| at.map_or(REACH, |(far, _)| far);
            let conflict = Conflict {
                object,
                before: before.map(|(_, at)| at),
                delay: self.delay,
                meanwhile,
                after: after.map(|(_, at)| at),
            };
            let ThreadStep { allocates, .. } = steps[meanwhile];
            let key = (allocates, rank, steps[meanwhile].drops(), far(after), far(before));
            Some((key, conflict))
        });
        found.min_by_key(|(key, _)| *key).map(|(_, conflict)| conflict)
    }
}
