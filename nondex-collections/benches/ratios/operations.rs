//! The measured operations. One text covers std's collections and the mirrored ones.

/// A meter of acts that are performed once or more.
pub(super) trait Meter {
    /// Measures an act on a value that `make` makes before it and that is dropped later, in batches
    /// of `at_a_time`.
    fn each_on<T, R>(
        &mut self,
        at_a_time: u64,
        make: impl FnMut() -> T,
        act: impl FnMut(&mut T) -> R,
    );
}

/// The operations, each with the numbers of entries for which it is measured.
pub(super) const OPERATIONS: &[(&str, &[u64])] = &[
    ("get", &[1_000, 100_000]),
    ("get_text", &[1_000]),
    ("insert", &[1_000, 100_000]),
    ("remove", &[1_000, 100_000]),
    ("remove_text", &[1_000]),
    ("remove_insert", &[1_000, 100_000]),
    ("clone", &[1_000, 100_000]),
    ("clone_insert", &[1_000, 100_000]),
    ("iter", &[10, 100, 1_000, 10_000, 100_000, 1_000_000]),
    ("iter_of_many", &[10]),
    ("for_loop", &[10, 100, 1_000, 100_000]),
    ("values_mut", &[10, 100, 1_000, 100_000]),
    ("drain", &[10, 1_000, 100_000]),
    ("into_iter", &[10, 1_000, 100_000]),
    ("first", &[10, 1_000_000]),
    ("first_mut", &[10, 100_000]),
    ("pop", &[20_000]),
];

/// The operations that are measured with a repeatable hasher.
pub(super) const FIXED: &[(&str, &[u64])] =
    &[("insert", &[1_000]), ("iter", &[10, 1_000, 100_000]), ("pop", &[20_000])];

/// Returns keys that are not sorted.
pub(super) fn keys(len: u64) -> impl Iterator<Item = u64> + Clone {
    (0..len).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8)
}

/// Defines a module with the operations on one library's collections.
macro_rules! operations {
    ($library:ident, $($collections:ident)::+) => {
        pub(super) mod $library {
            use std::hash::BuildHasher;
            use std::hint::black_box;

            pub(crate) use $($collections)::+::hash_map::RandomState;
            pub(crate) use $($collections)::+::{HashMap, HashSet};

            use super::{Meter, keys};

            /// Measures an operation on a map with this number of entries.
            #[expect(clippy::too_many_lines, reason = "a few lines for each operation")]
            pub(crate) fn measure<S: BuildHasher + Clone>(
                meter: &mut impl Meter,
                operation: &str,
                len: u64,
                hasher: &S,
            ) {
                let filled = || {
                    let mut map = HashMap::with_hasher(hasher.clone());
                    map.extend(keys(len).map(|key| (key, key)));
                    map
                };
                let len_of_text = if operation.ends_with("_text") { len } else { 0 };
                let words: Vec<String> = keys(len_of_text).map(|key| key.to_string()).collect();
                let with_text = || {
                    let mut map = HashMap::with_hasher(hasher.clone());
                    map.extend(words.iter().map(|word| (word.as_str(), ())));
                    map
                };
                // As many copies at a time as fit into the processor's cache.
                let at_a_time = (20_000 / len).max(1);
                let sum = |sum: u64, (key, value): (&u64, &u64)| sum.wrapping_add(key ^ value);
                let mut map = filled();
                // Excludes work that is done once, at the first visit after a change. A clone
                // shares some of that work with its original until it is changed. Maps that are to
                // be changed or consumed are therefore filled anew.
                black_box(map.iter().next());
                match operation {
                    "get" => meter.each_on(at_a_time, || (), |()| {
                        keys(len).filter(|key| map.contains_key(black_box(key))).count()
                    }),
                    "get_text" => meter.each_on(at_a_time, with_text, |map| {
                        words
                            .iter()
                            .filter(|word| map.contains_key(black_box(word.as_str())))
                            .count()
                    }),
                    "remove_text" => meter.each_on(at_a_time, with_text, |map| {
                        words
                            .iter()
                            .filter(|word| map.remove(black_box(word.as_str())).is_some())
                            .count()
                    }),
                    "insert" => meter.each_on(
                        at_a_time,
                        || HashMap::with_hasher(hasher.clone()),
                        |map| {
                            for key in keys(len) {
                                black_box(map.insert(black_box(key), key));
                            }
                        },
                    ),
                    "remove" => meter.each_on(
                        at_a_time,
                        filled,
                        |map| keys(len).filter(|key| map.remove(black_box(key)).is_some()).count(),
                    ),
                    "remove_insert" => meter.each_on(at_a_time, || (), |()| {
                        for key in keys(len) {
                            let value = map.remove(black_box(&key));
                            map.insert(key, value.unwrap_or(0));
                        }
                    }),
                    "clone" => meter.each_on(at_a_time, || (), |()| map.clone()),
                    "clone_insert" => meter.each_on(at_a_time, || (), |()| {
                        let mut clone = map.clone();
                        clone.insert(black_box(u64::MAX), 0);
                        clone
                    }),
                    "iter" => {
                        meter.each_on(at_a_time, || (), |()| black_box(&map).iter().fold(0, sum))
                    }
                    "iter_of_many" => {
                        let maps: Vec<_> = (0..100).map(|_| filled()).collect();
                        meter.each_on(at_a_time, || (), |()| {
                            let sums = maps.iter().map(|map| map.iter().fold(0, sum));
                            sums.fold(0, u64::wrapping_add)
                        });
                    }
                    "for_loop" => meter.each_on(at_a_time, || (), |()| {
                        let mut all = 0;
                        for entry in black_box(&map) {
                            all = sum(all, entry);
                        }
                        all
                    }),
                    "values_mut" => {
                        meter.each_on(
                            at_a_time,
                            || (),
                            |()| black_box(&mut map).values_mut().for_each(|value| *value += 1),
                        );
                    }
                    "drain" => meter.each_on(
                        at_a_time,
                        filled,
                        |map| map.drain().fold(0, |all, (key, value)| sum(all, (&key, &value))),
                    ),
                    "into_iter" => meter.each_on(
                        at_a_time,
                        || Some(filled()),
                        |map| {
                            let map = map.take()?;
                            let sum = |all, (key, value)| sum(all, (&key, &value));
                            Some(map.into_iter().fold(0, sum))
                        },
                    ),
                    "first" => meter.each_on(
                        at_a_time,
                        || (),
                        |()| black_box(&map).iter().next().map(|(key, _)| *key),
                    ),
                    "first_mut" => meter.each_on(
                        1,
                        || {
                            let mut map = filled();
                            black_box(map.iter_mut().next());
                            map
                        },
                        |map| map.iter_mut().next().map(|(key, _)| *key),
                    ),
                    "pop" => meter.each_on(
                        at_a_time,
                        filled,
                        |map| {
                            while let Some(key) = map.keys().next().copied() {
                                map.remove(&key);
                            }
                        },
                    ),
                    _ => unreachable!("no operation is called {operation}"),
                }
            }
        }
    };
}

operations!(of_std, std::collections);
operations!(mirror, nondex_collections::collections);
