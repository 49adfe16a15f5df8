//! The processors of this machine, one for each process that runs at the same time.
//!
//! The threads of a scheduled test share one, and two such tests would wait for each other on the
//! same while another one is idle.

use std::process;
use std::sync::{LazyLock, Mutex, PoisonError};

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

/// Those of this machine, for all launchers.
static PROCESSORS: LazyLock<Processors> = LazyLock::new(Processors::of_system);

/// Takes the processor that the fewest processes use which were started here.
pub(super) fn take() -> Taken<'static> {
    PROCESSORS.take()
}

/// The processors that this process may use, and how many processes run on each by our choice.
#[derive(Debug)]
struct Processors(Mutex<Vec<(u32, usize)>>);

/// A processor, until it is dropped.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    from: &'a Processors,
    number: Option<u32>,
}

impl Processors {
    /// Those that the system gives the first thread of this process; none where that is not known.
    fn of_system() -> Self {
        // Another thread may have given itself fewer, to try a test on one.
        let first = i32::try_from(process::id()).map(Pid::from_raw);
        let set = first.ok().and_then(|first| sched_getaffinity(first).ok());
        let numbers = (0..CpuSet::count()).filter(|number| {
            let set = set.as_ref();
            set.is_some_and(|set| set.is_set(*number).unwrap_or(false))
        });
        let numbers = numbers.filter_map(|number| u32::try_from(number).ok());
        let mut numbers: Vec<u32> = numbers.collect();
        // Several of us at once, each with one process, would all take the first.
        let offset = process::id() as usize % numbers.len().max(1);
        numbers.rotate_left(offset);
        Self::new(numbers)
    }

    fn new(numbers: impl IntoIterator<Item = u32>) -> Self {
        let unused = numbers.into_iter().map(|number| (number, 0));
        Processors(Mutex::new(unused.collect()))
    }

    fn take(&self) -> Taken<'_> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = all.iter_mut().min_by_key(|(_, users)| *users).map(|(number, users)| {
            *users += 1;
            *number
        });
        Taken { from: self, number }
    }
}

impl Taken<'_> {
    /// Its number in the system.
    pub(super) const fn number(&self) -> Option<u32> {
        self.number
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut all = self.from.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = all.iter_mut();
        if let Some((_, users)) = all.find(|(number, _)| Some(*number) == self.number) {
            *users -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_at_the_same_time_have_different_processors_while_there_are_enough() {
        let processors = Processors::new([2, 5]);
        let (first, second) = (processors.take(), processors.take());
        assert_eq!([first.number(), second.number()], [Some(2), Some(5)]);
        drop(second);
        let third = processors.take();
        assert_eq!(third.number(), Some(5));
        assert_eq!(processors.take().number(), Some(2));
    }

    #[test]
    fn nothing_is_taken_where_no_processor_is_known() {
        assert_eq!(Processors::new([]).take().number(), None);
    }
}
