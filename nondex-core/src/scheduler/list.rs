//! Lists of threads, linked through the threads themselves.

use super::thread::{Place, ThreadId, Threads};

/// Doubly linked list of threads. A thread is in at most one list.
#[derive(Debug)]
pub(super) struct List {
    first: Option<ThreadId>,
    last: Option<ThreadId>,
}

impl List {
    pub(super) const fn new() -> Self {
        List { first: None, last: None }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) const fn first(&self) -> Option<ThreadId> {
        self.first
    }

    pub(super) fn push(&mut self, threads: &mut Threads, id: ThreadId, place: Place) {
        let thread = &mut threads[id];
        thread.place = place;
        thread.before = self.last;
        thread.after = None;
        match self.last {
            Some(last) => threads[last].after = Some(id),
            None => self.first = Some(id),
        }
        self.last = Some(id);
    }

    pub(super) fn push_front(&mut self, threads: &mut Threads, id: ThreadId, place: Place) {
        let thread = &mut threads[id];
        thread.place = place;
        thread.before = None;
        thread.after = self.first;
        match self.first {
            Some(first) => threads[first].before = Some(id),
            None => self.last = Some(id),
        }
        self.first = Some(id);
    }

    pub(super) fn remove(&mut self, threads: &mut Threads, id: ThreadId) {
        let thread = &mut threads[id];
        thread.place = Place::Nowhere;
        let (before, after) = (thread.before, thread.after);
        match before {
            Some(before) => threads[before].after = after,
            None => self.first = after,
        }
        match after {
            Some(after) => threads[after].before = before,
            None => self.last = before,
        }
    }

    pub(super) fn pop(&mut self, threads: &mut Threads) -> Option<ThreadId> {
        let first = self.first?;
        self.remove(threads, first);
        Some(first)
    }

    /// Iterates over all threads from the front.
    pub(super) fn iter<'a>(
        &self,
        threads: &'a Threads,
    ) -> impl Iterator<Item = ThreadId> + use<'a> {
        std::iter::successors(self.first, |id| threads[*id].after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_order() {
        let mut threads = Threads::new();
        let mut list = List::new();
        let [a, b, c, d] = std::array::from_fn(|_| threads.add());
        for id in [a, b, c] {
            list.push(&mut threads, id, Place::Ready);
        }
        list.push_front(&mut threads, d, Place::Ready);
        list.remove(&mut threads, b);
        assert!(list.iter(&threads).eq([d, a, c]));
        let order: [_; 4] = std::array::from_fn(|_| list.pop(&mut threads));
        assert_eq!(order, [Some(d), Some(a), Some(c), None]);
        assert!(list.is_empty());
    }
}
