//! Workers that share a list of work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does this with each, up to `jobs` at the same time: the results, in the order of the work. The
/// first `None` ends it: work that was begun is finished, and nothing more is begun.
///
/// `one` also gets the number of its worker, from 0.
///
/// # Panics
/// When `one` panics.
pub fn each<W: Sync, T: Send>(
    jobs: usize,
    work: &[W],
    one: impl Fn(usize, &W) -> Option<T> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<(usize, T)>> = Mutex::default();
    let worker = |place: usize| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(found) = work.get(number).map(|work| one(place, work)) else {
                break;
            };
            let Some(found) = found else {
                next.store(work.len(), Ordering::Relaxed);
                break;
            };
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.push((number, found));
        }
    };
    thread::scope(|scope| {
        for place in 0..jobs.min(work.len()) {
            let worker = &worker;
            scope.spawn(move || worker(place));
        }
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

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
}
