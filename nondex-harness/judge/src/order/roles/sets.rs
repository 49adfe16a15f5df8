//! Searches for the smallest sets of tests that change the outcome of a test, each by itself.

use super::{Agreement, REPETITIONS, RoleSearch};
use crate::culprit::subset::smallest;
use crate::order::experiments::MissingProcesses;

/// Maximum number of sets of polluters or setters.
const MAX_SETS: usize = 4;

/// Maximum size of a set that is tried without each of its tests.
const MAX_TRIED_WITHOUT: usize = 8;

impl RoleSearch<'_> {
    pub(super) fn mask(&self, lists: impl IntoIterator<Item = impl AsRef<[usize]>>) -> Vec<bool> {
        let mut mask = vec![false; self.tests];
        for list in lists {
            list.as_ref().iter().for_each(|test| mask[*test] = true);
        }
        mask
    }

    /// Returns the smallest part of `found` that still changes the outcome, and whether the search
    /// was finished. `changed` are all orders that change it.
    pub(super) fn smallest(
        &self,
        found: &[usize],
        changed: &[&[usize]],
    ) -> Result<(Vec<usize>, bool), MissingProcesses> {
        let mut base = found.to_vec();
        let masks: Vec<Vec<bool>> = changed.iter().map(|order| self.mask([order])).collect();
        let same = self.seen.iter().filter(|(_, passed)| *passed == self.passes_alone);
        let unlikely = self.mask(same.map(|(before, _)| before));
        let narrow = |base: &mut Vec<usize>, keep: &dyn Fn(usize) -> bool| {
            let part: Vec<usize> = base.iter().copied().filter(|test| keep(*test)).collect();
            if !part.is_empty() && part.len() < base.len() && self.is_changed(&part)? {
                *base = part;
            }
            Ok(())
        };
        // Keep tests that came before it in all changed orders, then drop those of unchanged
        // orders.
        narrow(&mut base, &|test| masks.iter().all(|mask| mask[test]))?;
        narrow(&mut base, &|test| !unlikely[test])?;
        let smallest = smallest(base.len(), self.limits.questions, |part| {
            let kept = part.kept.iter().rev().map(|place| base[*place]);
            let order: Vec<usize> = base[..part.beginning].iter().copied().chain(kept).collect();
            self.is_changed(&order)
        })?;
        let mut set: Vec<usize> = smallest.elements.iter().map(|place| base[*place]).collect();
        // The effect is not monotonic: a test may undo what another did, so a part may suffice.
        let mut place = 0;
        while (2..=MAX_TRIED_WITHOUT).contains(&set.len()) && place < set.len() {
            let mut without = set.clone();
            without.remove(place);
            if self.is_changed(&without)? {
                set = without;
                place = 0;
            } else {
                place += 1;
            }
        }
        Ok((set, smallest.is_complete))
    }

    /// Adds the sets that change the outcome without the tests of the first set. Returns whether
    /// all possible sets were searched.
    pub(super) fn other_sets(
        &self,
        sets: &mut Vec<Vec<usize>>,
        changed: &[&[usize]],
    ) -> Result<bool, MissingProcesses> {
        // Sets of one test.
        for before in changed.iter().filter(|before| before.len() == 1) {
            let is_known = sets.iter().any(|set| set.contains(&before[0]));
            if !is_known && self.is_confirmed(before)? {
                sets.push(before.to_vec());
            }
        }
        Ok(self.limits.has_pairs || self.larger_sets(sets, changed)?)
    }

    /// Adds sets of any size, like [`other_sets`](Self::other_sets).
    fn larger_sets(
        &self,
        sets: &mut Vec<Vec<usize>>,
        changed: &[&[usize]],
    ) -> Result<bool, MissingProcesses> {
        let mut is_complete = true;
        loop {
            let used = self.mask(&*sets);
            let is_free = |before: &&&[usize]| before.iter().all(|test| !used[*test]);
            let base = match changed.iter().find(is_free) {
                Some(known) => known.to_vec(),
                None => {
                    let mut others: Vec<usize> = (0..self.tests).collect();
                    others.retain(|test| {
                        !used[*test] && *test != self.test && !self.cutting.contains(test)
                    });
                    if others.is_empty() || !self.is_changed(&others)? {
                        break;
                    }
                    others
                }
            };
            if sets.len() >= MAX_SETS {
                is_complete = false;
                break;
            }
            let (set, found_all) = self.smallest(&base, &[])?;
            is_complete &= found_all;
            if !self.is_confirmed(&set)? {
                break;
            }
            sets.push(set);
        }
        Ok(is_complete)
    }

    fn is_confirmed(&self, before: &[usize]) -> Result<bool, MissingProcesses> {
        // Alone: concurrent processes may hold a resource that exists only once, such as a port.
        let agreement = self.agreement(before, REPETITIONS, true)?;
        Ok(matches!(agreement, Agreement::Always(passes) if passes != self.passes_alone))
    }
}
