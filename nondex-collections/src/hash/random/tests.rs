//! Tests of the keys of hash maps.

use ::std::collections::BTreeSet;
use ::std::hash::BuildHasherDefault;

use nondex_core::context::{Context, enter};
use nondex_core::{Level, Outcome, RunRecord, RunSpec, Selection};

use super::*;
use crate::collections::{HashMap, HashSet};

/// Writes numbers of all widths and text of many lengths, in an order that follows from `seed`.
fn write_all(mut seed: u64, hasher: &mut impl Hasher) {
    for step in 0..40 {
        seed = nondex_core::hash::mix(seed + step);
        match seed % 9 {
            0 => hasher.write_u8(seed as u8),
            1 => (seed as i16).hash(hasher),
            2 => hasher.write_u32(seed as u32),
            3 => (seed as i64).hash(hasher),
            4 => hasher.write_usize(seed as usize),
            5 => (u128::from(seed) << 60).hash(hasher),
            6 => [seed as u16; 3].hash(hasher),
            7 => (seed < 9, 'x', ()).hash(hasher),
            _ => "text of any length, and more"[..seed as usize / 9 % 29].hash(hasher),
        }
    }
}

#[test]
fn a_table_hashes_as_stds_hasher_with_the_same_keys() {
    for seed in 0..2_000 {
        let state = RandomState::new();
        let mut own = TableHasher::new(&state);
        let mut of_std = keyed(state.table);
        write_all(seed, &mut own);
        write_all(seed, &mut of_std);
        assert_eq!(own.into_hash(), of_std.finish(), "{seed}");
    }
    assert_eq!(size_of::<::std::hash::RandomState>(), size_of::<RandomState>());
}

#[test]
fn the_hash_is_siphash_1_3() {
    // Expected hashes of the bytes 0, 1, 2, … with keys of such bytes, from std's own test.
    let expected = [
        (0, [0xdc, 0xc4, 0x0f, 0x05, 0x58, 0x01, 0xac, 0xab]),
        (1, [0x93, 0xca, 0x57, 0x7d, 0xf3, 0x9b, 0xf4, 0xc9]),
        (7, [0x40, 0x11, 0xb1, 0x9b, 0x98, 0x7d, 0x92, 0xd3]),
        (8, [0x8e, 0x9a, 0x29, 0x8d, 0x11, 0x95, 0x90, 0x36]),
        (15, [0x56, 0x99, 0x51, 0x2a, 0x6d, 0xd8, 0x20, 0xd3]),
    ];
    for (len, expected) in expected {
        let mut hasher = sip::Sip13::new([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
        hasher.write(&(0..len).collect::<Vec<u8>>());
        assert_eq!(hasher.finish().to_le_bytes(), expected, "{len}");
    }
}

/// Runs `body` in a run, and returns its result and the record.
fn run<T>(spec: &RunSpec, body: impl FnOnce() -> T) -> (T, RunRecord) {
    let context = Context::new(spec.clone());
    let entered = enter(&context, &spec.test);
    let seen = body();
    drop(entered);
    let record = RunRecord::fold(spec, context.take_events(), Outcome::Exited(0));
    (seen, record)
}

/// Returns how many different results `body` has with 20 seeds, and the number of its choices in
/// each run.
fn seen_at<T: Ord>(level: Level, body: impl Fn() -> T) -> (usize, u64) {
    let mut seen = BTreeSet::new();
    let mut counts = BTreeSet::new();
    for seed in 0..20 {
        let (value, record) = run(&RunSpec::new("t", level, seed), &body);
        seen.insert(value);
        counts.insert(record.choice_points());
    }
    assert_eq!(counts.len(), 1);
    (seen.len(), *counts.first().unwrap())
}

#[test]
fn what_shows_the_keys_is_a_choice_that_varies_at_std_and_nowhere_else() {
    type Body = fn() -> u64;
    let bodies: [Body; 6] = [
        || RandomState::new().hash_one(1),
        || RandomState::default().build_hasher().finish(),
        || HashMap::<u8, u8>::new().hasher().hash_one(1),
        || HashSet::<u8>::from([1, 2]).hasher().clone().hash_one(1),
        || hashbrown::HashMap::<u64, u8, RandomState>::from_iter([(1, 1)]).hasher().hash_one(1),
        || {
            let (a, b) = (RandomState::new(), RandomState::new());
            let (c, d) = (a.clone(), b.clone());
            assert_eq!((a.hash_one(7), b.hash_one(7)), (c.hash_one(7), d.hash_one(7)));
            assert_ne!(a.hash_one(7), b.hash_one(7));
            c.hash_one(7)
        },
    ];
    for (number, body) in bodies.into_iter().enumerate() {
        let choices = if number == 5 { 2 } else { 1 };
        assert_eq!(seen_at(Level::Std, body), (20, choices), "{number}");
        for level in &Level::ALL[1..] {
            assert_eq!(seen_at(*level, body), (1, choices), "{number} {level}");
        }
        let clean = run(&RunSpec::clean("t"), body).0;
        assert_eq!(run(&RunSpec::new("t", Level::Full, 7), body).0, clean);
        let none = RunSpec::new("t", Level::Std, 7).with_selection(Selection::Only(Vec::new()));
        assert_eq!(run(&none, body).0, clean, "{number}: turned off, it is what a clean run has");
    }
}

#[test]
fn a_collection_that_shows_no_order_makes_no_choice() {
    let body = || {
        let state = RandomState::new();
        let mut map = HashMap::with_hasher(state);
        map.extend((0..100).map(|key| (key, key)));
        let copy = map.clone();
        map.remove(&7);
        u64::from(copy.contains_key(&7)) + map[&8]
    };
    for level in Level::ALL {
        assert_eq!(seen_at(level, body), (1, 0), "{level}");
    }
    let fixed = || BuildHasherDefault::<DefaultHasher>::default().hash_one(1);
    assert_eq!(seen_at(Level::Std, fixed), (1, 0));
}

/// A key that keeps the hasher's result while it is hashed.
struct Looks<'a>(&'a str, &'a ::std::cell::Cell<u64>);

impl Hash for Looks<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
        let hash = state.finish();
        hash.hash(state);
        self.1.set(hash);
    }
}

impl PartialEq for Looks<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Looks<'_> {}

#[test]
fn a_key_that_looks_at_its_hash_makes_the_choice_and_is_found_again() {
    let body = || {
        let looks = Default::default();
        let mut map = HashMap::new();
        let words = (0..100).map(|word| word.to_string()).collect::<Vec<_>>();
        map.extend(words.iter().map(|word| (Looks(word, &looks), word.len())));
        let hash_of = |word: &String| {
            assert_eq!(map[&Looks(word, &looks)], word.len());
            looks.get()
        };
        let hashes: Vec<u64> = words.iter().map(hash_of).collect();
        assert_eq!(hashes, words.iter().map(hash_of).collect::<Vec<_>>());
        assert_eq!(hashes.iter().collect::<BTreeSet<_>>().len(), 100);
        hashes
    };
    assert_eq!(seen_at(Level::Std, body), (20, 1));
    for level in &Level::ALL[1..] {
        assert_eq!(seen_at(*level, body), (1, 1), "{level}");
    }
}

#[test]
fn an_order_does_not_depend_on_whether_the_keys_are_seen() {
    let body = || {
        let mut map = HashMap::new();
        map.extend((0..50).map(|key| (key, key)));
        let hash = map.hasher().hash_one(1);
        (hash, map.into_keys().collect::<Vec<_>>())
    };
    let all = RunSpec::new("t", Level::Std, 3);
    let ((hash, order), record) = run(&all, body);
    assert_eq!(record.points.len(), 2);
    let keys = record.points.iter().find(|point| point.site.api == model::RANDOM_STATE_NEW.api);
    let without = all.with_selection(Selection::except([keys.unwrap().site.clone()]));
    let (other_hash, same_order) = run(&without, body).0;
    assert_ne!(hash, other_hash);
    assert_eq!(order, same_order);
}

#[test]
fn a_state_that_threads_ask_at_once_is_one_choice() {
    for seed in 0..50 {
        let ((), record) = run(&RunSpec::new("t", Level::Std, seed), || {
            let state = RandomState::new();
            let hashes: BTreeSet<u64> = crate::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| scope.spawn(|| (state.hash_one(1), state.clone().hash_one(1))))
                    .collect();
                let hashes = threads.into_iter().map(|thread| thread.join().unwrap());
                hashes.flat_map(|(a, b)| [a, b]).collect()
            });
            assert_eq!(hashes.len(), 1);
        });
        assert_eq!(record.choice_points(), 1);
    }
}

#[test]
fn outside_a_run_keys_are_random() {
    let hashes: BTreeSet<u64> = (0..20).map(|_| RandomState::new().hash_one(1)).collect();
    assert_eq!(hashes.len(), 20);
}
