//! Random operations on a map and a set of std and on the mirrors. Contents are equal, and every
//! iteration is a permutation, at every level and outside of a test.

use std::collections::BTreeMap;

use nondex_collections::collections::hash_map::Entry;
use nondex_collections::collections::{HashMap, HashSet};
use nondex_core::{Context, Level, RunSpec, context};
use proptest::prelude::*;

/// Operation on a map.
#[derive(Clone, Debug)]
enum Step {
    Insert(u8, u32),
    Remove(u8),
    OrInsert(u8, u32),
    EntryRemove(u8),
    InsertEntry(u8, u32),
    Modify(u8),
    ModifyAll,
    Retain(u8),
    Extract(u8, usize),
    Drain(usize),
    Extend(Vec<(u8, u32)>),
    Clone,
    Rebuild,
    ShrinkToFit,
    Reserve(usize),
    Clear,
    Disjoint(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let key = || any::<u8>();
    prop_oneof![
        12 => (key(), any::<u32>()).prop_map(|(k, v)| Step::Insert(k, v)),
        6 => key().prop_map(Step::Remove),
        3 => (key(), any::<u32>()).prop_map(|(k, v)| Step::OrInsert(k, v)),
        2 => key().prop_map(Step::EntryRemove),
        2 => (key(), any::<u32>()).prop_map(|(k, v)| Step::InsertEntry(k, v)),
        2 => key().prop_map(Step::Modify),
        1 => Just(Step::ModifyAll),
        1 => key().prop_map(Step::Retain),
        1 => (key(), 0usize..20).prop_map(|(k, n)| Step::Extract(k, n)),
        1 => (0usize..20).prop_map(Step::Drain),
        2 => proptest::collection::vec((key(), any::<u32>()), 0..30).prop_map(Step::Extend),
        1 => Just(Step::Clone),
        1 => Just(Step::Rebuild),
        1 => Just(Step::ShrinkToFit),
        1 => (0usize..50).prop_map(Step::Reserve),
        1 => Just(Step::Clear),
        2 => (key(), key()).prop_map(|(a, b)| Step::Disjoint(a, b)),
    ]
}

type Own = HashMap<u8, u32>;
type Model = BTreeMap<u8, u32>;

fn apply(own: &mut Own, model: &mut Model, step: Step) {
    match step {
        Step::Insert(k, v) => assert_eq!(own.insert(k, v), model.insert(k, v)),
        Step::Remove(k) => assert_eq!(own.remove(&k), model.remove(&k)),
        Step::OrInsert(k, v) => {
            assert_eq!(own.entry(k).or_insert(v), model.entry(k).or_insert(v));
        }
        Step::EntryRemove(k) => {
            if let Entry::Occupied(entry) = own.entry(k) {
                assert_eq!(Some(entry.remove()), model.remove(&k));
            }
            assert!(!model.contains_key(&k));
        }
        Step::InsertEntry(k, v) => {
            assert_eq!(own.entry(k).insert_entry(v).get(), &v);
            model.insert(k, v);
        }
        Step::Modify(k) => {
            own.entry(k).and_modify(|v| *v ^= 1);
            if let Some(v) = model.get_mut(&k) {
                *v ^= 1;
            }
        }
        Step::ModifyAll => {
            own.values_mut().for_each(|v| *v = v.wrapping_mul(3));
            for (_, v) in own.iter_mut() {
                *v ^= 5;
            }
            model.values_mut().for_each(|v| *v = v.wrapping_mul(3) ^ 5);
        }
        Step::Retain(k) => {
            own.retain(|&key, v| key < k || *v % 2 == 0);
            model.retain(|&key, v| key < k || *v % 2 == 0);
        }
        Step::Extract(k, n) => {
            let taken: Vec<(u8, u32)> = own.extract_if(|&key, _| key < k).take(n).collect();
            assert!(taken.len() <= n);
            for (key, value) in taken {
                assert!(key < k);
                assert_eq!(model.remove(&key), Some(value));
            }
        }
        Step::Drain(n) => {
            for (key, value) in own.drain().take(n) {
                assert_eq!(model.remove(&key), Some(value));
            }
            assert!(own.is_empty());
            model.clear();
        }
        Step::Extend(entries) => {
            own.extend(entries.iter().copied());
            model.extend(entries);
        }
        Step::Clone => {
            let clone = own.clone();
            assert_eq!(*own, clone);
            own.clone_from(&clone);
        }
        Step::Rebuild => *own = std::mem::take(own).into_iter().collect(),
        Step::ShrinkToFit => own.shrink_to_fit(),
        Step::Reserve(n) => {
            own.reserve(n);
            assert!(own.capacity() >= own.len() + n);
        }
        Step::Clear => {
            own.clear();
            model.clear();
        }
        Step::Disjoint(a, b) if a != b => {
            let found = own.get_disjoint_mut([&a, &b]).map(Option::<&mut u32>::copied);
            assert_eq!(found, [model.get(&a).copied(), model.get(&b).copied()]);
        }
        Step::Disjoint(..) => {}
    }
}

/// Returns the items of `iterator`, sorted. Asserts that the length it reports is right at every
/// step.
fn sorted<T: Ord>(mut iterator: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    loop {
        let (len, hint) = (iterator.len(), iterator.size_hint());
        assert_eq!(hint, (len, Some(len)));
        match iterator.next() {
            Some(item) => found.push(item),
            None => {
                assert_eq!(len, 0);
                assert!(iterator.next().is_none());
                found.sort();
                return found;
            }
        }
    }
}

fn compare(own: &Own, model: &Model) {
    assert_eq!(own.len(), model.len());
    let expected: Vec<(u8, u32)> = model.iter().map(|(&k, &v)| (k, v)).collect();
    assert_eq!(sorted(own.iter().map(|(&k, &v)| (k, v))), expected);
    assert_eq!(sorted(own.clone().into_iter()), expected);
    assert_eq!(sorted(own.clone().drain()), expected);
    assert_eq!(sorted(own.clone().iter_mut().map(|(&k, v)| (k, *v))), expected);
    assert_eq!(sorted(own.keys().copied()), sorted(model.keys().copied()));
    assert_eq!(sorted(own.values().copied()), sorted(model.values().copied()));
    assert_eq!(sorted(own.clone().into_keys()), sorted(model.keys().copied()));
    assert_eq!(sorted(own.clone().into_values()), sorted(model.values().copied()));
    assert_eq!(own.iter().fold(0, |n, _| n + 1), model.len());
    assert_eq!(own.iter().count(), model.len());
    for key in 0..=u8::MAX {
        assert_eq!(own.get(&key), model.get(&key));
        assert_eq!(own.get_key_value(&key), model.get_key_value(&key));
    }
    // A clone of an iterator continues like the iterator. Its `Debug` output shows the remaining
    // items.
    let mut iterator = own.iter();
    iterator.next();
    assert!(iterator.clone().eq(iterator.clone()));
    assert_eq!(format!("{iterator:?}"), format!("{:?}", iterator.collect::<Vec<_>>()));
    let mut iterator = own.clone().into_iter();
    iterator.next();
    assert_eq!(format!("{iterator:?}"), format!("{:?}", iterator.collect::<Vec<_>>()));
}

/// Runs `body` outside of a test and in a run at every level.
fn at_every_level(seed: u64, body: impl Fn()) {
    body();
    for level in Level::ALL {
        let run = Context::new(RunSpec::new("test", level, seed));
        let _test = context::enter(&run, "test");
        body();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn a_map_has_the_contents_of_a_model_at_every_level(
        steps in proptest::collection::vec(step(), 0..120),
        seed in any::<u64>(),
    ) {
        at_every_level(seed, || {
            let (mut own, mut model) = (Own::new(), Model::new());
            for (count, step) in steps.iter().enumerate() {
                apply(&mut own, &mut model, step.clone());
                if count % 16 == 0 {
                    compare(&own, &model);
                }
            }
            compare(&own, &model);
        });
    }

    #[test]
    fn set_operations_have_the_elements_of_std_at_every_level(
        a in proptest::collection::vec(0u8..60, 0..60),
        b in proptest::collection::vec(0u8..60, 0..60),
        removed in proptest::collection::vec(0u8..60, 0..20),
        seed in any::<u64>(),
    ) {
        at_every_level(seed, || {
            let mut oa: HashSet<u8> = a.iter().copied().collect();
            let ob: HashSet<u8> = b.iter().copied().collect();
            let mut sa: std::collections::HashSet<u8> = a.iter().copied().collect();
            let sb: std::collections::HashSet<u8> = b.iter().copied().collect();
            for element in &removed {
                assert_eq!(oa.remove(element), sa.remove(element));
            }
            fn same<'a>(
                own: impl Iterator<Item = &'a u8> + Clone,
                std: impl Iterator<Item = &'a u8>,
            ) {
                let (mut own, mut std): (Vec<_>, Vec<_>) = (own.collect(), std.collect());
                own.sort();
                std.sort();
                assert_eq!(own, std);
            }
            same(oa.union(&ob), sa.union(&sb));
            same(oa.intersection(&ob), sa.intersection(&sb));
            same(oa.difference(&ob), sa.difference(&sb));
            same(oa.symmetric_difference(&ob), sa.symmetric_difference(&sb));
            same((&oa | &ob).iter(), (&sa | &sb).iter());
            same((&oa & &ob).iter(), (&sa & &sb).iter());
            same((&oa ^ &ob).iter(), (&sa ^ &sb).iter());
            same((&oa - &ob).iter(), (&sa - &sb).iter());
            assert_eq!(oa.is_subset(&ob), sa.is_subset(&sb));
            assert_eq!(oa.is_superset(&ob), sa.is_superset(&sb));
            assert_eq!(oa.is_disjoint(&ob), sa.is_disjoint(&sb));
            assert_eq!(oa == ob, sa == sb);
        });
    }

    #[test]
    fn a_long_permuted_map_yields_every_entry_once(
        len in 1000u32..6000,
        removed in 0u32..900,
        seed in any::<u64>(),
    ) {
        at_every_level(seed, || {
            let mut map: HashMap<u32, u32> = (0..len).map(|n| (n, n)).collect();
            for n in 0..removed {
                map.remove(&(n * 3 % len));
            }
            let mut keys: Vec<u32> = map.keys().copied().collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), map.len());
        });
    }
}
