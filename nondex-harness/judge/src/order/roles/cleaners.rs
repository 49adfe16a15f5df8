//! Searches for the tests that undo the effect of a victim's polluters.
//!
//! The search bisects the candidates. Tests that came between polluter and victim when the victim
//! failed are no candidates.

use std::collections::HashSet;

use nondex_core::hash::mix;

use super::{Agreement, OrderDependence, RoleSearch};
use crate::missing::gather;
use crate::order::experiments::MissingProcesses;

/// Number of the likeliest candidates that are tried first. Each further part is twice as large.
const FIRST_PART: usize = 4;

/// Minimum number of other tests from which cleaners of several victims are searched together.
const MIN_TOGETHER: usize = 64;

/// Score of a test that was the only one in between when the victim passed.
const CERTAIN: usize = 1 << 20;

/// Returns orders that test the cleaners of several victims at once: the polluters of all, a random
/// third of the other tests, and the victims. They only narrow down the candidates of each victim.
pub(super) fn together(
    victims: &[(usize, &OrderDependence)],
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
    let last = || {
        let victims = victims.iter().map(|(test, _)| *test);
        victims.filter(|test| !polluting.contains(test))
    };
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
    /// Returns the tests that undo the effect of the first set on a victim, and whether the search
    /// was finished.
    pub(super) fn cleaners(
        &self,
        sets: &[Vec<usize>],
    ) -> Result<(Vec<usize>, bool), MissingProcesses> {
        let mut cleaners = Vec::new();
        let polluting = self.mask(sets);
        let mut excluded = polluting.clone();
        excluded[self.test] = true;
        self.cutting.iter().for_each(|test| excluded[*test] = true);
        // A test after the last polluter is no cleaner if the victim failed anyway. This does not
        // hold if another set was present: a test may undo the effect of the first set only.
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
        // If the victim passed anyway, one of the tests between the last polluter and the victim is
        // a cleaner. The fewer tests are in between, the likelier is each.
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
        let certain = cleaners.filter_map(|(cleaner, confirmed)| confirmed.then_some(cleaner));
        Ok((certain.collect(), left > 0))
    }

    /// Finds the tests of `part` that undo the effect of `set`. Returns whether there are any, or
    /// `None` if that is unknown. `is_known` is true if `part` is half of a part that undoes it and
    /// the other half does not.
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
