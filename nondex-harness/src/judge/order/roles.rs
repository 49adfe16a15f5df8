//! Which tests make the difference to one test, and which undo it.
//!
//! A victim passes alone and fails behind its *polluters*; a brittle test fails alone and passes behind its *setters*. The search
//! begins with the tests before it in an order in which it ended otherwise than alone, and looks for the smallest ordered part of them that
//! still makes it do so: first among those that came before it in *all* such orders, then by dichotomy. Whatever is found is run
//! again, and so is the test alone, before anything is said. *Cleaners* are looked for by halves among the tests that did not come
//! between polluter and victim where the victim failed.

use std::collections::HashSet;

use nondex_core::hash::mix;

use super::detection::Detection;
use super::experiments::{End, Experiments, Wanted, gather};
use crate::judge::culprit::subset::smallest;

/// How often a test must end alike before it is searched for what makes the difference, and so often every set but the first is made.
const REPETITIONS: usize = 2;

/// So many of the orders in which a test ended otherwise are made again before it is given up.
const MAX_ORDERS: usize = 3;

/// How many sets of polluters or setters are searched for, each enough by itself.
const MAX_SETS: usize = 4;

/// So many tests are tried first for one that undoes what others did, the likeliest ones; then twice as many, and so on.
const FIRST_PART: usize = 4;

/// With fewer others, the cleaners of several victims are looked for one victim after the other.
const MIN_TOGETHER: usize = 64;

/// How likely a test undoes it that alone came between, as an integer.
const CERTAIN: usize = 1 << 20;

/// A set of at most so many tests is tried without each of them.
const MAX_TRIED_WITHOUT: usize = 8;

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often the test is run alone and behind its polluters or setters before anything is said of it.
    pub reruns: usize,
    /// How many processes each search may ask for.
    pub questions: usize,
    /// Whether each pair of tests was tried: then no other test does the same alone.
    pub has_pairs: bool,
}

/// What is concluded about one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It ends as it does alone, whatever comes before it.
    Independent,
    /// It ends otherwise behind other tests.
    Dependent(Dependence),
    /// Two processes with the same tests before it did not end alike.
    NonDeterministic {
        /// These tests.
        before: Vec<usize>,
        /// How many failed, of how many.
        failures: [u64; 2],
    },
    /// How it ends alone says nothing about the code.
    Unknown,
}

/// A test that depends on those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// Whether it passes alone: a victim. It is brittle otherwise.
    pub passes_alone: bool,
    /// Its polluters or setters: each set makes the difference by itself, its tests in this order. The first one is the smallest that is
    /// known.
    pub sets: Vec<Vec<usize>>,
    /// The tests that undo the first set's effect on a victim when they run between.
    pub cleaners: Vec<usize>,
    /// Whether the searches came to their ends.
    pub is_complete: bool,
}

/// What is concluded about each of `asked`, of so many `tests` in all, from these orders and what is asked for besides.
///
/// # Errors
/// The processes to make first.
pub fn conclude(
    asked: &[usize],
    tests: usize,
    detection: &Detection,
    limits: &Limits,
    experiments: &Experiments,
) -> Result<Vec<Conclusion>, Wanted> {
    let search =
        |test, detection, alone| Search::new(test, tests, detection, limits, experiments, alone);
    let concluded = asked.iter().map(|test| {
        match search(*test, detection, false).judge()? {
            // Other processes, which ran at the same time, may be the reason.
            Conclusion::NonDeterministic { .. } if experiments.is_shared() => {
                search(*test, detection, true).judge()
            }
            clear => Ok(clear),
        }
    });
    let mut concluded = gather(concluded.collect::<Vec<_>>())?;
    let victims: Vec<(usize, &Dependence)> = asked
        .iter()
        .zip(&concluded)
        .filter_map(|(test, conclusion)| match conclusion {
            Conclusion::Dependent(found) if found.passes_alone => Some((*test, found)),
            _ => None,
        })
        .collect();
    let mut detection = detection.clone();
    let together = together(&victims, tests, &detection.cutting);
    gather(together.iter().map(|order| experiments.first(order)))?;
    detection.orders.extend(together);
    let found = victims.iter().map(|(test, found)| {
        let search = search(*test, &detection, false);
        Ok((*test, search.cleaners(&found.sets)?))
    });
    for (test, (cleaners, is_complete)) in gather(found.collect::<Vec<_>>())? {
        let place = asked.iter().position(|known| *known == test);
        if let Some(Conclusion::Dependent(found)) = place.map(|place| &mut concluded[place]) {
            found.cleaners = cleaners;
            found.is_complete &= is_complete;
        }
    }
    Ok(concluded)
}

/// Orders that ask for the cleaners of several victims at once: the polluters of all, a third of the other tests, drawn, and the victims.
/// They only narrow down where each victim's cleaners are looked for.
fn together(victims: &[(usize, &Dependence)], tests: usize, cutting: &[usize]) -> Vec<Vec<usize>> {
    let mut first: Vec<usize> = Vec::new();
    for test in victims.iter().flat_map(|(_, found)| &found.sets[0]) {
        if !first.contains(test) {
            first.push(*test);
        }
    }
    let polluting: HashSet<usize> = victims
        .iter()
        .flat_map(|(_, found)| found.sets.iter().flatten().copied())
        .collect();
    let last: Vec<usize> = victims.iter().map(|(test, _)| *test).collect();
    let last = || {
        last.iter()
            .copied()
            .filter(|test| !polluting.contains(test))
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

/// How some processes with the same tests ended.
enum Agreement {
    /// All alike.
    Always(bool),
    /// Not alike: how many failed, of how many.
    Mixed([u64; 2]),
    /// It was never started, or what it lacks explains its failures.
    Unknown,
}

struct Search<'a> {
    test: usize,
    tests: usize,
    /// What came before it in the orders that were tried, and whether it passed there.
    seen: Vec<(&'a [usize], bool)>,
    cutting: &'a [usize],
    limits: &'a Limits,
    experiments: &'a Experiments,
    /// Whether only processes count during which no other ran.
    alone: bool,
    passes_alone: bool,
}

impl<'a> Search<'a> {
    fn new(
        test: usize,
        tests: usize,
        detection: &'a Detection,
        limits: &'a Limits,
        experiments: &'a Experiments,
        alone: bool,
    ) -> Self {
        Search {
            test,
            tests,
            seen: detection.seen(test, experiments).collect(),
            cutting: &detection.cutting,
            limits,
            experiments,
            alone,
            passes_alone: true,
        }
    }

    fn judge(mut self) -> Result<Conclusion, Wanted> {
        let mut changed: Vec<&[usize]> = Vec::new();
        // Most tests never end otherwise: nothing is run again for these.
        let times = if self.alone { REPETITIONS } else { 1 };
        match self.agreement(&[], times, self.alone)? {
            Agreement::Always(passes) => self.passes_alone = passes,
            Agreement::Mixed(failures) => return Ok(non_deterministic(&[], failures)),
            Agreement::Unknown => return Ok(Conclusion::Unknown),
        }
        for (before, passed) in &self.seen {
            if *passed != self.passes_alone && !changed.contains(before) {
                changed.push(before);
            }
        }
        changed.sort_by_key(|before| before.len());
        let Some(&shortest) = changed.first() else {
            return Ok(Conclusion::Independent);
        };
        match self.agreement(&[], REPETITIONS, self.alone)? {
            Agreement::Always(passes) if passes == self.passes_alone => {}
            Agreement::Mixed(failures) => return Ok(non_deterministic(&[], failures)),
            Agreement::Always(_) => return self.misled(shortest),
            Agreement::Unknown => return Ok(Conclusion::Unknown),
        }
        let mut found = None;
        let mut mixed = None;
        for before in changed.iter().take(MAX_ORDERS) {
            match self.agreement(before, REPETITIONS, self.alone)? {
                Agreement::Always(passes) if passes != self.passes_alone => {
                    found = Some(*before);
                    break;
                }
                Agreement::Mixed(failures) => {
                    mixed.get_or_insert((*before, failures));
                }
                Agreement::Always(_) | Agreement::Unknown => {}
            }
        }
        let Some(found) = found else {
            return match mixed {
                Some((before, failures)) => Ok(non_deterministic(before, failures)),
                None => self.misled(shortest),
            };
        };
        let (first, mut is_complete) = self.smallest(found, &changed)?;
        // The failing order and the passing one, before a word is said.
        for (before, expected) in [(&first[..], !self.passes_alone), (&[], self.passes_alone)] {
            match self.agreement(before, self.limits.reruns, true)? {
                Agreement::Always(passes) if passes == expected => {}
                Agreement::Mixed(failures) => return Ok(non_deterministic(before, failures)),
                Agreement::Always(_) | Agreement::Unknown => return self.misled(before),
            }
        }
        let mut sets = vec![first.clone()];
        is_complete &= self.other_sets(&mut sets, &changed)?;
        // Whichever was met first, the same one is said.
        sets.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        let said = self.agreement(&sets[0], self.limits.reruns, true)?;
        if !matches!(said, Agreement::Always(passes) if passes != self.passes_alone) {
            sets = vec![first];
        }
        Ok(Conclusion::Dependent(Dependence {
            passes_alone: self.passes_alone,
            sets,
            cleaners: Vec::new(),
            is_complete,
        }))
    }

    /// What ended otherwise once, and never again: by chance, or because of what ran at the same time.
    fn misled(&self, before: &[usize]) -> Result<Conclusion, Wanted> {
        if !self.alone && self.experiments.is_shared() {
            // It is asked again alone.
            return Ok(non_deterministic(before, [0, 0]));
        }
        let agreement = self.agreement(before, self.limits.reruns, true)?;
        Ok(match agreement {
            Agreement::Mixed(failures) => non_deterministic(before, failures),
            Agreement::Always(_) if self.experiments.is_shared() => Conclusion::Independent,
            Agreement::Always(passes) => {
                let runs = self.limits.reruns as u64;
                non_deterministic(before, [if passes { 0 } else { runs }, runs])
            }
            Agreement::Unknown => Conclusion::Unknown,
        })
    }

    fn agreement(&self, before: &[usize], times: usize, alone: bool) -> Result<Agreement, Wanted> {
        let ends = self.experiments.ends(before, self.test, times, alone)?;
        let known = ends.into_iter().flatten().filter_map(End::passed);
        let [mut failed, mut all] = [0, 0];
        for passed in known {
            all += 1;
            failed += u64::from(!passed);
        }
        Ok(match failed {
            _ if all == 0 => Agreement::Unknown,
            0 => Agreement::Always(true),
            _ if failed == all => Agreement::Always(false),
            _ => Agreement::Mixed([failed, all]),
        })
    }

    /// How it ends behind these tests; `None` when that is not to be known.
    fn passes(&self, before: &[usize]) -> Result<Option<bool>, Wanted> {
        Ok(match self.agreement(before, 1, self.alone)? {
            Agreement::Always(passes) => Some(passes),
            Agreement::Mixed(_) | Agreement::Unknown => None,
        })
    }

    /// Whether it ends otherwise behind these tests than alone.
    fn is_changed(&self, before: &[usize]) -> Result<bool, Wanted> {
        let passes = self.passes(before)?;
        Ok(passes.is_some_and(|passes| passes != self.passes_alone))
    }

    fn mask(&self, lists: impl IntoIterator<Item = impl AsRef<[usize]>>) -> Vec<bool> {
        let mut mask = vec![false; self.tests];
        for list in lists {
            list.as_ref().iter().for_each(|test| mask[*test] = true);
        }
        mask
    }

    /// The smallest part of `found`, which makes the difference, that still does; and whether the search came to its end. `changed` are
    /// all orders that do.
    fn smallest(
        &self,
        found: &[usize],
        changed: &[&[usize]],
    ) -> Result<(Vec<usize>, bool), Wanted> {
        let mut base = found.to_vec();
        let masks: Vec<Vec<bool>> = changed.iter().map(|order| self.mask([order])).collect();
        let same = self
            .seen
            .iter()
            .filter(|(_, passed)| *passed == self.passes_alone);
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

    /// Adds the sets that make the difference without the tests of the first one. Whether all that there may be were looked for.
    fn other_sets(&self, sets: &mut Vec<Vec<usize>>, changed: &[&[usize]]) -> Result<bool, Wanted> {
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
    ) -> Result<bool, Wanted> {
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

    fn is_confirmed(&self, before: &[usize]) -> Result<bool, Wanted> {
        // Alone: what runs at the same time may have what the system has once only, such as a port.
        let agreement = self.agreement(before, REPETITIONS, true)?;
        Ok(matches!(agreement, Agreement::Always(passes) if passes != self.passes_alone))
    }

    /// The tests that undo what the first set does to a victim, and whether the search came to its end.
    fn cleaners(&self, sets: &[Vec<usize>]) -> Result<(Vec<usize>, bool), Wanted> {
        let mut cleaners = Vec::new();
        let polluting = self.mask(sets);
        let mut excluded = polluting.clone();
        excluded[self.test] = true;
        self.cutting.iter().for_each(|test| excluded[*test] = true);
        // What came behind the last polluter where it failed all the same.
        for (before, _) in self.seen.iter().filter(|(_, passed)| !passed) {
            if let Some(last) = before.iter().rposition(|test| polluting[*test])
                && sets[0].iter().all(|test| before.contains(test))
            {
                before[last..]
                    .iter()
                    .for_each(|test| excluded[*test] = true);
            }
        }
        let mut candidates: Vec<usize> = (0..self.tests).filter(|test| !excluded[*test]).collect();
        // One of those between the last polluter and it, where it passed all the same, is one: the fewer there are, the likelier each.
        let mut likely = vec![0; self.tests];
        for (before, _) in self.seen.iter().filter(|(_, passed)| *passed) {
            let last = before.iter().rposition(|test| sets[0].contains(test));
            let between = last.map_or(&[][..], |last| &before[last + 1..]);
            if sets[0].iter().all(|test| before.contains(test)) {
                between
                    .iter()
                    .for_each(|test| likely[*test] += CERTAIN / between.len());
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

    /// Finds those of `part` that undo what `set` does. Whether there are any, or `None` when that is not to be known. It is known
    /// already to undo it if the whole did that it is one half of, and the other half does not.
    fn clean(
        &self,
        set: &[usize],
        part: &[usize],
        is_known: bool,
        left: &mut usize,
        cleaners: &mut Vec<usize>,
    ) -> Result<Option<bool>, Wanted> {
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

    fn cleans(&self, set: &[usize], part: &[usize]) -> Result<Option<bool>, Wanted> {
        let passes = self.passes(&[set, part].concat())?;
        Ok(passes.map(|passes| passes == self.passes_alone))
    }
}

fn non_deterministic(before: &[usize], failures: [u64; 2]) -> Conclusion {
    Conclusion::NonDeterministic {
        before: before.to_vec(),
        failures,
    }
}

#[cfg(test)]
mod tests;
