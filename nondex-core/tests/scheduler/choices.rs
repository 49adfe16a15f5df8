//! Choices of a simulated run: where a thread is delayed, how late it wakes, and whom a wake-up
//! reaches.

use nondex_core::choice::stops::Stop;
use nondex_core::hash::mix;

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
    /// Returns how long a thread is delayed at an operation, in nanoseconds.
    pub(super) fn hold(&self, thread: usize, number: u64, draws: &mut Vec<Draw>) -> u64 {
        let Choices::Seed(seed, off) = self else { return 0 };
        let word = mix(mix(*seed) ^ mix(thread as u64) ^ number);
        if word % 4 != 0 {
            return 0;
        }
        let hold = 100 << ((word >> 32) % 16);
        draws.push((thread, number, hold));
        if *off == Some((thread, number)) { 0 } else { hold }
    }

    /// Returns by how much a wait is prolonged, in nanoseconds.
    pub(super) fn late(&self, thread: usize, number: u64) -> u64 {
        match self {
            Choices::Seed(seed, _) => mix(seed ^ mix(thread as u64 ^ number)) % 3 * 10_000,
            Choices::Canonical | Choices::Stops(_) => 0,
        }
    }

    /// Returns how many of `waiting` threads a wake-up skips.
    pub(super) fn skipped(&self, thread: usize, number: u64, waiting: usize) -> usize {
        match self {
            Choices::Seed(seed, _) if waiting > 1 => {
                mix(seed ^ mix(thread as u64) ^ mix(number)) as usize % waiting
            }
            _ => 0,
        }
    }
}
