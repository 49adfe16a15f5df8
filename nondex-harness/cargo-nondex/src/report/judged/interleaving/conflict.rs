//! What a delayed thread and another one do to the same thing.

use std::collections::BTreeSet;

use super::step::{Delay, Object, Step};

/// How many steps of the delayed thread, on each side of its delay, are looked at for what others
/// do meanwhile.
const REACH: usize = 12;

/// The steps around a delay: those of its thread from the nearest one on, those of the threads that
/// it starts afterwards, and those of the others while it lasts.
pub(super) struct Around {
    pub(super) delay: usize,
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
    /// As `after`, with the threads that are late because this one starts them late.
    with_started: Vec<usize>,
    pub(super) meanwhile: Vec<usize>,
}

/// How many steps are shown of what both threads do to the same thing afterwards.
const REST: usize = 3;

impl Conflict {
    /// What both threads do to the same thing.
    pub(super) fn steps(&self) -> impl Iterator<Item = usize> {
        [self.before, Some(self.meanwhile), self.after].into_iter().flatten()
    }

    /// The sleep that ends while the delay lasts, from which the other thread comes to its step.
    pub(super) fn sleep(&self, steps: &[Step]) -> Option<usize> {
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

    /// What the two threads do next to the same thing, once the delayed one has gone on.
    pub(super) fn rest(&self, steps: &[Step]) -> impl Iterator<Item = usize> {
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

/// A conflict among all steps.
pub(super) struct Conflict {
    pub(super) object: Object,
    pub(super) before: Option<usize>,
    pub(super) delay: usize,
    pub(super) meanwhile: usize,
    pub(super) after: Option<usize>,
}

impl Around {
    pub(super) fn of(steps: &[Step], delay: usize) -> Self {
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
        // One that wakes late is waited for no longer than it is late.
        let since = match steps[delay].delay {
            Some(Delay { length, is_late: true }) => {
                steps.get(end).map_or(0, |next| next.time.saturating_sub(length))
            }
            _ => 0,
        };
        let is_others = |at: &usize| {
            steps[*at].thread != thread && steps[*at].delay.is_none() && steps[*at].time >= since
        };
        Around {
            delay,
            before: (0..delay).rev().filter(is_own).take(REACH).collect(),
            with_started: (end..steps.len()).filter(is_late).take(REACH).collect(),
            meanwhile: (delay + 1..end).filter(is_others).collect(),
            after,
        }
    }

    /// What the delayed thread and another one do to the same thing: best if the delayed one does
    /// something on both sides of its delay, and the nearer the better. That the other one drops
    /// the thing, such as its end of a channel, explains less than that it uses one.
    pub(super) fn conflict(&self, steps: &[Step]) -> Option<Conflict> {
        let objects: BTreeSet<Object> =
            self.meanwhile.iter().flat_map(|&at| steps[at].objects.keys().copied()).collect();
        let found = objects.into_iter().filter_map(|object| {
            let first = |part: &[usize]| {
                let mut part = part.iter().enumerate();
                part.find(|(_, at)| steps[**at].touches(object)).map(|(far, at)| (far, *at))
            };
            let before = first(&self.before);
            // Where it only starts who uses the thing, its own use may come after all of theirs.
            let after = if before.is_some() { &self.after } else { &self.with_started };
            let after = first(after);
            let line = |at: usize| steps[at].place.as_ref();
            let changing = || {
                let changing = self.meanwhile.iter().filter(|at| steps[**at].changes(object));
                let changing: Vec<usize> = changing.copied().collect();
                // A lock is changed by whoever takes it; what is done under it the second time is
                // news.
                let other = before.and_then(|(_, before)| {
                    changing.iter().find(|at| line(**at) != line(before)).copied()
                });
                other.or_else(|| changing.first().copied())
            };
            let any = || self.meanwhile.iter().copied().find(|&at| steps[at].touches(object));
            let (meanwhile, is_changed) = match changing() {
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
            let key = (rank, steps[meanwhile].drops(), far(after), far(before));
            Some((key, conflict))
        });
        found.min_by_key(|(key, _)| *key).map(|(_, conflict)| conflict)
    }
}
