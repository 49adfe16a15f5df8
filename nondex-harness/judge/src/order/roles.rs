//! Searches for the tests that change the outcome of one test, and for those that undo this.
//!
//! A victim passes alone and fails after its *polluters*; a brittle test fails alone and passes
//! after its *setters*. The search starts from the tests before it in an order in which its outcome
//! differs from that alone. It looks for the smallest ordered part of them with the same effect.
//! First it tries those that came before the test in *all* such orders, then it bisects. Every
//! result is confirmed by further runs, and so is the outcome alone. Then the *cleaners* are
//! searched.

mod cleaners;
mod sets;

use self::cleaners::together;
use super::detection::Detection;
use super::experiments::{Experiments, MissingProcesses};
use crate::missing::gather;

/// Number of equal outcomes before the search for a cause starts, and number of runs that confirm
/// every set except the first.
const REPETITIONS: usize = 2;

/// Maximum number of orders with a different outcome that are repeated before the search gives up.
const MAX_ORDERS: usize = 3;

/// Limits of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Number of runs of the test alone, and after its polluters or setters, before a conclusion.
    pub reruns: usize,
    /// Maximum number of processes of each search.
    pub questions: usize,
    /// Whether each pair of tests was tried. Then no other single test has the same effect.
    pub has_pairs: bool,
}

/// Conclusion about one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderConclusion {
    /// The test has the same outcome after all other tests as alone.
    Independent,
    /// The test has a different outcome after other tests.
    Dependent(OrderDependence),
    /// Two processes with the same tests before it had different outcomes.
    NonDeterministic {
        /// Tests before it.
        before: Vec<usize>,
        /// Number of failures and number of runs.
        failures: [u64; 2],
    },
    /// The outcome alone is no evidence about the code.
    Unknown,
}

/// Dependence of a test on the tests before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderDependence {
    /// Whether it passes alone: then it is a victim, otherwise it is brittle.
    pub passes_alone: bool,
    /// Polluters or setters: each set suffices, with its tests in this order. The first set is the
    /// smallest known one.
    pub sets: Vec<Vec<usize>>,
    /// Tests that undo the first set's effect on a victim when they run in between.
    pub cleaners: Vec<usize>,
    /// Whether the searches were finished.
    pub is_complete: bool,
}

/// Concludes about each test of `requested`, among `tests` in total, from these orders and further
/// processes.
///
/// # Errors
/// Returns the processes to make first.
pub fn conclude(
    requested: &[usize],
    tests: usize,
    detection: &Detection,
    limits: &SearchLimits,
    experiments: &Experiments,
) -> Result<Vec<OrderConclusion>, MissingProcesses> {
    let search = |test| RoleSearch::new(test, tests, detection, limits, experiments);
    let concluded = requested.iter().map(|test| search(*test).concluded());
    let mut concluded = gather(concluded.collect::<Vec<_>>())?;
    let victims: Vec<(usize, &OrderDependence)> = requested
        .iter()
        .zip(&concluded)
        .filter_map(|(test, conclusion)| match conclusion {
            OrderConclusion::Dependent(found) if found.passes_alone => Some((*test, found)),
            _ => None,
        })
        .collect();
    let mut detection = detection.clone();
    let together = together(&victims, tests, &detection.cutting);
    experiments.each(&together)?;
    detection.orders.extend(together);
    let found = victims.iter().map(|(test, found)| {
        let search = RoleSearch::new(*test, tests, &detection, limits, experiments);
        Ok((*test, search.cleaners(&found.sets)?))
    });
    for (test, (cleaners, is_complete)) in gather(found.collect::<Vec<_>>())? {
        let place = requested.iter().position(|known| *known == test);
        if let Some(OrderConclusion::Dependent(found)) = place.map(|place| &mut concluded[place]) {
            found.cleaners = cleaners;
            found.is_complete &= is_complete;
        }
    }
    Ok(concluded)
}

/// Concludes about each test of `requested` when no further processes can be made. Further sets and
/// cleaners are left out unless they are certain. A test without any certain conclusion gets
/// `None`.
pub fn settled(
    requested: &[usize],
    tests: usize,
    detection: &Detection,
    limits: &SearchLimits,
    experiments: &Experiments,
) -> Vec<Option<OrderConclusion>> {
    let settled = |test: &usize| {
        let mut search = RoleSearch::new(*test, tests, detection, limits, experiments);
        search.is_over = true;
        let mut concluded = search.concluded().ok()?;
        if let OrderConclusion::Dependent(found) = &mut concluded
            && found.passes_alone
        {
            let (cleaners, is_complete) = search.cleaners(&found.sets).unwrap_or_default();
            found.cleaners = cleaners;
            found.is_complete &= is_complete;
        }
        Some(concluded)
    };
    requested.iter().map(settled).collect()
}

/// Outcomes of several processes with the same tests.
enum Agreement {
    /// All have the same outcome: whether the test passed.
    Always(bool),
    /// Outcomes differ: number of failures and number of runs.
    Mixed([u64; 2]),
    /// The test was never started, or its failures are no evidence.
    Unknown,
}

#[derive(Clone)]
struct RoleSearch<'a> {
    test: usize,
    tests: usize,
    /// Tests before it in the tried orders, and whether it passed there.
    seen: Vec<(&'a [usize], bool)>,
    cutting: &'a [usize],
    limits: &'a SearchLimits,
    experiments: &'a Experiments,
    /// Whether only processes count that ran alone.
    alone: bool,
    passes_alone: bool,
    /// Whether no more processes can be made.
    is_over: bool,
}

impl<'a> RoleSearch<'a> {
    fn new(
        test: usize,
        tests: usize,
        detection: &'a Detection,
        limits: &'a SearchLimits,
        experiments: &'a Experiments,
    ) -> Self {
        RoleSearch {
            test,
            tests,
            seen: detection.seen(test, experiments).collect(),
            cutting: &detection.cutting,
            limits,
            experiments,
            alone: false,
            passes_alone: true,
            is_over: false,
        }
    }

    /// Concludes about the test, without its cleaners.
    fn concluded(&self) -> Result<OrderConclusion, MissingProcesses> {
        let found = match self.clone().judge()? {
            // Processes that ran at the same time may be the reason: judge again from processes
            // alone.
            OrderConclusion::NonDeterministic { .. } if self.experiments.is_shared() => {
                let mut search = self.clone();
                search.alone = true;
                search.judge()?
            }
            clear => clear,
        };
        let is_victim =
            matches!(&found, OrderConclusion::Dependent(dependence) if dependence.passes_alone);
        Ok(self.spoilt()?.filter(|_| !is_victim).unwrap_or(found))
    }

    /// Returns a conclusion if the test both passes and fails with no test before it. Then other
    /// tests do not decide. Files of its first run may be the reason why it failed since.
    /// Concurrent processes may make it fail, but cannot make it pass.
    fn spoilt(&self) -> Result<Option<OrderConclusion>, MissingProcesses> {
        let is_mixed = |[failed, all]: [usize; 2]| failed > 0 && failed < all;
        let [together, mut alone] = self.experiments.failures_after(&[], self.test);
        if is_mixed(together) && alone[1] == 0 {
            self.agreement(&[], self.limits.reruns, true)?;
            [_, alone] = self.experiments.failures_after(&[], self.test);
        }
        let both = [together[0] + alone[0], together[1] + alone[1]];
        let counted = if is_mixed(alone) {
            alone
        } else if is_mixed(both) && alone[0] > 0 {
            both
        } else {
            return Ok(None);
        };
        Ok(Some(non_deterministic(&[], counted.map(|count| count as u64))))
    }

    fn judge(mut self) -> Result<OrderConclusion, MissingProcesses> {
        let mut changed: Vec<&[usize]> = Vec::new();
        // Most tests always have the same outcome: these need no further run.
        let times = if self.alone { REPETITIONS } else { 1 };
        match self.agreement(&[], times, self.alone)? {
            Agreement::Always(passes) => self.passes_alone = passes,
            Agreement::Mixed(failures) => return Ok(non_deterministic(&[], failures)),
            Agreement::Unknown => return Ok(OrderConclusion::Unknown),
        }
        for (before, passed) in &self.seen {
            if *passed != self.passes_alone && !changed.contains(before) {
                changed.push(before);
            }
        }
        changed.sort_by_key(|before| before.len());
        let Some(&shortest) = changed.first() else {
            // Together with others it had the other outcome; the repetition alone may have passed
            // by chance.
            return match self.experiments.before(self.test, !self.passes_alone) {
                Some(before) => self.misled(before),
                None => Ok(OrderConclusion::Independent),
            };
        };
        match self.agreement(&[], REPETITIONS, self.alone)? {
            Agreement::Always(passes) if passes == self.passes_alone => {}
            Agreement::Mixed(failures) => return Ok(non_deterministic(&[], failures)),
            Agreement::Always(_) => return self.misled(shortest),
            Agreement::Unknown => return Ok(OrderConclusion::Unknown),
        }
        let mut found = None;
        let mut mixed = None;
        for before in changed.iter().take(MAX_ORDERS) {
            match self.agreement(before, REPETITIONS, self.alone)? {
                Agreement::Always(passes) if passes != self.passes_alone => {
                    if self.is_so_alone(before)? {
                        found = Some(*before);
                        break;
                    }
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
        // Confirm both the failing order and the passing one before any conclusion.
        for (before, expected) in [(&first[..], !self.passes_alone), (&[], self.passes_alone)] {
            match self.agreement(before, self.limits.reruns, true)? {
                Agreement::Always(passes) if passes == expected => {}
                Agreement::Mixed(failures) => return Ok(non_deterministic(before, failures)),
                Agreement::Always(_) | Agreement::Unknown => return self.misled(before),
            }
        }
        let mut sets = vec![first.clone()];
        is_complete &= self.or_over(self.other_sets(&mut sets, &changed), false)?;
        // The result must not depend on which set was found first.
        sets.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        let repeated = self.agreement(&sets[0], self.limits.reruns, true);
        let agreement = self.or_over(repeated, Agreement::Unknown)?;
        if !matches!(agreement, Agreement::Always(passes) if passes != self.passes_alone) {
            sets = vec![first];
        }
        Ok(OrderConclusion::Dependent(OrderDependence {
            passes_alone: self.passes_alone,
            sets,
            cleaners: Vec::new(),
            is_complete,
        }))
    }

    /// Returns the answer, or `otherwise` if it needs processes that can no longer be made.
    fn or_over<T>(
        &self,
        answer: Result<T, MissingProcesses>,
        otherwise: T,
    ) -> Result<T, MissingProcesses> {
        match answer {
            Err(_) if self.is_over => Ok(otherwise),
            answer => answer,
        }
    }

    /// Concludes about a different outcome that could not be repeated: it occurred by chance or
    /// because of concurrent processes.
    fn misled(&self, before: &[usize]) -> Result<OrderConclusion, MissingProcesses> {
        if !self.alone && self.experiments.is_shared() {
            // `concluded` then judges the test again from processes that run alone.
            return Ok(non_deterministic(before, [0, 0]));
        }
        let agreement = self.agreement(before, self.limits.reruns, true)?;
        Ok(match agreement {
            Agreement::Mixed(failures) => non_deterministic(before, failures),
            Agreement::Always(_) if self.experiments.is_shared() => OrderConclusion::Independent,
            Agreement::Always(passes) => {
                let runs = self.limits.reruns as u64;
                non_deterministic(before, [if passes { 0 } else { runs }, runs])
            }
            Agreement::Unknown => OrderConclusion::Unknown,
        })
    }

    fn agreement(
        &self,
        before: &[usize],
        times: usize,
        alone: bool,
    ) -> Result<Agreement, MissingProcesses> {
        let known = self.experiments.passed(before, self.test, times, alone)?;
        let [mut failed, mut all] = [0, 0];
        for passed in known.into_iter().flatten() {
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

    /// Returns whether the outcome also differs while no other process runs. Two tests that need
    /// the same port may fail each time that both are searched at once. Then a search would find
    /// nothing.
    fn is_so_alone(&self, before: &[usize]) -> Result<bool, MissingProcesses> {
        Ok(!self.experiments.is_shared()
            || matches!(
                self.agreement(before, 1, true)?,
                Agreement::Always(passes) if passes != self.passes_alone
            ))
    }

    /// Returns whether the test passes after these tests; `None` if that is unknown.
    fn passes(&self, before: &[usize]) -> Result<Option<bool>, MissingProcesses> {
        Ok(match self.agreement(before, 1, self.alone)? {
            Agreement::Always(passes) => Some(passes),
            Agreement::Mixed(_) | Agreement::Unknown => None,
        })
    }

    /// Returns whether the outcome after these tests differs from that alone.
    fn is_changed(&self, before: &[usize]) -> Result<bool, MissingProcesses> {
        let passes = self.passes(before)?;
        Ok(passes.is_some_and(|passes| passes != self.passes_alone))
    }
}

fn non_deterministic(before: &[usize], failures: [u64; 2]) -> OrderConclusion {
    OrderConclusion::NonDeterministic { before: before.to_vec(), failures }
}

#[cfg(test)]
mod tests;
