//! Tests of the keys of hash maps.

use ::std::collections::BTreeSet;
use ::std::hash::BuildHasherDefault;

use nondex_core::context::{Context, enter};
use nondex_core::{Level, Outcome, RunRecord, RunSpec, Scope, Selection};

use super::*;
use crate::collections::{HashMap, HashSet};

/// `SipHash` 1-3 of one word, as Aumasson and Bernstein define it (2012).
fn sip(keys: [u64; 2], word: u64) -> u64 {
    let mut v = [
        keys[0] ^ 0x736f_6d65_7073_6575,
        keys[1] ^ 0x646f_7261_6e64_6f6d,
        keys[0] ^ 0x6c79_6765_6e65_7261,
        keys[1] ^ 0x7465_6462_7974_6573,
    ];
    let round = |v: &mut [u64; 4]| {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
    };
    for block in [word, 8 << 56] {
        v[3] ^= block;
        round(&mut v);
        v[0] ^= block;
    }
    v[2] ^= 0xff;
    for _ in 0..3 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

#[test]
fn the_two_words_of_stds_state_are_the_keys_of_siphash_1_3() {
    for key in [0, 1, 7, u64::MAX, 0x0123_4567_89ab_cdef] {
        let second = key.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15;
        for word in [0, 1, 2026, u64::MAX] {
            let mut hasher = keyed(key);
            hasher.write_u64(word);
            assert_eq!(
                hasher.finish(),
                sip([key, second], word.to_le()),
                "{key} {word}"
            );
        }
    }
    assert_eq!(
        size_of::<::std::hash::RandomState>(),
        size_of::<RandomState>()
    );
}

/// What `body` saw in a run, and the record.
fn run<T>(spec: &RunSpec, body: impl FnOnce() -> T) -> (T, RunRecord) {
    let context = Context::new(spec.clone());
    let entered = enter(&context, &spec.test);
    let seen = body();
    drop(entered);
    let record = RunRecord::fold(spec, context.take_events(), Outcome::Exited(0));
    (seen, record)
}

/// How many different values `body` sees with 20 seeds, and how often it made a choice in each run.
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
        || {
            hashbrown::HashMap::<u64, u8, RandomState>::from_iter([(1, 1)])
                .hasher()
                .hash_one(1)
        },
        || {
            let (a, b) = (RandomState::new(), RandomState::new());
            let (c, d) = (a.clone(), b.clone());
            assert_eq!(
                (a.hash_one(7), b.hash_one(7)),
                (c.hash_one(7), d.hash_one(7))
            );
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
        let none = RunSpec {
            choices: Selection::Only(Vec::new()),
            ..RunSpec::new("t", Level::Std, 7)
        };
        assert_eq!(
            run(&none, body).0,
            clean,
            "{number}: turned off, it is what a clean run has"
        );
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

/// A key that keeps what the hasher says while it is hashed.
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
    let keys = &record.points;
    assert_eq!(keys.len(), 2);
    let keys = keys
        .iter()
        .find(|point| point.site.api == model::RANDOM_STATE_NEW.api);
    let without = RunSpec {
        choices: Selection::Except(vec![Scope::from(keys.unwrap().site.clone())]),
        ..all
    };
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
