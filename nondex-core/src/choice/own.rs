//! Choices of a project's own code: results that it does not specify.

use super::arrange::put;
use super::decision::{Decision, Element};
use super::number::own_choice;
use super::order::decide;
use crate::catalogue::model::{CHOOSE, PERMUTE};
use crate::context::stack::Stack;
use crate::hash;
use crate::hidden::{self, Vec};
use crate::protocol::site::{Caller, Site};

/// Returns a number below `len`, as the run decides for this call. Returns 0 outside a test, in
/// canonical order, and if there is no other number.
pub fn choose(len: usize, caller: Caller) -> usize {
    if len < 2 {
        return 0;
    }
    own_choice(&CHOOSE, caller, len as u64).map_or(0, |number| usize::try_from(number).unwrap_or(0))
}

/// Arranges `items` as the run decides for this call. Outside a test, and in canonical order, they
/// stay as they are. Their content is not known, so at EQ and ID the call site and the number of
/// items determine the order.
pub fn permute<T>(items: &mut [T], caller: Caller) {
    let site = |_| Site::hash_of(&PERMUTE, PERMUTE.family, caller);
    let decision = decide(&PERMUTE, PERMUTE.family, caller, items.len(), site);
    if let Decision::Base = decision {
        return;
    }
    put(items, follow(decision, items.len()));
}

/// Returns the order that a decision yields for `len` elements, as positions in canonical order.
fn follow(decision: Decision, len: usize) -> Vec<usize> {
    let base = 0..len;
    match decision {
        Decision::Permute(order) | Decision::PermuteContent(order) => hidden::collect(order),
        Decision::ByContent { tree, key } => {
            let keyed = |rank: usize| (hash::mix(tree ^ rank as u64) ^ key, rank);
            let mut keys = hidden::collect(base.map(keyed));
            keys.sort_unstable();
            hidden::collect(keys.into_iter().map(|(_, rank)| rank))
        }
        Decision::Intermediate(partly) => {
            let drawn = follow(partly.decision.clone(), len);
            let describe =
                |rank: usize, _| Element { index: Some(rank as u64), ..Element::default() };
            let base = hidden::collect(base);
            partly.order(&base, &drawn, &describe, &Stack::default)
        }
        // No own choice varies at STD: see the family.
        Decision::Base | Decision::Std { .. } => hidden::collect(base),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::vec::Vec;

    use super::*;
    use crate::context::{Context, enter};
    use crate::{Level, RunSpec, Schedule};

    /// Returns two results at one place, and one at another.
    fn results<T>(spec: RunSpec, result: impl Fn(Caller) -> T) -> [T; 3] {
        let context = Context::new(spec);
        let _test = enter(&context, "t");
        let at = |line| Caller { file: "src/lib.rs", line, column: 5 };
        [7, 7, 9].map(|line| result(at(line)))
    }

    fn permuted(caller: Caller) -> Vec<usize> {
        let mut items: Vec<usize> = (0..4).collect();
        permute(&mut items, caller);
        items
    }

    #[test]
    fn outside_a_test_in_a_clean_run_and_at_std_the_result_is_the_canonical_one() {
        assert_eq!(choose(5, Caller::here()), 0);
        assert_eq!(permuted(Caller::here()), [0, 1, 2, 3]);
        for spec in [RunSpec::clean("t"), RunSpec::new("t", Level::Std, 3)] {
            assert_eq!(results(spec.clone(), |caller| choose(5, caller)), [0; 3]);
            let orders = results(spec, permuted);
            assert!(orders.iter().all(|order| order.is_sorted()));
        }
        let one = RunSpec::new("t", Level::Full, 3);
        assert_eq!(results(one, |caller| choose(1, caller)), [0; 3]);
    }

    #[test]
    fn the_first_seeds_of_level_one_are_all_other_results() {
        let of = |seed| {
            let spec = RunSpec::new("t", Level::One, seed);
            results(spec, |caller| choose(4, caller))
        };
        assert_eq!([0, 1, 2].map(of), [[1; 3], [2; 3], [3; 3]]);
    }

    #[test]
    fn a_seed_means_the_same_results_in_every_version_of_the_algorithm() {
        let spec = |level| RunSpec::new("t", level, 7);
        let numbers = |level| results(spec(level), |caller| choose(1000, caller));
        assert_eq!(numbers(Level::One), [8; 3]);
        assert_eq!(numbers(Level::Eq), [737, 737, 19]);
        assert_eq!(numbers(Level::Full), [997, 841, 833]);
        let [first, again, _] = results(spec(Level::Full), permuted);
        assert_eq!([first, again], [[3, 0, 2, 1], [3, 1, 0, 2]]);
    }

    /// Returns whether results at one place may differ, and whether results at two places may.
    fn differ<T: PartialEq>(level: Level, result: impl Fn(Caller) -> T + Copy) -> (bool, bool) {
        let mut found = (false, false);
        for seed in 0..40 {
            let spec = RunSpec::new("t", level, seed).with_schedule(Schedule::Random);
            let [first, again, other] = results(spec, result);
            found.0 |= first != again;
            found.1 |= first != other;
        }
        found
    }

    #[test]
    fn a_level_decides_what_determines_a_result() {
        for (level, expected) in [
            (Level::One, (false, false)),
            (Level::Eq, (false, true)),
            (Level::Id, (false, true)),
            (Level::Full, (true, true)),
        ] {
            assert_eq!(differ(level, |caller| choose(5, caller)), expected, "{level}");
            assert_eq!(differ(level, permuted), expected, "{level}");
        }
    }

    #[test]
    fn every_result_comes_and_every_order_has_all_elements() {
        for level in [Level::One, Level::Eq, Level::Id, Level::Full] {
            let mut numbers = BTreeSet::new();
            for seed in 0..40 {
                let spec = RunSpec::new("t", level, seed);
                numbers.extend(results(spec.clone(), |caller| choose(5, caller)));
                for mut order in results(spec, |caller| {
                    let mut items: Vec<usize> = (0..100).collect();
                    permute(&mut items, caller);
                    items
                }) {
                    assert!(!order.is_sorted(), "{level} {seed}");
                    order.sort_unstable();
                    assert!(order.into_iter().eq(0..100));
                }
            }
            assert!(numbers.into_iter().eq(0..5), "{level}");
        }
    }
}
