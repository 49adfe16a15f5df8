//! Table II of the NonDex paper: which assertions about a collection may fail at which level.
//!
//! "May fail" means that some seed of [`SEEDS`] makes the assertion fail, "may not" that none does.

use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasher, BuildHasherDefault};

use nondex_collections::collections::{HashMap, HashSet};
use nondex_collections::hash::RandomState;
use nondex_core::{Context, Level, RunSpec, context};

const SEEDS: u64 = 10_000;

type Fixed = BuildHasherDefault<DefaultHasher>;

/// Rows of the table. Each is an assertion about a collection built from a slice of keys.
const ROWS: [&str; 7] = [
    "it has one given order",
    "it has the other order",
    "a second read has the same order",
    "so has a read after a lookup",
    "so has a read after an insertion that was undone",
    "so has another collection built in the same way",
    "a collection of other elements has the same relative order",
];

/// Operations of the rows on a collection of small numbers.
trait Subject {
    fn build(elements: &[u32]) -> Self;
    fn read(&self) -> Vec<u32>;
    fn look_up(&self, element: u32) -> bool;
    fn insert_and_undo(&mut self, element: u32);
}

macro_rules! set_subject {
    ($hasher:ty) => {
        impl Subject for HashSet<u32, $hasher> {
            fn build(elements: &[u32]) -> Self {
                elements.iter().copied().collect()
            }
            fn read(&self) -> Vec<u32> {
                self.iter().copied().collect()
            }
            fn look_up(&self, element: u32) -> bool {
                self.contains(&element)
            }
            fn insert_and_undo(&mut self, element: u32) {
                self.insert(element);
                self.remove(&element);
            }
        }
    };
}

set_subject!(RandomState);
set_subject!(Fixed);

macro_rules! map_subject {
    ($hasher:ty) => {
        impl Subject for HashMap<u32, char, $hasher> {
            fn build(elements: &[u32]) -> Self {
                elements.iter().map(|&element| (element, 'v')).collect()
            }
            fn read(&self) -> Vec<u32> {
                self.keys().copied().collect()
            }
            fn look_up(&self, element: u32) -> bool {
                self.contains_key(&element)
            }
            fn insert_and_undo(&mut self, element: u32) {
                self.insert(element, 'v');
                self.remove(&element);
            }
        }
    };
}

map_subject!(RandomState);
map_subject!(Fixed);

/// Returns which rows failed for one seed.
fn failures<C: Subject>(level: Level, seed: u64) -> [bool; ROWS.len()] {
    let run = Context::new(RunSpec::new("test", level, seed));
    let _test = context::enter(&run, "test");
    let mut subject = C::build(&[1, 2]);
    let order = subject.read();
    let again = subject.read();
    assert!(subject.look_up(1));
    let looked_up = subject.read();
    subject.insert_and_undo(3);
    let undone = subject.read();
    let another = C::build(&[1, 2]).read();
    let others: Vec<u32> = C::build(&[3, 4]).read().iter().map(|n| n - 2).collect();
    [
        order != [1, 2],
        order != [2, 1],
        again != order,
        looked_up != order,
        undone != order,
        another != order,
        others != order,
    ]
}

fn may_fail<C: Subject>(level: Level) -> [bool; ROWS.len()] {
    let mut may_fail = [false; ROWS.len()];
    for seed in 0..SEEDS {
        for (row, failed) in may_fail.iter_mut().zip(failures::<C>(level, seed)) {
            *row |= failed;
        }
    }
    may_fail
}

fn check<C: Subject>(level: Level, expected: [bool; ROWS.len()]) {
    let found = may_fail::<C>(level);
    for ((row, expected), found) in ROWS.iter().zip(expected).zip(found) {
        assert_eq!(found, expected, "at {level}: {row}");
    }
}

const FULL: [bool; 7] = [true, true, true, true, true, true, true];
const ID: [bool; 7] = [true, true, false, false, true, true, true];
const EQ: [bool; 7] = [true, true, false, false, false, false, true];
const ONE: [bool; 7] = [true, true, false, false, false, false, false];

#[test]
fn a_set_fails_what_the_table_says_at_full_and_id() {
    check::<HashSet<u32>>(Level::Full, FULL);
    check::<HashSet<u32>>(Level::Id, ID);
}

#[test]
fn a_set_fails_what_the_table_says_at_eq_and_one() {
    check::<HashSet<u32>>(Level::Eq, EQ);
    check::<HashSet<u32>>(Level::One, ONE);
}

#[test]
fn a_map_fails_what_the_table_says_at_full_and_id() {
    check::<HashMap<u32, char>>(Level::Full, FULL);
    check::<HashMap<u32, char>>(Level::Id, ID);
}

#[test]
fn a_map_fails_what_the_table_says_at_eq_and_one() {
    check::<HashMap<u32, char>>(Level::Eq, EQ);
    check::<HashMap<u32, char>>(Level::One, ONE);
}

#[test]
fn at_std_a_collection_keeps_its_order_until_it_is_built_again() {
    // As in std, every instance has its own keys.
    const STD: [bool; 7] = [true, true, false, false, false, true, true];
    check::<HashSet<u32>>(Level::Std, STD);
    check::<HashMap<u32, char>>(Level::Std, STD);
}

#[test]
fn with_a_fixed_hasher_nothing_changes_at_std() {
    for seed in 0..100 {
        let rows = failures::<HashSet<u32, Fixed>>(Level::Std, seed);
        assert_eq!(rows, failures::<HashMap<u32, char, Fixed>>(Level::Std, seed));
        assert_eq!(rows, failures::<HashSet<u32, Fixed>>(Level::Std, 0));
        assert_eq!(rows[2..6], [false; 4]);
    }
}

#[test]
fn with_a_fixed_hasher_the_levels_hold_too() {
    check::<HashSet<u32, Fixed>>(Level::Full, FULL);
    check::<HashSet<u32, Fixed>>(Level::Id, ID);
    check::<HashMap<u32, char, Fixed>>(Level::Eq, EQ);
    // The canonical order is that of the hasher, which differs for other elements.
    let mut one = ONE;
    one[6] = may_fail::<HashMap<u32, char, Fixed>>(Level::One)[6];
    check::<HashMap<u32, char, Fixed>>(Level::One, one);
}

#[test]
fn equal_collections_built_in_different_orders_agree_at_eq_and_not_at_one() {
    let agree = |level, seed| {
        let run = Context::new(RunSpec::new("test", level, seed));
        let _test = context::enter(&run, "test");
        let forth = HashSet::<u32>::build(&[1, 2, 3, 4]);
        let mut back = HashSet::<u32>::build(&[4, 9, 3, 8, 2, 7, 1, 6]);
        back.retain(|&element| element <= 4);
        forth.read() == back.read()
    };
    assert!((0..200).all(|seed| agree(Level::Eq, seed)));
    assert!(!(0..200).all(|seed| agree(Level::One, seed)));
}

/// Returns whether a set and its clone have the same order after `change`.
fn clone_agrees(
    level: Level,
    seed: u64,
    change: impl Fn(&mut HashSet<u32>, &mut HashSet<u32>),
) -> bool {
    let run = Context::new(RunSpec::new("test", level, seed));
    let _test = context::enter(&run, "test");
    let mut set = HashSet::<u32>::build(&[1, 2, 3]);
    let mut clone = set.clone();
    change(&mut set, &mut clone);
    set.read() == clone.read()
}

#[test]
fn a_clone_agrees_with_its_original_below_full_as_std_clones_the_table() {
    for level in [Level::Std, Level::One, Level::Eq, Level::Id] {
        assert!((0..200).all(|seed| clone_agrees(level, seed, |_, _| ())));
    }
    assert!(!(0..200).all(|seed| clone_agrees(Level::Full, seed, |_, _| ())));
    // A clone of a clone, and a set that a clone is copied into.
    let again = |_: &mut HashSet<u32>, clone: &mut HashSet<u32>| *clone = clone.clone();
    assert!((0..200).all(|seed| clone_agrees(Level::Id, seed, again)));
    let copied = |set: &mut HashSet<u32>, clone: &mut HashSet<u32>| {
        clone.insert_and_undo(7);
        clone.clone_from(set);
    };
    assert!((0..200).all(|seed| clone_agrees(Level::Id, seed, copied)));
}

#[test]
fn at_id_a_clone_is_another_object_once_either_changes() {
    type Change = fn(&mut HashSet<u32>, &mut HashSet<u32>);
    let changes: [Change; 3] = [
        |set, _| set.insert_and_undo(7),
        |_, clone| clone.insert_and_undo(7),
        |set, clone| {
            set.insert_and_undo(7);
            clone.insert_and_undo(7);
        },
    ];
    for change in changes {
        assert!((0..200).all(|seed| clone_agrees(Level::Eq, seed, change)));
        assert!(!(0..200).all(|seed| clone_agrees(Level::Id, seed, change)));
    }
}

#[test]
fn a_collection_from_before_the_test_has_a_content_once_it_grows() {
    let order = |first: &[u32], seed| {
        let mut set = HashSet::<u32>::build(first);
        let run = Context::new(RunSpec::new("test", Level::Eq, seed));
        let _test = context::enter(&run, "test");
        set.extend(100..200);
        set.read()
    };
    for seed in 0..20 {
        assert_eq!(order(&[1, 2, 3], seed), order(&[3, 1, 2], seed));
    }
}

#[test]
fn all_iterators_of_one_state_agree_below_full() {
    for level in [Level::Std, Level::One, Level::Eq, Level::Id] {
        for seed in 0..50 {
            let run = Context::new(RunSpec::new("test", level, seed));
            let _test = context::enter(&run, "test");
            let mut map: HashMap<u32, u32> = (0..20).map(|n| (n, n + 1)).collect();
            let expected: Vec<(u32, u32)> = map.iter().map(|(&k, &v)| (k, v)).collect();
            let keys: Vec<u32> = expected.iter().map(|pair| pair.0).collect();
            let values: Vec<u32> = expected.iter().map(|pair| pair.1).collect();
            assert!(map.keys().copied().eq(keys.iter().copied()));
            assert!(map.values().copied().eq(values.iter().copied()));
            assert!(map.values_mut().map(|v| *v).eq(values.iter().copied()));
            assert!(map.iter_mut().map(|(&k, v)| (k, *v)).eq(expected.clone()));
            let mut visited = Vec::new();
            map.retain(|&key, _| {
                visited.push(key);
                true
            });
            assert_eq!(visited, keys);
            let debug: Vec<String> = expected.iter().map(|(k, v)| format!("{k}: {v}")).collect();
            assert_eq!(format!("{map:?}"), format!("{{{}}}", debug.join(", ")));
            assert!(map.into_iter().eq(expected));
        }
    }
}

/// `extract_if` draws its order only as far as entries are requested. The order of an iterator,
/// which is drawn as a whole, must be the same.
#[test]
fn what_is_extracted_comes_in_the_order_of_the_iterators_whatever_was_removed_before() {
    fn check<S: BuildHasher + Default>(level: Level, seed: u64, len: u32, removed: u32) {
        let run = Context::new(RunSpec::new("test", level, seed));
        let _test = context::enter(&run, "test");
        let filled = || {
            let mut map: HashMap<u32, u32, S> = (0..len + removed).map(|n| (n, n)).collect();
            for key in (0..removed).map(|n| n * 7 % (len + removed)) {
                map.remove(&key);
            }
            map
        };
        for taken_of_four in [1, 2, 4] {
            let mut map = filled();
            let keys: Vec<u32> = map.keys().copied().collect();
            let mut visited = Vec::new();
            let taken: Vec<u32> = map
                .extract_if(|&key, _| {
                    visited.push(key);
                    key.wrapping_mul(0x9e37_79b9) >> 30 < taken_of_four
                })
                .map(|entry| entry.0)
                .collect();
            assert_eq!(visited, keys, "{level:?}, seed {seed}, {len}, {removed}");
            assert_eq!(map.len() + taken.len(), keys.len());
            assert!(taken.iter().all(|key| !map.contains_key(key)));
        }
        let mut map = filled();
        for _ in 0..len.min(30) {
            let first = map.keys().next().copied();
            let taken = map.extract_if(|_, _| true).next();
            assert_eq!(taken.map(|entry| entry.0), first, "{level:?}, seed {seed}");
        }
    }
    for level in [Level::Std, Level::One, Level::Eq, Level::Id] {
        for seed in 0..8 {
            for (len, removed) in [(2, 0), (20, 0), (20, 9), (1500, 0), (1500, 40), (1020, 20)] {
                check::<RandomState>(level, seed, len, removed);
                check::<Fixed>(level, seed, len, removed);
            }
        }
    }
}
