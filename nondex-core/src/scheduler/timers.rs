//! Threads that wait for a time.

use crate::hidden;

use super::thread::{ThreadId, Threads};

/// Threads that wait for a time: a binary heap in which each thread knows its index.
#[derive(Debug)]
pub(super) struct Timers(hidden::Vec<ThreadId>);

impl Timers {
    pub(super) const fn new() -> Self {
        Timers(hidden::vec())
    }

    /// Allocates memory for a number of threads.
    pub(super) fn reserve(&mut self, threads: usize) {
        self.0.reserve(threads.saturating_sub(self.0.len()));
    }

    pub(super) fn first(&self) -> Option<ThreadId> {
        self.0.first().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ThreadId> {
        self.0.iter().copied()
    }

    pub(super) fn insert(
        &mut self,
        threads: &mut Threads,
        id: ThreadId,
        deadline: u64,
        order: u64,
    ) {
        self.0.push(id);
        let thread = &mut threads[id];
        (thread.deadline, thread.order, thread.timer) = (deadline, order, self.0.len());
        self.up(threads, self.0.len() - 1);
    }

    pub(super) fn remove(&mut self, threads: &mut Threads, id: ThreadId) {
        let Some(at) = threads[id].timer.checked_sub(1) else { return };
        threads[id].timer = 0;
        let last = self.0.len() - 1;
        self.0.swap(at, last);
        self.0.pop();
        if at < last {
            threads[self.0[at]].timer = at + 1;
            self.up(threads, at);
            self.down(threads, at);
        }
    }

    fn is_before(&self, threads: &Threads, a: usize, b: usize) -> bool {
        let rank = |at: usize| {
            let thread = &threads[self.0[at]];
            (thread.deadline, thread.order)
        };
        rank(a) < rank(b)
    }

    fn exchange(&mut self, threads: &mut Threads, a: usize, b: usize) {
        self.0.swap(a, b);
        threads[self.0[a]].timer = a + 1;
        threads[self.0[b]].timer = b + 1;
    }

    fn up(&mut self, threads: &mut Threads, mut at: usize) {
        while at > 0 && self.is_before(threads, at, (at - 1) / 2) {
            self.exchange(threads, at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn down(&mut self, threads: &mut Threads, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.0.len() && self.is_before(threads, child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.exchange(threads, at, least);
            at = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    #[test]
    fn timers_come_in_the_order_of_their_deadlines_also_after_some_were_taken_away() {
        let mut threads = Threads::new();
        let mut timers = Timers::new();
        let ids: [ThreadId; 100] = std::array::from_fn(|_| threads.add());
        for (number, id) in ids.iter().enumerate() {
            timers.insert(&mut threads, *id, hash::mix(number as u64) % 16, number as u64);
        }
        for id in ids.iter().step_by(3) {
            timers.remove(&mut threads, *id);
            timers.remove(&mut threads, *id);
        }
        let mut before = (0, 0);
        let mut found = 0;
        while let Some(first) = timers.first() {
            let rank = (threads[first].deadline, threads[first].order);
            assert!(before <= rank);
            before = rank;
            found += 1;
            timers.remove(&mut threads, first);
        }
        assert_eq!(found, 66);
    }
}
