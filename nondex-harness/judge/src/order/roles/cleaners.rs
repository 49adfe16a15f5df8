//! Which tests undo what the polluters of a victim did.
//!
//! The search bisects the tests that did not come between polluter and victim where the victim
//! failed.

use std::collections::HashSet;

use nondex_core::hash::mix;

use super::{Agreement, Dependence, RoleSearch};
use crate::missing::gather;
use crate::order::experiments::MissingProcesses;

/// Number of tests that are tried first for one that undoes what others did, the likeliest ones;
/// then twice as many, and so on.
const FIRST_PART: usize = 4;

/// With fewer others, the cleaners of several victims are searched victim by victim.
const MIN_TOGETHER: usize = 64;

/// How likely a test undoes it that alone came between, as an integer.
const CERTAIN: usize = 1 << 20;

/// Orders that ask for the cleaners of several victims at once: the polluters of all, a third of
/// the other tests, drawn, and the victims. They only narrow down where each victim's cleaners are
/// looked for.
pub(super) fn together(
    victims: &[(usize, &Dependence)],
    tests: usize,
    cutting: &[usize],
) -> Vec<Vec<usize>> {
    let mut first: Vec<usize> = Vec::new();
    for test in victims.iter().flat_map(|(_, found)| &found.sets[0]) {
        if !first.contains(test) {
            first.push(*test);
        }
    }
    let polluting: HashSet<usize> =
        victims.iter().flat_map(|(_, found)| found.sets.iter().flatten().copied()).collect();
    let last: Vec<usize> = victims.iter().map(|(test, _)| *test).collect();
    let last = || last.iter().copied().filter(|test| !polluting.contains(test));
    let others: Vec<usize> = (0..tests)
        .filter(|test| !polluting.contains(test) && !cutting.contains(test))
        .filter(|test| last().all(|victim| victim != *test))
        .collect();
    if last().count() < 2 || others.len() < MIN_TOGETHER {
        return Vec::new();
    }
    let rounds = 2 * u64::from(others.len().ilog2());
    let order = |round: u64| {
        let drawn = others
            .iter()
            .copied()
            .filter(|test| mix(mix(round + 1) ^ *test as u64).is_multiple_of(3));
        first.iter().copied().chain(drawn).chain(last()).collect()
    };
    (0..rounds).map(order).collect()
}

impl RoleSearch<'_> {
    /// The tests that undo what the first set does to a victim, and whether the search came to its
    /// end.
    pub(super) fn cleaners(
        &self,
        sets: &[Vec<usize>],
    ) -> Result<(Vec<usize>, bool), MissingProcesses> {
        let mut cleaners = Vec::new();
        let polluting = self.mask(sets);
        let mut excluded = polluting.clone();
        excluded[self.test] = true;
        self.cutting.iter().for_each(|test| excluded[*test] = true);
        // What came after the last polluter where it failed all the same. It proves nothing where
        // another set was there, too: a test may undo what the first one does to it, and not that.
        let contains =
            |before: &[usize], set: &[usize]| set.iter().all(|test| before.contains(test));
        for (before, _) in self.seen.iter().filter(|(_, passed)| !passed) {
            if let Some(last) = before.iter().rposition(|test| polluting[*test])
                && contains(before, &sets[0])
                && !sets[1..].iter().any(|set| contains(before, set))
            {
                before[last..].iter().for_each(|test| excluded[*test] = true);
            }
        }
        let mut candidates: Vec<usize> = (0..self.tests).filter(|test| !excluded[*test]).collect();
        // One of those between the last polluter and it, where it passed all the same, is one: the
        // fewer there are, the likelier each.
        let mut likely = vec![0; self.tests];
        for (before, _) in self.seen.iter().filter(|(_, passed)| *passed) {
            let last = before.iter().rposition(|test| sets[0].contains(test));
            let between = last.map_or(&[][..], |last| &before[last + 1..]);
            if sets[0].iter().all(|test| before.contains(test)) {
                between.iter().for_each(|test| likely[*test] += CERTAIN / between.len());
            }
        }
        candidates.sort_by_key(|test| (std::cmp::Reverse(likely[*test]), *test));
        let mut left = self.limits.questions;
        let mut rest = &mut candidates[..];
        let mut size = FIRST_PART;
        while !rest.is_empty() {
            let (part, others) = rest.split_at_mut(size.min(rest.len()));
            part.sort_unstable();
            self.clean(&sets[0], part, false, &mut left, &mut cleaners)?;
            rest = others;
            size *= 2;
        }
        cleaners.sort_unstable();
        let confirmed = cleaners.iter().map(|cleaner| {
            let agreement = self.agreement(&[&sets[0][..], &[*cleaner]].concat(), 1, true)?;
            Ok(matches!(agreement, Agreement::Always(passes) if passes == self.passes_alone))
        });
        let confirmed = gather(confirmed.collect::<Vec<_>>())?;
        let cleaners = cleaners.into_iter().zip(confirmed);
        let cleaners = cleaners.filter_map(|(cleaner, confirmed)| confirmed.then_some(cleaner));
        Ok((cleaners.collect(), left > 0))
    }

    /// Finds those of `part` that undo what `set` does. Whether there are any, or `None` when that
    /// is not to be known. It is known already to undo it if the whole did that it is one half of,
    /// and the other half does not.
    fn clean(
        &self,
        set: &[usize],
        part: &[usize],
        is_known: bool,
        left: &mut usize,
        cleaners: &mut Vec<usize>,
    ) -> Result<Option<bool>, MissingProcesses> {
        if part.is_empty() || *left == 0 {
            return Ok(None);
        }
        let cleans = if is_known && part.len() > 1 {
            Some(true)
        } else {
            *left -= 1;
            self.cleans(set, part)?
        };
        if cleans == Some(false) {
            return Ok(cleans);
        }
        if let [single] = part {
            cleaners.extend(cleans.map(|_| *single));
            return Ok(cleans);
        }
        let (first, second) = part.split_at(part.len() / 2);
        let in_first = self.clean(set, first, false, left, cleaners)?;
        let is_in_second = cleans == Some(true) && in_first == Some(false);
        self.clean(set, second, is_in_second, left, cleaners)?;
        Ok(cleans)
    }

    fn cleans(&self, set: &[usize], part: &[usize]) -> Result<Option<bool>, MissingProcesses> {
        let passes = self.passes(&[set, part].concat())?;
        Ok(passes.map(|passes| passes == self.passes_alone))
    }
}
