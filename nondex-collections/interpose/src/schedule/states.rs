//! States that follow each other, and whether they come again.

/// States that were seen one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct States {
    /// One that the next ones are compared with.
    known: Option<u64>,
    seen: u32,
    /// How many are seen when another one is compared with.
    replaced_at: u32,
    has_come_again: bool,
    recurs: bool,
}

impl States {
    /// Whether one came again, among about the last half of those that were seen.
    pub(super) const fn recurs(self) -> bool {
        self.recurs
    }

    /// Takes the next one. The one that it is compared with is replaced each time that twice as
    /// many were seen, so that any cycle is found in the end (Brent, "An improved Monte Carlo
    /// factorization algorithm", 1980).
    pub(super) fn see(&mut self, state: u64) {
        self.has_come_again |= self.known == Some(state);
        self.seen += 1;
        if self.seen >= self.replaced_at {
            self.recurs = self.has_come_again;
            self.has_come_again = false;
            self.known = Some(state);
            self.replaced_at = 2 * self.seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many states it is known that one came again.
    fn seen(state: impl Fn(u32) -> u32) -> Option<u32> {
        let mut states = States::default();
        (0..10_000).find(|&number| {
            states.see(state(number).into());
            states.recurs()
        })
    }

    #[test]
    fn a_state_that_comes_again_is_seen_and_a_count_is_not() {
        for (before, period) in [(0, 1), (0, 2), (5, 3), (100, 17), (1_000, 128)] {
            let state =
                |number| if number < before { number } else { before + (number - before) % period };
            let number = seen(state).expect("it comes again");
            assert!(number < 8 * (before + period), "{before} {period} {number}");
        }
        assert_eq!(seen(|number| number), None);
    }

    #[test]
    fn who_counts_in_the_end_does_not_recur() {
        let mut states = States::default();
        (0..64).for_each(|_| states.see(7));
        assert!(states.recurs());
        (0..200).for_each(|number| states.see(1_000 + number));
        assert!(!states.recurs());
    }
}
