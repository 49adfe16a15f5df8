//! Assignment of this machine's processors to processes that run concurrently.
//!
//! The threads of a scheduled test share one processor. Two such tests on the same processor would
//! wait for each other while another one is idle.

use std::process;
use std::sync::{LazyLock, Mutex};

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::locked::Locked;

/// Processors of this machine, shared by all launchers.
static PROCESSORS: LazyLock<Processors> = LazyLock::new(Processors::of_system);

/// Takes the processor with the fewest processes started by this program.
pub(super) fn take() -> Taken<'static> {
    PROCESSORS.take()
}

/// Processors that this process may use, each with the number of processes assigned to it.
#[derive(Debug)]
struct Processors(Mutex<Vec<(u32, usize)>>);

/// Processor that is assigned until this is dropped.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    from: &'a Processors,
    number: Option<u32>,
}

impl Processors {
    /// Returns the processors that the system allows the first thread of this process, or none if
    /// that is unknown.
    fn of_system() -> Self {
        // Another thread may have restricted itself to one processor, to run a test there.
        let first = i32::try_from(process::id()).map(Pid::from_raw);
        let set = first.ok().and_then(|first| sched_getaffinity(first).ok());
        let is_allowed =
            |number: &usize| set.as_ref().is_some_and(|set| set.is_set(*number).unwrap_or(false));
        let mut numbers: Vec<u32> = (0..CpuSet::count())
            .filter(is_allowed)
            .filter_map(|number| u32::try_from(number).ok())
            .collect();
        // Several instances of this program, each with one process, would otherwise all take the
        // first processor.
        let offset = process::id() as usize % numbers.len().max(1);
        numbers.rotate_left(offset);
        Self::new(numbers)
    }

    fn new(numbers: impl IntoIterator<Item = u32>) -> Self {
        let unused = numbers.into_iter().map(|number| (number, 0));
        Processors(Mutex::new(unused.collect()))
    }

    fn take(&self) -> Taken<'_> {
        let mut all = self.0.locked();
        let number = all.iter_mut().min_by_key(|(_, users)| *users).map(|(number, users)| {
            *users += 1;
            *number
        });
        Taken { from: self, number }
    }
}

impl Taken<'_> {
    /// Returns the processor's number in the system, if one is known.
    pub(super) const fn number(&self) -> Option<u32> {
        self.number
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut all = self.from.0.locked();
        let own = all.iter_mut().find(|(number, _)| Some(*number) == self.number);
        if let Some((_, users)) = own {
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
