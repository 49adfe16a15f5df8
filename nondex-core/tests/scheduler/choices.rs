//! Choices of a simulated run: where a thread is delayed, how late it wakes, and whom a wake-up
//! reaches. A seed draws them by its policy.

use nondex_core::Level;
use nondex_core::choice::hold::longest;
use nondex_core::choice::stops::Stop;
use nondex_core::hash::mix;
use nondex_core::scheduler::Operation;
use nondex_core::scheduler::policy::{Policy, Purpose, is_even, length_word, run_key, word};

/// A draw: the thread, the number of its operation, and the result.
pub(super) type Draw = (usize, u64, u64);

/// Source of the choices of a run.
#[derive(Clone, Debug)]
pub(super) enum Choices {
    /// The canonical order.
    Canonical,
    /// All choices are drawn, except for one of this thread at this operation.
    Seed(u64, Option<(usize, u64)>),
    /// A systematic run with these stops.
    Stops(Vec<Stop>),
}

impl Choices {
    /// Returns the hashes of an event of a thread, for the choice and for its length.
    fn words(&self, thread: usize, purpose: Purpose, number: u64) -> Option<(u64, u64)> {
        let Choices::Seed(seed, _) = self else { return None };
        let (run, key) = (run_key(*seed, Level::Std), mix(thread as u64 + 1));
        Some((word(run, key, purpose, number), length_word(run, key, purpose, number)))
    }

    /// Returns how long a thread is delayed at an operation, in nanoseconds.
    pub(super) fn hold(
        &self,
        thread: usize,
        operation: Operation,
        number: u64,
        draws: &mut Vec<Draw>,
    ) -> u64 {
        let Choices::Seed(seed, off) = self else { return 0 };
        let Some((word, length)) = self.words(thread, Purpose::Operation, number) else { return 0 };
        let policy = Policy::of_seed(*seed);
        if !policy.chances.fire(word, operation.class(), number, 0) {
            return 0;
        }
        let most = policy.longest().min(longest(Level::Std));
        let hold = (100 << (length % 16)).min(most);
        draws.push((thread, number, hold));
        if *off == Some((thread, number)) { 0 } else { hold }
    }

    /// Returns by how much a wait is prolonged, in nanoseconds.
    pub(super) fn late(&self, thread: usize, number: u64) -> u64 {
        let words = self.words(thread, Purpose::Time, number);
        words.map_or(0, |(word, length)| if is_even(word) { 0 } else { length % 20_000 })
    }

    /// Returns how many of `waiting` threads a wake-up skips.
    pub(super) fn skipped(&self, thread: usize, number: u64, waiting: usize) -> usize {
        match self.words(thread, Purpose::Order, number) {
            Some((word, _)) if waiting > 1 && is_even(word) => mix(word) as usize % waiting,
            _ => 0,
        }
    }
}
