//! Shared places that a thread has read and not written since. A later write there may depend on
//! what the thread has read.
//!
//! A write by another thread in between violates atomicity if both were meant as one step (*check
//! then act*). Such pairs are a small part of a program's operations, so seeds that delay threads
//! at few operations [aim](super::policy) at them. Park, Lu and Zhou did so with the pairs of an
//! earlier run ("Exposing atomicity violation bugs from their hiding places", 2009). Places are
//! only compared with each other, so their addresses do not affect the choices.

use std::cell::Cell;

/// Number of places that are kept, the most recent ones.
const KEPT: usize = 16;

/// Places that a thread has read most recently.
#[derive(Debug, Default)]
pub struct Reads {
    places: [Cell<usize>; KEPT],
    oldest: Cell<usize>,
}

impl Reads {
    /// Returns no places.
    pub const fn new() -> Self {
        Reads { places: [const { Cell::new(0) }; KEPT], oldest: Cell::new(0) }
    }

    /// Keeps a place that is read. Cold, because only runs of few seeds come here, and the others
    /// must not pay for it.
    #[cold]
    #[inline(never)]
    pub fn keep(&self, place: usize) {
        if self.find(place).is_none() {
            let oldest = self.oldest.get();
            self.places[oldest].set(place);
            self.oldest.set((oldest + 1) % KEPT);
        }
    }

    /// Forgets a place that is written, and returns whether it was kept.
    #[cold]
    #[inline(never)]
    pub fn forget(&self, place: usize) -> bool {
        let kept = self.find(place);
        kept.inspect(|kept| kept.set(0)).is_some()
    }

    /// Forgets all places.
    pub fn clear(&self) {
        for place in &self.places {
            place.set(0);
        }
    }

    fn find(&self, place: usize) -> Option<&Cell<usize>> {
        self.places.iter().find(|kept| kept.get() == place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_kept_from_when_it_is_read_until_it_is_written() {
        let reads = Reads::new();
        assert!(!reads.forget(8));
        reads.keep(8);
        reads.keep(16);
        reads.keep(8);
        assert!(reads.forget(8) && !reads.forget(8));
        assert!(reads.forget(16));
    }

    #[test]
    fn of_many_places_the_last_ones_are_kept() {
        let reads = Reads::new();
        for place in 1..=KEPT + 2 {
            reads.keep(place);
        }
        let kept = (1..=KEPT + 2).filter(|&place| reads.forget(place));
        assert!(kept.eq(3..=KEPT + 2));
    }
}
