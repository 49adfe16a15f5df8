//! Durations of the steps of a search for test orders.
//!
//! Such a search runs in real time and partly one process at a time, so it may take far longer than
//! the tests. The report then shows for what.

use std::time::{Duration, Instant};

/// Minimum duration of a search whose steps are reported.
const LONG: Duration = Duration::from_secs(60);

/// Number of steps that are reported: those that took longest.
const SHOWN: usize = 4;

/// Steps of the search in one binary.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Name and start of the current step.
    current: Option<(&'static str, Instant)>,
    /// Steps that ended, and their durations.
    ended: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Ends the current step, and begins the one with this name.
    pub(super) fn begin(&mut self, step: &'static str) {
        self.end();
        self.current = Some((step, Instant::now()));
    }

    fn end(&mut self) {
        if let Some((step, start)) = self.current.take() {
            self.add(step, start.elapsed());
        }
    }

    fn add(&mut self, step: &'static str, took: Duration) {
        match self.ended.iter_mut().find(|(known, _)| *known == step) {
            Some((_, total)) => *total += took,
            None => self.ended.push((step, took)),
        }
    }

    /// Ends the search. Returns what it took, for the binary with this id, if that was long.
    pub(super) fn finish(&mut self, binary: &str) -> Option<String> {
        self.end();
        let mut steps = std::mem::take(&mut self.ended);
        let total: Duration = steps.iter().map(|(_, took)| *took).sum();
        if total < LONG {
            return None;
        }
        steps.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
        let shown = |(step, took): &(&str, Duration)| format!("{} s for {step}", took.as_secs());
        let shown: Vec<String> = steps.iter().take(SHOWN).map(shown).collect();
        Some(format!("the orders of `{binary}` took {} s: {}", total.as_secs(), shown.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_steps_of_a_long_search_are_reported() {
        let mut steps = Steps::default();
        let searched = |steps: &mut Steps, seconds: &[u64]| {
            let names = ["alone", "pairs", "alone", "orders", "roles", "races"];
            for (name, seconds) in names.into_iter().zip(seconds) {
                steps.add(name, Duration::from_secs(*seconds));
            }
            steps.finish("p")
        };
        assert_eq!(searched(&mut steps, &[20, 20, 19]), None);
        let expected = "the orders of `p` took 110 s: 40 s for roles, 33 s for alone, \
                        30 s for pairs, 5 s for orders";
        assert_eq!(searched(&mut steps, &[3, 30, 30, 5, 40, 2]).as_deref(), Some(expected));
    }
}
