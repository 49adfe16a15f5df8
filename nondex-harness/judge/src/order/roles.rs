//! Which tests make the difference to one test, and which undo it.
//!
//! A victim passes alone and fails after its *polluters*; a brittle test fails alone and passes
//! after its *setters*. The search begins with the tests before it in an order in which it ended
//! differently than alone. It looks for the smallest ordered part of them that still makes it do
//! so: first among those that came before it in *all* such orders, then by dichotomy. Whatever is
//! found is run again, and so is the test alone, before any conclusion. Then its *cleaners* are
//! looked for.

mod cleaners;
mod sets;

use self::cleaners::together;
use super::detection::Detection;
use super::experiments::{End, Experiments, MissingProcesses};
use crate::missing::gather;

/// How often a test must end alike before it is searched for what makes the difference, and so
/// often every set but the first is made.
const REPETITIONS: usize = 2;

/// Number of orders with another outcome that are repeated before the search gives up.
const MAX_ORDERS: usize = 3;

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of runs of the test alone and after its polluters or setters before anything is
    /// concluded about it.
    pub reruns: usize,
    /// How many processes each search may ask for.
    pub questions: usize,
    /// Whether each pair of tests was tried: then no other test does the same alone.
    pub has_pairs: bool,
}

/// What is concluded about one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderConclusion {
    /// It ends as it does alone, whatever comes before it.
    Independent,
    /// It has another outcome after other tests.
    Dependent(Dependence),
    /// Two processes with the same tests before it did not end alike.
    NonDeterministic {
        /// These tests.
        before: Vec<usize>,
        /// How many failed, of how many.
        failures: [u64; 2],
    },
    /// Its outcome alone is no evidence about the code.
    Unknown,
}

/// A test that depends on those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// Whether it passes alone: a victim. It is brittle otherwise.
    pub passes_alone: bool,
    /// Its polluters or setters: each set makes the difference by itself, its tests in this order.
    /// The first one is the smallest that is known.
    pub sets: Vec<Vec<usize>>,
    /// The tests that undo the first set's effect on a victim when they run between.
    pub cleaners: Vec<usize>,
    /// Whether the searches came to their ends.
    pub is_complete: bool,
}

/// What is concluded about each of `asked`, of `tests` in all, from these orders and the additional
/// processes.
///
/// # Errors
/// The processes to make first.
pub fn conclude(
    asked: &[usize],
    tests: usize,
    detection: &Detection,
    limits: &Limits,
    experiments: &Experiments,
) -> Result<Vec<OrderConclusion>, MissingProcesses> {
    let search = |test| RoleSearch::new(test, tests, detection, limits, experiments);
    let concluded = asked.iter().map(|test| search(*test).concluded());
    let mut concluded = gather(concluded.collect::<Vec<_>>())?;
    let victims: Vec<(usize, &Dependence)> = asked
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
        let place = asked.iter().position(|known| *known == test);
        if let Some(OrderConclusion::Dependent(found)) = place.map(|place| &mut concluded[place]) {
            found.cleaners = cleaners;
            found.is_complete &= is_complete;
        }
    }
    Ok(concluded)
}

/// What is concluded about each of `asked` although no more processes can be made: what is certain,
/// without further sets and cleaners where these are not. `None` of one whose search has not
/// reached that.
pub fn settled(
    asked: &[usize],
    tests: usize,
    detection: &Detection,
    limits: &Limits,
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
    asked.iter().map(settled).collect()
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

#[derive(Clone)]
struct RoleSearch<'a> {
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
    /// Whether no more processes can be made.
    is_over: bool,
}

impl<'a> RoleSearch<'a> {
    fn new(
        test: usize,
        tests: usize,
        detection: &'a Detection,
        limits: &'a Limits,
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

    /// What is concluded, but for its cleaners.
    fn concluded(&self) -> Result<OrderConclusion, MissingProcesses> {
        let found = match self.clone().judge()? {
            // Other processes, which ran at the same time, may be the reason.
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

    /// What follows when it both passes and fails with nothing before it: another test does not
    /// decide then. What its own first run left may be why it has failed since. Processes that ran
    /// at the same time may make it fail, but not pass.
    fn spoilt(&self) -> Result<Option<OrderConclusion>, MissingProcesses> {
        let is_mixed = |[failed, all]: [usize; 2]| failed > 0 && failed < all;
        let [together, mut alone] = self.experiments.failures_after(&[], self.test);
        if is_mixed(together) && alone[1] == 0 {
            self.agreement(&[], self.limits.reruns, true)?;
            [_, alone] = self.experiments.failures_after(&[], self.test);
        }
        let both = [together[0] + alone[0], together[1] + alone[1]];
        let counted = match is_mixed(alone) {
            true => alone,
            false if is_mixed(both) && alone[0] > 0 => both,
            false => return Ok(None),
        };
        let counted = counted.map(|count| count as u64);
        Ok(Some(non_deterministic(&[], counted)))
    }

    fn judge(mut self) -> Result<OrderConclusion, MissingProcesses> {
        let mut changed: Vec<&[usize]> = Vec::new();
        // Most tests always have the same outcome: nothing is run again for these.
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
            // Together with others it had the other outcome, and the repetition alone may have
            // been lucky.
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
        // The failing order and the passing one, before any conclusion.
        for (before, expected) in [(&first[..], !self.passes_alone), (&[], self.passes_alone)] {
            match self.agreement(before, self.limits.reruns, true)? {
                Agreement::Always(passes) if passes == expected => {}
                Agreement::Mixed(failures) => return Ok(non_deterministic(before, failures)),
                Agreement::Always(_) | Agreement::Unknown => return self.misled(before),
            }
        }
        let mut sets = vec![first.clone()];
        is_complete &= self.or_over(self.other_sets(&mut sets, &changed), false)?;
        // The result must not depend on which was found first.
        sets.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        let said = self.agreement(&sets[0], self.limits.reruns, true);
        let said = self.or_over(said, Agreement::Unknown)?;
        if !matches!(said, Agreement::Always(passes) if passes != self.passes_alone) {
            sets = vec![first];
        }
        Ok(OrderConclusion::Dependent(Dependence {
            passes_alone: self.passes_alone,
            sets,
            cleaners: Vec::new(),
            is_complete,
        }))
    }

    /// An answer, or this one where it needs processes that cannot be made any more.
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

    /// What ended otherwise once, and never again: by chance, or because of what ran at the same
    /// time.
    fn misled(&self, before: &[usize]) -> Result<OrderConclusion, MissingProcesses> {
        if !self.alone && self.experiments.is_shared() {
            // The run is repeated alone.
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

    /// Whether it has another outcome than by itself also while no other process runs. Two tests
    /// that need the same port may fail each time that both are searched at once, and the search
    /// would find nothing.
    fn is_so_alone(&self, before: &[usize]) -> Result<bool, MissingProcesses> {
        Ok(!self.experiments.is_shared()
            || matches!(
                self.agreement(before, 1, true)?,
                Agreement::Always(passes) if passes != self.passes_alone
            ))
    }

    /// How it ends after these tests; `None` when that is not to be known.
    fn passes(&self, before: &[usize]) -> Result<Option<bool>, MissingProcesses> {
        Ok(match self.agreement(before, 1, self.alone)? {
            Agreement::Always(passes) => Some(passes),
            Agreement::Mixed(_) | Agreement::Unknown => None,
        })
    }

    /// Whether its outcome after these tests differs from that alone.
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
