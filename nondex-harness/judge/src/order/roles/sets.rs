//! The smallest sets of tests that make the difference to a test, each enough by itself.

use super::{Agreement, REPETITIONS, RoleSearch};
use crate::culprit::subset::smallest;
use crate::order::experiments::MissingProcesses;

/// How many sets of polluters or setters are searched for.
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

    /// The smallest part of `found`, which makes the difference, that still does; and whether the
    /// search came to its end. `changed` are all orders that do.
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
        // What came before it wherever it changed; of that, what did not where it did not.
        narrow(&mut base, &|test| masks.iter().all(|mask| mask[test]))?;
        narrow(&mut base, &|test| !unlikely[test])?;
        let smallest = smallest(base.len(), self.limits.questions, |part| {
            let kept = part.kept.iter().rev().map(|place| base[*place]);
            let order: Vec<usize> = base[..part.beginning].iter().copied().chain(kept).collect();
            self.is_changed(&order)
        })?;
        let mut set: Vec<usize> = smallest.elements.iter().map(|place| base[*place]).collect();
        // A test may undo what another did, so that a part does more than the whole.
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

    /// Adds the sets that make the difference without the tests of the first one. Whether all that
    /// there may be were searched.
    pub(super) fn other_sets(
        &self,
        sets: &mut Vec<Vec<usize>>,
        changed: &[&[usize]],
    ) -> Result<bool, MissingProcesses> {
        // One test each.
        for before in changed.iter().filter(|before| before.len() == 1) {
            let is_known = sets.iter().any(|set| set.contains(&before[0]));
            if !is_known && self.is_confirmed(before)? {
                sets.push(before.to_vec());
            }
        }
        Ok(self.limits.has_pairs || self.larger_sets(sets, changed)?)
    }

    /// As [`other_sets`](Self::other_sets), of any number of tests.
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
        // Alone: what runs at the same time may have what the system has once only, such as a port.
        let agreement = self.agreement(before, REPETITIONS, true)?;
        Ok(matches!(agreement, Agreement::Always(passes) if passes != self.passes_alone))
    }
}
