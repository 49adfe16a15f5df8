//! Detects tests whose outcome after other tests differs from that alone.
//!
//! A test that ends its process by an exit, a crash or a hang leaves the tests after it without an
//! outcome. These are run again without it, in the same order.

use std::collections::BTreeSet;

use super::experiments::{Experiments, MissingProcesses};
use crate::missing::gather;

/// Maximum number of tests that are left out of one order because they end its process. Then the
/// rest of the order is given up.
const MAX_CUTS: usize = 5;

/// Result of the tried orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detection {
    /// Orders that were run, as far as their tests were started. First the requested orders, then
    /// those without tests that end the process.
    pub orders: Vec<Vec<usize>>,
    /// Tests that end the process, in some order or alone.
    pub cutting: Vec<usize>,
    /// Tests whose outcome after other tests is unknown: too many tests before them ended the
    /// process.
    pub unknown: Vec<usize>,
}

impl Detection {
    /// Returns the evidence of all processes that were made.
    pub fn so_far(experiments: &Experiments) -> Self {
        let mut detection = Detection::default();
        for made in experiments.made() {
            detection.orders.push(made.tests.clone());
            detection.cutting.extend(made.cut().map(|cut| made.tests[cut]));
        }
        detection.cutting.sort_unstable();
        detection.cutting.dedup();
        detection
    }

    /// Adds the orders of the processes after the first `count`.
    pub fn add_orders_since(&mut self, count: usize, experiments: &Experiments) {
        let known: BTreeSet<&[usize]> = self.orders.iter().map(Vec::as_slice).collect();
        let made: BTreeSet<&[usize]> =
            experiments.made()[count..].iter().map(|made| made.tests.as_slice()).collect();
        let new: Vec<Vec<usize>> = made.difference(&known).map(|order| order.to_vec()).collect();
        self.orders.extend(new);
    }

    /// Returns for each order in which `test` has an outcome, the tests before it and whether it
    /// passed.
    pub fn seen<'a>(
        &'a self,
        test: usize,
        experiments: &'a Experiments,
    ) -> impl Iterator<Item = (&'a [usize], bool)> {
        self.orders.iter().filter_map(move |order| {
            let place = order.iter().position(|known| *known == test)?;
            let before = &order[..place];
            Some((before, experiments.passed(before, test, 1, false).ok()?[0]?))
        })
    }

    /// Returns whether a test passed in some order.
    pub fn has_passed(&self, test: usize, experiments: &Experiments) -> bool {
        self.seen(test, experiments).any(|(_, passed)| passed)
    }
}

/// Maximum number of hints from forks that are checked for each test. A hint may be wrong: a fork
/// may find files that other forks left in a folder.
const MAX_HINTS: usize = 8;

/// Returns the pairs in which a test of `requested` had a different outcome in a fork after one of
/// `tests` than alone. The pairs are repeated in separate processes. Also returns whether all pairs
/// were checked.
///
/// # Errors
/// Returns the processes to make first.
pub fn pairs(
    tests: &[usize],
    requested: &[usize],
    experiments: &Experiments,
) -> Result<(Vec<Vec<usize>>, bool), MissingProcesses> {
    experiments.pairs(tests, requested)?;
    let mut is_complete = true;
    let mut found = Vec::new();
    for &then in requested {
        let Some(alone) = experiments.passed(&[], then, 1, false)?[0] else { continue };
        let changing = tests.iter().copied().filter(|first| *first != then).filter(|first| {
            let hint = experiments.hint(*first, then);
            is_complete &= hint.is_some();
            hint.is_some_and(|passed| passed != alone)
        });
        let mut hints: Vec<Vec<usize>> = changing.map(|first| vec![first, then]).collect();
        is_complete &= hints.len() <= MAX_HINTS;
        hints.truncate(MAX_HINTS);
        found.extend(hints);
    }
    experiments.each(&found)?;
    Ok((found, is_complete))
}

/// Maximum number of prefixes of an order that are tried.
pub const MAX_BEGINNINGS: usize = 64;

/// Returns orders in which `last` comes after prefixes of `tests` and of the reverse of `tests`.
/// They find effects that need several tests and that other tests undo before the end of the order.
///
/// # Errors
/// Returns the processes to make first.
pub fn beginnings(
    tests: &[usize],
    last: &[usize],
    experiments: &Experiments,
) -> Result<Vec<Vec<usize>>, MissingProcesses> {
    let others: Vec<usize> = tests.iter().copied().filter(|test| !last.contains(test)).collect();
    let reverse: Vec<usize> = others.iter().rev().copied().collect();
    let step = others.len().div_ceil(MAX_BEGINNINGS).max(1);
    let before_last = |order: Vec<usize>| {
        let lengths = (1..=order.len()).step_by(step);
        lengths.map(|length| [&order[..length], last].concat()).collect::<Vec<_>>()
    };
    let orders: Vec<Vec<usize>> = [others, reverse].into_iter().flat_map(before_last).collect();
    experiments.each(&orders)?;
    Ok(orders)
}

/// Returns the tests of `requested` that are not idempotent: they have a different outcome each
/// time they run a second time in one process.
///
/// # Errors
/// Returns the processes to make first.
pub fn not_idempotent(
    requested: &[usize],
    experiments: &Experiments,
) -> Result<Vec<usize>, MissingProcesses> {
    let ends_otherwise = |test: usize| {
        let alone = experiments.passed(&[], test, 1, false)?[0];
        let hint = experiments.hint(test, test);
        if alone.is_none() || hint.is_none() || hint == alone {
            return Ok(None);
        }
        let passed = experiments.passed(&[test], test, CONFIRMATIONS, true)?;
        Ok(passed.iter().all(|passed| *passed == hint).then_some(test))
    };
    Ok(gather(requested.iter().map(|test| ends_otherwise(*test)))?.into_iter().flatten().collect())
}

/// Number of processes that must confirm that a test is not idempotent.
const CONFIRMATIONS: usize = 2;

/// Runs these orders. `ending` are tests that are known to end the process when they run alone.
///
/// # Errors
/// Returns the processes to make first.
pub fn detect(
    planned: &[Vec<usize>],
    ending: &[usize],
    experiments: &Experiments,
) -> Result<Detection, MissingProcesses> {
    let mut detection = Detection { cutting: ending.to_vec(), ..Detection::default() };
    let tried = planned.iter().map(|order| {
        tried(order.iter().copied().filter(|test| !ending.contains(test)).collect(), experiments)
    });
    // An ending test comes last, so that its outcome after other tests is seen.
    let last = ending.iter().take(MAX_CUTS).filter_map(|test| {
        let order = planned.iter().find(|order| order.contains(test))?;
        let place = order.iter().position(|known| known == test)?;
        let before = order[..place].iter().copied();
        let mut order: Vec<usize> = before.filter(|test| !ending.contains(test)).collect();
        order.push(*test);
        let made = experiments.first(&order).map(|_| ());
        Some(made.map(|()| Detection { orders: vec![order], ..Detection::default() }))
    });
    for tried in gather(tried.chain(last).collect::<Vec<_>>())? {
        detection.cutting.extend(tried.cutting);
        detection.unknown.extend(tried.unknown);
        detection.orders.extend(tried.orders);
    }
    for list in [&mut detection.cutting, &mut detection.unknown] {
        list.sort_unstable();
        list.dedup();
    }
    let mut known: Vec<Vec<usize>> = Vec::new();
    detection.orders.retain(|order| {
        let is_new = !known.contains(order);
        known.extend(is_new.then(|| order.clone()));
        is_new
    });
    Ok(detection)
}

/// Runs one order.
fn tried(mut order: Vec<usize>, experiments: &Experiments) -> Result<Detection, MissingProcesses> {
    let mut tried = Detection::default();
    while !order.is_empty() {
        let made = experiments.first(&order)?;
        let cut = made.cut().filter(|cut| *cut < order.len());
        tried.orders.push(order.clone());
        let Some(cut) = cut.filter(|cut| cut + 1 < order.len()) else {
            tried.cutting.extend(cut.map(|cut| order[cut]));
            break;
        };
        if tried.cutting.len() == MAX_CUTS {
            tried.unknown.extend(&order[cut + 1..]);
            break;
        }
        tried.cutting.push(order.remove(cut));
    }
    Ok(tried)
}

#[cfg(test)]
mod tests {
    use nondex_core::Outcome;

    use super::*;
    use crate::order::simulation::{Body, settle};

    /// Returns a binary with this number of tests. The last test needs the effects of both
    /// `setters`, in either order, and `cleaners` undo them.
    fn binary(tests: usize, setters: [usize; 2], cleaners: &[usize]) -> Vec<Body> {
        let body = |test: usize| -> Body {
            let is_cleaner = cleaners.contains(&test);
            Box::new(move |state| {
                if is_cleaner {
                    state.clear();
                }
                for (setter, part) in setters.into_iter().zip(["one", "other"]) {
                    if setter == test {
                        state.insert(part);
                    }
                }
                if test + 1 < tests || state.len() == 2 { Outcome::Passed } else { Outcome::Failed }
            })
        };
        (0..tests).map(body).collect()
    }

    /// Returns whether the last test passes after some tried prefix of the original or reverse
    /// order, and whether it does after any prefix.
    fn passes(bodies: &[Body], tests: usize) -> [bool; 2] {
        let others: Vec<usize> = (0..tests - 1).collect();
        let last = [tests - 1];
        let reverse: Vec<usize> = others.iter().rev().copied().collect();
        let each: Vec<Vec<usize>> = [&others, &reverse]
            .into_iter()
            .flat_map(|order| {
                (1..=order.len()).map(|length| [&order[..length], &last[..]].concat())
            })
            .collect();
        let mut experiments = Experiments::new(false);
        let tried =
            settle(bodies, &mut experiments, |experiments| beginnings(&others, &last, experiments));
        assert!(tried.len() <= 2 * MAX_BEGINNINGS);
        assert!(tried.iter().all(|order| each.contains(order)));
        settle(bodies, &mut experiments, |experiments| experiments.each(&each));
        [&tried, &each].map(|orders| {
            orders.iter().any(|order| {
                let made = experiments.first(order).expect("it was made");
                made.passed(tests - 1) == Some(true)
            })
        })
    }

    #[test]
    fn with_few_tests_each_beginning_is_tried_and_with_many_what_lasts_as_long_as_a_step_is_found()
    {
        for (tests, setters, cleaners, expected) in [
            (40, [10, 11], &[9, 12][..], true),
            (65, [60, 61], &[59, 62], true),
            // One prefix in five is tried.
            (300, [100, 101], &[], true),
            (300, [100, 101], &[99, 106], true),
            (300, [101, 100], &[95, 102], true),
            // Undone both in the order and in its reverse.
            (300, [100, 120], &[110], false),
        ] {
            let found = passes(&binary(tests, setters, cleaners), tests);
            assert_eq!(found, [expected; 2], "{tests} {setters:?} {cleaners:?}");
        }
    }

    #[test]
    fn with_many_tests_what_is_undone_within_a_step_is_found_the_less_often_the_sooner() {
        let found = [1, 2, 3].map(|lasts| {
            let found = (20..32).filter(|place| {
                let cleaners = [place - lasts, place + 1 + lasts];
                let [tried, all] = passes(&binary(140, [*place, place + 1], &cleaners), 140);
                assert!(all);
                tried
            });
            found.count()
        });
        // Of 12 each: one prefix in three is tried in either direction.
        assert_eq!(found, [8, 12, 12]);
    }
}
