//! The order of things that have names: directory entries and environment variables.

use std::hash::Hasher;

use super::decision::{Decision, Element};
use super::order::{Aspect, decide};
use crate::catalogue::Model;
use crate::context::{self, stack::Stack};
use crate::hash::{self, FixedHasher};
use crate::hidden::{self, Text, Vec};
use crate::protocol::site::Caller;

/// Arranges `items` as the run decides for this call. Outside a test they stay as they are; in a
/// test the canonical order is the order of their names, so that it does not depend on the machine.
/// The last `own` of them the process itself has put there, each after those before it: in
/// canonical order and at STD they stay there. Takes no memory of the program's.
pub fn arrange<T>(
    items: &mut [T],
    own: usize,
    model: &'static Model,
    caller: Caller,
    name: impl Fn(&T) -> &[u8],
) {
    if context::level().is_none() {
        return;
    }
    let names: Vec<&[u8]> = hidden::collect(items.iter().map(name));
    let order = order(&names, own, model, caller);
    drop(names);
    put(items, order);
}

/// Puts at each position the item whose position `order` has there.
pub(super) fn put<T>(items: &mut [T], mut order: Vec<usize>) {
    // Each cycle of the permutation by swaps; what has its item is marked by its own position.
    for start in 0..items.len() {
        let mut at = start;
        while order[at] != start {
            let next = order[at];
            items.swap(at, next);
            order[at] = at;
            at = next;
        }
        order[at] = at;
    }
}

/// The order that the run decides for things with these names.
fn order(names: &[&[u8]], own: usize, model: &'static Model, caller: Caller) -> Vec<usize> {
    let given = names.len() - own;
    let mut base = hidden::collect(0..names.len());
    // Not the stable sort, which takes memory.
    base[..given].sort_unstable_by_key(|&index| (names[index], index));
    let aspect = |aspect: Aspect| match aspect {
        Aspect::Own => own as u64,
        Aspect::Content | Aspect::Version => {
            names.iter().map(|name| keyed(0, name)).fold(0, u64::wrapping_add)
        }
    };
    let decision = decide(model, model.family, caller, names.len(), aspect);
    if let Decision::Base = decision {
        return base;
    }
    let names: Vec<&[u8]> = hidden::collect(base.iter().map(|&index| names[index]));
    let ranks = follow(decision, &names, given).into_iter();
    hidden::collect(ranks.map(|rank| base[rank]))
}

/// The ranks, in canonical order, that a decision means for what has these `names` there, of which
/// the first are `given` to the process.
fn follow(decision: Decision, names: &[&[u8]], given: usize) -> Vec<usize> {
    let base = 0..names.len();
    let by_hash = |count: usize, hash: &dyn Fn(&[u8]) -> u64| {
        let keyed = |rank: usize| (hash(names[rank]), rank);
        let mut keys = hidden::collect((0..count).map(keyed));
        keys.sort_unstable();
        let ranks = keys.into_iter().map(|(_, rank)| rank);
        hidden::collect(ranks.chain(count..names.len()))
    };
    match decision {
        Decision::Base => hidden::collect(base),
        // A real filesystem orders by a hash of the name (ext4) or by history: the same within one
        // run, and the relative order of two entries does not depend on a third.
        Decision::Std { key } => by_hash(given, &|name| keyed(key, name)),
        // By a hash of the content as well: another one for every choice.
        Decision::ByContent { tree, key } => by_hash(names.len(), &|name| keyed(tree, name) ^ key),
        Decision::Permute(order) | Decision::PermuteContent(order) => hidden::collect(order),
        Decision::Intermediate(partly) => {
            let drawn = follow(partly.decision.clone(), names, given);
            let describe = |rank: usize, _| Element {
                name: Some(Text::lossy(names[rank])),
                ..Element::default()
            };
            partly.order(&hidden::collect(base), &drawn, &describe, &Stack::default)
        }
    }
}

fn keyed(key: u64, name: &[u8]) -> u64 {
    let mut hasher = FixedHasher::keyed(key);
    hasher.write(name);
    hash::mix(hasher.finish() ^ key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::context::{Context, enter};
    use crate::{Level, RunSpec, model};

    use super::*;
    use std::vec::Vec;

    const NAMES: [&str; 4] = ["b", "d", "a", "c"];

    /// These names in the order of one call.
    fn arranged(
        names: &[&'static str],
        own: usize,
        model: &'static Model,
        caller: Caller,
    ) -> Vec<&'static str> {
        let mut names = names.to_vec();
        arrange(&mut names, own, model, caller, |name| name.as_bytes());
        names
    }

    fn listed(spec: RunSpec) -> Vec<Vec<&'static str>> {
        let context = Context::new(spec);
        let _test = enter(&context, "t");
        let list = |names: &[_]| arranged(names, 0, &model::FS_READ_DIR, Caller::here());
        vec![list(&NAMES), list(&NAMES), list(&["d", "c", "b", "a"]), list(&["b", "c", "d"])]
    }

    #[test]
    fn outside_a_test_nothing_moves_and_a_clean_run_sorts_by_name() {
        let outside = arranged(&NAMES, 2, &model::ENV_VARS, Caller::here());
        assert_eq!(outside, NAMES);
        for order in listed(RunSpec::clean("t")) {
            assert!(order.is_sorted());
        }
    }

    #[test]
    fn what_the_process_sets_stays_behind_what_it_was_given_in_base_order_and_at_std() {
        let read = |spec: RunSpec, own: usize| {
            let context = Context::new(spec);
            let _test = enter(&context, "t");
            arranged(&NAMES, own, &model::ENV_VARS, Caller::here())
        };
        assert_eq!(read(RunSpec::clean("t"), 2), ["b", "d", "a", "c"]);
        assert_eq!(read(RunSpec::clean("t"), 3), NAMES);
        for (own, level, others) in [
            (2, Level::Std, 2),
            (3, Level::Std, 1),
            (4, Level::Std, 1),
            (0, Level::One, 1),
            (2, Level::One, 24),
            (2, Level::Full, 1),
        ] {
            let orders: BTreeSet<_> =
                (0..500).map(|seed| read(RunSpec::new("t", level, seed), own)).collect();
            assert_eq!(orders.len(), others, "{own} {level}");
            let stays = |order: &Vec<&str>| order[4 - own..] == NAMES[4 - own..];
            assert!(level != Level::Std || orders.iter().all(stays));
        }
        let backward = read(RunSpec::new("t", Level::Std, 0), 2);
        assert_eq!(backward, ["d", "b", "a", "c"]);
    }

    #[test]
    fn every_level_gives_permutations_and_only_full_changes_within_a_run() {
        for level in Level::ALL {
            let mut orders = BTreeSet::new();
            let mut changed = false;
            for seed in 0..200 {
                let lists = listed(RunSpec::new("t", level, seed));
                let mut sorted = lists[0].clone();
                sorted.sort_unstable();
                assert_eq!(sorted, ["a", "b", "c", "d"]);
                changed |= lists[0] != lists[1] || lists[0] != lists[2];
                orders.insert(lists[0].clone());
                if level == Level::Std {
                    let without_a: Vec<_> =
                        lists[0].iter().copied().filter(|&name| name != "a").collect();
                    assert_eq!(without_a, lists[3], "a third entry changed the order of two");
                }
            }
            let backward = listed(RunSpec::new("t", level, 0));
            assert_eq!(backward[3], ["d", "c", "b"], "{level}");
            assert_eq!(orders.len(), 24, "{level}");
            assert_eq!(changed, level == Level::Full, "{level}");
        }
    }
}
