//! The order of named items: directory entries and environment variables.

use std::hash::Hasher;

use super::decision::{Decision, Element};
use super::order::{Aspect, decide};
use crate::catalogue::Model;
use crate::context::{self, stack::Stack};
use crate::hash::{self, FixedHasher};
use crate::hidden::{self, Text, Vec};
use crate::protocol::site::Caller;

/// Arranges `items` as the run decides for this call. Outside a test they stay as they are. Their
/// canonical order is by name, so that it does not depend on the machine.
///
/// The last `own` items were added by the process itself, each after those before it. In canonical
/// order and at STD they stay in place. Does not use the program's allocator.
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

/// Moves to each position the item at the position that `order` lists there.
pub(super) fn put<T>(items: &mut [T], mut order: Vec<usize>) {
    // Applies each cycle of the permutation by swaps; an entry equal to its own index marks a
    // finished position.
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

/// Returns the order that the run decides for items with these names.
fn order(names: &[&[u8]], own: usize, model: &'static Model, caller: Caller) -> Vec<usize> {
    let given = names.len() - own;
    let mut base = hidden::collect(0..names.len());
    // The stable sort would allocate.
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
    let sorted_names: Vec<&[u8]> = hidden::collect(base.iter().map(|&index| names[index]));
    let ranks = follow(decision, &sorted_names, given).into_iter();
    hidden::collect(ranks.map(|rank| base[rank]))
}

/// Returns the order that a decision yields, as ranks in canonical order. `names` are in canonical
/// order, and the process inherited the first `given` of them.
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
        // A real file system orders names by hash (ext4) or by history. The order stays the same
        // within a run, and the relative order of two entries does not depend on a third.
        Decision::Std { key } => by_hash(given, &|name| keyed(key, name)),
        // Also sorted by a hash of the content, but a different one for each choice.
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

    /// Returns these names in the order of one call.
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
