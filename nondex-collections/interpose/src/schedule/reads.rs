//! What a thread has read of what threads share, and not written since: what it writes there next
//! may follow from what it read.
//!
//! If another thread writes in between, that is a violation of atomicity where both were meant as
//! one step (*check then act*). Such pairs are a small part of a program's operations, so seeds
//! that delay threads at few of them [aim](super::choices) there. The same was done with the pairs
//! of an earlier run by Park, Lu and Zhou ("Exposing atomicity violation bugs from their hiding
//! places", 2009). Places are only compared with each other: where they lie does not matter.

use ::std::cell::Cell;

/// Number of places that are kept, the last ones.
const KEPT: usize = 16;

/// The places that a thread has read last.
pub(super) struct Reads {
    places: [Cell<usize>; KEPT],
    oldest: Cell<usize>,
}

impl Reads {
    pub(super) const fn new() -> Self {
        Reads { places: [const { Cell::new(0) }; KEPT], oldest: Cell::new(0) }
    }

    /// Keeps a place that is read. Runs of few seeds come here, and the others are not to pay for
    /// it.
    #[cold]
    #[inline(never)]
    pub(super) fn keep(&self, place: usize) {
        if self.find(place).is_none() {
            let oldest = self.oldest.get();
            self.places[oldest].set(place);
            self.oldest.set((oldest + 1) % KEPT);
        }
    }

    /// Forgets a place that is written; whether it was kept.
    #[cold]
    #[inline(never)]
    pub(super) fn forget(&self, place: usize) -> bool {
        let kept = self.find(place);
        kept.inspect(|kept| kept.set(0)).is_some()
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
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
