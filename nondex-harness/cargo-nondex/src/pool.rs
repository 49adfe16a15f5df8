//! Pool of workers that share a list of work.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use crate::judge::{Required, Slots};
use crate::locked::Locked;

/// Calls `one` with each item of `work`, up to `jobs` at the same time. Returns the results in the
/// order of the work. The first `None` ends the pool: work that has begun is finished, and no more
/// is begun.
///
/// `one` also gets the number of its worker, from 0.
///
/// # Panics
/// Panics if `one` panics.
pub fn each<W: Sync, T: Send>(
    jobs: usize,
    work: &[W],
    one: impl Fn(usize, &W) -> Option<T> + Sync,
) -> Vec<T> {
    each_within(jobs, work, |_| Required::default(), one)
}

/// Does the same as [`each`], but work may take several of the `jobs`, or exclude other work.
///
/// # Panics
/// Panics if `one` panics.
pub fn each_within<W: Sync, T: Send>(
    jobs: usize,
    work: &[W],
    required: impl Fn(&W) -> Required,
    one: impl Fn(usize, &W) -> Option<T> + Sync,
) -> Vec<T> {
    let list = List {
        state: Mutex::new(ListState { left: (0..work.len()).collect(), slots: Slots::new(jobs) }),
        changed: Condvar::new(),
        required: work.iter().map(required).collect(),
    };
    let made: Mutex<Vec<(usize, T)>> = Mutex::default();
    let work_off = |worker: usize| {
        while let Some(taken) = list.take() {
            let Some(found) = one(worker, &work[taken.number]) else {
                list.state.locked().left.clear();
                break;
            };
            made.locked().push((taken.number, found));
        }
    };
    thread::scope(|scope| {
        for worker in 0..jobs.min(work.len()) {
            let work_off = &work_off;
            scope.spawn(move || work_off(worker));
        }
    });
    let mut made = made.unlocked();
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, found)| found).collect()
}

/// Remaining work, and the limits on how much of it runs concurrently.
struct List {
    state: Mutex<ListState>,
    /// Signalled when an item has ended.
    changed: Condvar,
    /// Slots that each item requires.
    required: Vec<Required>,
}

struct ListState {
    /// Numbers of the remaining items.
    left: VecDeque<usize>,
    slots: Slots,
}

impl List {
    /// Takes the first item that fits, and waits while none does. Returns `None` if none is left.
    fn take(&self) -> Option<Taken<'_>> {
        let mut state = self.state.locked();
        while !state.left.is_empty() {
            let ListState { left, slots } = &mut *state;
            let first = left.iter().position(|number| slots.take(&self.required[*number]));
            if let Some(number) = first.and_then(|first| left.remove(first)) {
                return Some(Taken { list: self, number });
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }
}

/// Item in progress. It ends when this is dropped, so that a panic releases its slots.
struct Taken<'l> {
    list: &'l List,
    number: usize,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let required = &self.list.required[self.number];
        self.list.state.locked().slots.release(required);
        self.list.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};

    use super::*;
    use crate::judge::slots::TestGroup;

    #[test]
    fn results_have_the_order_of_the_work_whichever_ends_first() {
        let both = Barrier::new(2);
        let work = [30, 0];
        let made = each(2, &work, |_, delay| {
            both.wait();
            thread::sleep(std::time::Duration::from_millis(*delay));
            Some(*delay)
        });
        assert_eq!(made, work);
    }

    #[test]
    fn nothing_is_begun_after_the_first_that_gives_nothing() {
        let made = each(1, &[1, 2, 3, 4], |place, number| {
            assert_eq!(place, 0);
            (*number != 3).then_some(*number)
        });
        assert_eq!(made, [1, 2]);
        assert_eq!(each(3, &[], |_, _: &u8| Some(())), []);
    }
    #[test]
    fn work_that_excludes_other_work_never_runs_with_it_and_other_work_does() {
        let group = Arc::new(TestGroup { name: "port".to_owned(), max_threads: NonZeroUsize::MIN });
        let in_group = || Required::new(NonZeroUsize::MIN, Some(Arc::clone(&group)));
        let running = AtomicUsize::new(0);
        let both = Barrier::new(2);
        let work = [Some(0), Some(1), Some(2), None];
        let required = |work: &Option<usize>| work.map_or_else(Required::default, |_| in_group());
        let made = each_within(2, &work, required, |_, number| {
            match number {
                // The last item begins although two others come before it.
                None | Some(0) => _ = both.wait(),
                Some(_) => {}
            }
            let others = number.map(|_| running.fetch_add(1, Ordering::Relaxed));
            assert_eq!(others.unwrap_or(0), 0);
            number.inspect(|_| _ = running.fetch_sub(1, Ordering::Relaxed));
            Some(*number)
        });
        assert_eq!(made, work);
    }
}
