//! The table of a collection has the order and the capacity of std's own collection.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, Hash};

mod support;

use fnv::FnvBuildHasher;
use nondex_collections::collections::{HashMap, HashSet};
use nondex_collections::hash::RandomState;
use nondex_core::{Context, Level, RunSpec, context};

use support::{Keyed, Random};

impl Random {
    fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }
}

/// Keys of different sizes, made from a number.
trait Key: Eq + Hash + Clone + Debug {
    fn key(n: usize) -> Self;
}

impl Key for () {
    fn key(_: usize) {}
}
impl Key for u8 {
    fn key(n: usize) -> Self {
        n as u8
    }
}
impl Key for u16 {
    fn key(n: usize) -> Self {
        n as u16
    }
}
impl Key for u64 {
    fn key(n: usize) -> Self {
        n as u64
    }
}
impl<const N: usize> Key for [u8; N] {
    fn key(n: usize) -> Self {
        std::array::from_fn(|place| (n >> (8 * (place % 2))) as u8)
    }
}
impl Key for String {
    fn key(n: usize) -> Self {
        format!("key {n}")
    }
}

/// Applies one random history to std's map and to the mirror. Compares the observable state of the
/// table after each step.
#[expect(
    clippy::incompatible_msrv,
    reason = "std's `extract_if` is newer than the oldest toolchain of the runtime"
)]
#[expect(clippy::too_many_lines, reason = "one line or two for each operation of a map")]
fn same_history<K: Key, V: Clone + Debug + Default + PartialEq, S>(
    seed: u64,
    hasher: S,
    steps: usize,
) where
    S: BuildHasher + Clone,
{
    let mut random = Random(seed);
    let span = [4, 20, 200, 3000][random.index(4)];
    let room = [0, 0, 1, 3, 4, 7, 8, 14, 15, 28, 29, 100][random.index(12)];
    let mut std =
        std::collections::HashMap::<K, V, S>::with_capacity_and_hasher(room, hasher.clone());
    let mut own = HashMap::<K, V, S>::with_capacity_and_hasher(room, hasher);
    // Growing and shrinking alternate, so that tables fill with deleted buckets.
    let mut growing = true;
    for step in 0..steps {
        if random.index(60) == 0 {
            growing = !growing;
        }
        let key = K::key(random.index(span));
        match random.index(100) {
            0..62 if growing => {
                assert_eq!(std.insert(key.clone(), V::default()), own.insert(key, V::default()));
            }
            0..62 => assert_eq!(std.remove(&key), own.remove(&key)),
            62..72 => {
                std.entry(key.clone()).or_default();
                own.entry(key).or_default();
            }
            72..78 => assert_eq!(std.remove_entry(&key), own.remove_entry(&key)),
            78..82 => {
                use nondex_collections::collections::hash_map::Entry;
                if let std::collections::hash_map::Entry::Occupied(entry) = std.entry(key.clone()) {
                    entry.remove();
                }
                if let Entry::Occupied(entry) = own.entry(key) {
                    entry.remove();
                }
            }
            82 => {
                std = std.clone();
                own = own.clone();
            }
            83 => {
                let (a, b) = (std.clone(), own.clone());
                std.shrink_to_fit();
                own.shrink_to_fit();
                if random.index(2) == 0 {
                    std.clone_from(&a);
                    own.clone_from(&b);
                }
            }
            84 => {
                let room = random.index(40);
                std.reserve(room);
                own.reserve(room);
            }
            85 => {
                let room = random.index(100);
                std.shrink_to(room);
                own.shrink_to(room);
            }
            86 => {
                let room = random.index(50);
                std.try_reserve(room).unwrap();
                own.try_reserve(room).unwrap();
            }
            87 if random.index(4) == 0 => {
                std.clear();
                own.clear();
            }
            88 if random.index(4) == 0 => {
                let mut a: Vec<K> = Vec::new();
                let mut b: Vec<K> = Vec::new();
                a.extend(std.drain().map(|(key, _)| key));
                b.extend(own.drain().map(|(key, _)| key));
                assert_eq!(a, b, "seed {seed} step {step}: drain");
            }
            89..91 => {
                let cut = random.index(4);
                let (mut a, mut b) = (0, 0);
                let odd = |n: &mut usize| {
                    *n += 1;
                    *n % 4 > cut
                };
                std.retain(|_, _| odd(&mut a));
                own.retain(|_, _| odd(&mut b));
            }
            91..93 => {
                let cut = random.index(4);
                let (mut a, mut b) = (0, 0);
                let odd = |n: &mut usize| {
                    *n += 1;
                    *n % 4 > cut
                };
                let limit = random.index(20);
                let a: Vec<K> =
                    std.extract_if(|_, _| odd(&mut a)).take(limit).map(|p| p.0).collect();
                let b: Vec<K> =
                    own.extract_if(|_, _| odd(&mut b)).take(limit).map(|p| p.0).collect();
                assert_eq!(a, b, "seed {seed} step {step}: extract_if");
            }
            _ => {
                let len = random.index(12);
                let keys: Vec<(K, V)> =
                    (0..len).map(|_| (K::key(random.index(span)), V::default())).collect();
                std.extend(keys.clone());
                own.extend(keys);
            }
        }
        assert_eq!(std.len(), own.len(), "seed {seed} step {step}");
        assert_eq!(std.capacity(), own.capacity(), "seed {seed} step {step}");
        assert!(std.keys().eq(own.keys()), "seed {seed} step {step}");
    }
    assert!(std.iter().eq(own.iter()));
    assert!(std.into_iter().eq(own.into_iter()));
}

fn with_every_size<S: BuildHasher + Clone>(seed: u64, hasher: &S) {
    match seed % 8 {
        0 => same_history::<(), (), S>(seed, hasher.clone(), 60),
        1 => same_history::<u8, (), S>(seed, hasher.clone(), 120),
        2 => same_history::<u16, (), S>(seed, hasher.clone(), 120),
        3 => same_history::<[u8; 3], (), S>(seed, hasher.clone(), 120),
        4 => same_history::<u64, (), S>(seed, hasher.clone(), 120),
        5 => same_history::<[u8; 100], (), S>(seed, hasher.clone(), 120),
        6 => same_history::<u8, u8, S>(seed, hasher.clone(), 120),
        _ => same_history::<String, u64, S>(seed, hasher.clone(), 120),
    }
}

#[test]
fn with_a_fixed_hasher_every_history_has_the_order_of_std() {
    for seed in 0..4_000 {
        with_every_size(seed, &FnvBuildHasher::default());
        with_every_size(seed, &BuildHasherDefault::<DefaultHasher>::default());
    }
}

#[test]
fn with_colliding_hashes_every_history_has_the_order_of_std() {
    for seed in 0..2_000 {
        with_every_size(seed, &Keyed(0));
    }
}

#[test]
fn with_a_fixed_hasher_nothing_changes_in_a_run_at_std() {
    for seed in 0..400 {
        let run = Context::new(RunSpec::new("test", Level::Std, seed));
        let _test = context::enter(&run, "test");
        with_every_size(seed, &FnvBuildHasher::default());
    }
}

#[test]
fn at_std_a_history_has_the_order_of_std_with_the_same_keys() {
    for seed in 0..1_000 {
        let run = Context::new(RunSpec::new("test", Level::Std, seed));
        let _test = context::enter(&run, "test");
        with_every_size(seed, &RandomState::new());
    }
}

#[test]
fn set_operations_have_the_order_and_the_capacity_of_std() {
    fn check<S: BuildHasher + Clone + Default>(seed: u64) {
        let mut random = Random(seed);
        let mut elements = || -> Vec<u64> {
            let len = random.index(40);
            (0..len).map(|_| random.index(60) as u64).collect()
        };
        let (a, b) = (elements(), elements());
        let hasher = S::default();
        let std = |from: &[u64]| {
            let mut set = std::collections::HashSet::<u64, S>::with_hasher(hasher.clone());
            set.extend(from);
            set
        };
        let own = |from: &[u64]| {
            let mut set = HashSet::<u64, S>::with_hasher(hasher.clone());
            set.extend(from);
            set
        };
        let (sa, sb, oa, ob) = (std(&a), std(&b), own(&a), own(&b));
        assert!(sa.union(&sb).eq(oa.union(&ob)));
        assert!(sa.intersection(&sb).eq(oa.intersection(&ob)));
        assert!(sa.difference(&sb).eq(oa.difference(&ob)));
        assert!(sa.symmetric_difference(&sb).eq(oa.symmetric_difference(&ob)));
        assert_eq!(sa.union(&sb).size_hint(), oa.union(&ob).size_hint());
        for (std, own) in [
            (&sa | &sb, &oa | &ob),
            (&sa & &sb, &oa & &ob),
            (&sa ^ &sb, &oa ^ &ob),
            (&sa - &sb, &oa - &ob),
        ] {
            assert_eq!(std.capacity(), own.capacity());
            assert_eq!(std.len(), own.len());
            // Sets with new random keys have a different order.
            if std::any::type_name::<S>() != std::any::type_name::<RandomState>() {
                assert!(std.iter().eq(own.iter()));
            }
        }
    }
    for seed in 0..1_000 {
        check::<FnvBuildHasher>(seed);
        let run = Context::new(RunSpec::new("test", Level::Std, seed));
        let _test = context::enter(&run, "test");
        check::<RandomState>(seed);
    }
}

#[test]
fn without_a_run_a_random_state_iterates_in_insertion_order() {
    let mut random = Random(7);
    let mut set = HashSet::new();
    let mut expected: Vec<usize> = Vec::new();
    for _ in 0..20_000 {
        let element = random.index(500);
        if random.index(2) == 0 {
            if set.insert(element) {
                expected.push(element);
            }
        } else if set.remove(&element) {
            expected.retain(|&other| other != element);
        }
    }
    assert!(set.iter().eq(&expected));
    set.retain(|element| element % 3 == 0);
    expected.retain(|element| element % 3 == 0);
    assert!(set.iter().eq(&expected));
    assert!(set.into_iter().eq(expected));
}

#[test]
fn a_queue_stays_small_and_in_order() {
    let mut set = HashSet::with_capacity(100_000);
    for n in 0..50_000u32 {
        set.insert(n);
        if n >= 10 {
            assert_eq!(set.iter().next().copied(), Some(n - 10));
            assert!(set.remove(&(n - 10)));
        }
    }
    assert!(set.into_iter().eq(49_990..50_000));
}
