//! Detection of a recurring state in a sequence of states.

/// Sequence of states, in constant space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct States {
    /// State with which the next ones are compared.
    known: Option<u64>,
    seen: u32,
    /// Number of states at which the compared one is replaced.
    replaced_at: u32,
    has_come_again: bool,
    recurs: bool,
}

impl States {
    pub(super) const fn new() -> Self {
        States { known: None, seen: 0, replaced_at: 0, has_come_again: false, recurs: false }
    }

    /// Returns whether a state recurred, among about the last half of those that were seen.
    pub(super) const fn recurs(self) -> bool {
        self.recurs
    }

    /// Takes the next state. The state for comparison is replaced each time that the number of
    /// states has doubled, so any cycle is found eventually. This is the cycle detection of Brent,
    /// "An improved Monte Carlo factorization algorithm", 1980.
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

    /// Returns the number of states after which a recurrence is reported.
    fn seen(state: impl Fn(u32) -> u32) -> Option<u32> {
        let mut states = States::new();
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
        let mut states = States::new();
        (0..64).for_each(|_| states.see(7));
        assert!(states.recurs());
        (0..200).for_each(|number| states.see(1_000 + number));
        assert!(!states.recurs());
    }
}
