//! Intrusive lists and timers of threads.

use nondex_core::hidden;

use super::thread::{Place, Ref};

/// Doubly linked list of threads. A thread is in at most one list.
pub(super) struct List {
    first: Option<Ref>,
    last: Option<Ref>,
}

impl List {
    pub(super) const fn new() -> Self {
        List { first: None, last: None }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn push(&mut self, thread: Ref, place: Place) {
        thread.place.set(place);
        thread.before.set(self.last);
        thread.after.set(None);
        match self.last {
            Some(last) => last.after.set(Some(thread)),
            None => self.first = Some(thread),
        }
        self.last = Some(thread);
    }

    pub(super) fn push_front(&mut self, thread: Ref, place: Place) {
        thread.place.set(place);
        thread.after.set(self.first);
        thread.before.set(None);
        match self.first {
            Some(first) => first.before.set(Some(thread)),
            None => self.last = Some(thread),
        }
        self.first = Some(thread);
    }

    pub(super) fn remove(&mut self, thread: Ref) {
        match thread.before.get() {
            Some(before) => before.after.set(thread.after.get()),
            None => self.first = thread.after.get(),
        }
        match thread.after.get() {
            Some(after) => after.before.set(thread.before.get()),
            None => self.last = thread.before.get(),
        }
        thread.place.set(Place::Nowhere);
    }

    pub(super) fn pop(&mut self) -> Option<Ref> {
        let first = self.first?;
        self.remove(first);
        Some(first)
    }

    /// Iterates over all threads from the front. The last yielded thread may be removed meanwhile,
    /// since its successor is then already known.
    pub(super) fn iter(&self) -> impl Iterator<Item = Ref> + use<> {
        ::std::iter::successors(self.first, |thread| thread.after.get())
    }
}

/// Threads that wait for a time: a binary heap in which each thread knows its index.
pub(super) struct Timers(hidden::Vec<Ref>);

impl Timers {
    pub(super) const fn new() -> Self {
        Timers(hidden::vec())
    }

    /// Allocates memory for a number of threads.
    pub(super) fn reserve(&mut self, threads: usize) {
        self.0.reserve(threads.saturating_sub(self.0.len()));
    }

    pub(super) fn first(&self) -> Option<Ref> {
        self.0.first().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Ref> {
        self.0.iter().copied()
    }

    pub(super) fn insert(&mut self, thread: Ref, deadline: u64, order: u64) {
        thread.deadline.set(deadline);
        thread.order.set(order);
        self.0.push(thread);
        thread.timer.set(self.0.len());
        self.up(self.0.len() - 1);
    }

    pub(super) fn remove(&mut self, thread: Ref) {
        let Some(at) = thread.timer.get().checked_sub(1) else { return };
        thread.timer.set(0);
        let last = self.0.len() - 1;
        self.0.swap(at, last);
        self.0.pop();
        if at < last {
            self.0[at].timer.set(at + 1);
            self.up(at);
            self.down(at);
        }
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        let rank = |at: usize| (self.0[at].deadline.get(), self.0[at].order.get());
        rank(a) < rank(b)
    }

    fn exchange(&mut self, a: usize, b: usize) {
        self.0.swap(a, b);
        self.0[a].timer.set(a + 1);
        self.0[b].timer.set(b + 1);
    }

    fn up(&mut self, mut at: usize) {
        while at > 0 && self.is_before(at, (at - 1) / 2) {
            self.exchange(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.0.len() && self.is_before(child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.exchange(at, least);
            at = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::hash;

    use super::super::thread::Thread;
    use super::*;

    #[test]
    fn timers_come_in_the_order_of_their_deadlines_also_after_some_were_taken_away() {
        let mut timers = Timers::new();
        let threads: Vec<Ref> = (0..100).map(|_| Thread::new()).collect();
        for (number, thread) in threads.iter().enumerate() {
            timers.insert(thread, hash::mix(number as u64) % 16, number as u64);
        }
        for thread in threads.iter().step_by(3) {
            timers.remove(thread);
            timers.remove(thread);
        }
        let mut found = Vec::new();
        while let Some(first) = timers.first() {
            found.push((first.deadline.get(), first.order.get()));
            timers.remove(first);
        }
        assert_eq!(found.len(), 66);
        assert!(found.is_sorted());
    }

    #[test]
    fn a_list_keeps_its_order() {
        let mut list = List::new();
        let threads: Vec<Ref> = (0..4).map(|_| Thread::new()).collect();
        for thread in &threads[..3] {
            list.push(thread, Place::Ready);
        }
        list.push_front(threads[3], Place::Ready);
        list.remove(threads[1]);
        let order: Vec<_> = ::std::iter::from_fn(|| list.pop()).collect();
        let expected = [threads[3], threads[0], threads[2]];
        assert!(order.iter().zip(expected).all(|(a, b)| a.is(b)) && order.len() == 3);
        assert!(list.is_empty());
    }

    #[test]
    fn all_threads_of_a_list_are_given_out_though_each_is_taken_away_then() {
        let mut list = List::new();
        for _ in 0..3 {
            list.push(Thread::new(), Place::Polls);
        }
        let taken = list.iter().inspect(|thread| list.remove(thread)).count();
        assert!(taken == 3 && list.is_empty());
    }
}
