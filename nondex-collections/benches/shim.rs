//! What the mirror costs beside std's collections and hashbrown's with the same hasher.
//!
//! Each group is one operation, so its figures are to be read as ratios within the group.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

use criterion::{BatchSize, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use fnv::FnvBuildHasher;
use hashbrown::HashMap as Hashbrown;
use nondex_collections::collections::HashMap as Mirror;
use nondex_collections::hash::RandomState as OwnState;
use nondex_core::{Context, Level, RunSpec, context};
use std::collections::HashMap as Std;

/// Entries of a map of usual size.
const SIZE: u64 = 1_000;
/// Entries of a map of which only the first entry is looked at.
const LARGE: u64 = 1_000_000;

/// Keys that are not in order.
fn keys(len: u64) -> impl Iterator<Item = u64> + Clone {
    (0..len).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8)
}

type Group<'a> = BenchmarkGroup<'a, criterion::measurement::WallTime>;

/// Runs `body` for each kind of map, and for the mirror inside a test too.
macro_rules! each {
    ($group:expr, $hasher:expr, $own:expr, $bench:ident) => {{
        let group: &mut Group<'_> = $group;
        $bench!(group, "std", Std, $hasher);
        $bench!(group, "hashbrown", Hashbrown, $hasher);
        $bench!(group, "mirror", Mirror, $own);
        let run = Context::new(RunSpec::new("bench", Level::Full, 1));
        let _test = context::enter(&run, "bench");
        $bench!(group, "mirror-full", Mirror, $own);
    }};
}

macro_rules! get {
    ($group:ident, $name:literal, $map:ident, $hasher:expr) => {
        let mut map = $map::with_hasher($hasher);
        map.extend(keys(SIZE).map(|key| (key, key)));
        $group.bench_function($name, |bencher| {
            bencher.iter(|| {
                keys(SIZE)
                    .filter(|key| map.contains_key(black_box(key)))
                    .count()
            });
        });
    };
}

macro_rules! insert {
    ($group:ident, $name:literal, $map:ident, $hasher:expr) => {
        let hasher = $hasher;
        $group.bench_function($name, |bencher| {
            bencher.iter_with_large_drop(|| {
                let mut map = $map::with_hasher(hasher.clone());
                for key in keys(SIZE) {
                    map.insert(black_box(key), key);
                }
                map
            });
        });
    };
}

macro_rules! churn {
    ($group:ident, $name:literal, $map:ident, $hasher:expr) => {
        let mut map = $map::with_hasher($hasher);
        map.extend(keys(SIZE).map(|key| (key, key)));
        $group.bench_function($name, |bencher| {
            bencher.iter(|| {
                for key in keys(SIZE) {
                    let value = map.remove(black_box(&key));
                    map.insert(key, value.unwrap_or(0));
                }
            });
        });
    };
}

macro_rules! iterate {
    ($group:ident, $name:literal, $map:ident, $hasher:expr) => {
        let mut map = $map::with_hasher($hasher);
        map.extend(keys(SIZE).map(|key| (key, key)));
        $group.bench_function($name, |bencher| {
            bencher.iter(|| {
                let mut sum = 0u64;
                for (key, value) in black_box(&map) {
                    sum = sum.wrapping_add(key ^ value);
                }
                sum
            });
        });
    };
}

macro_rules! into_iter {
    ($group:ident, $name:literal, $map:ident, $hasher:expr) => {
        let mut map = $map::with_hasher($hasher);
        map.extend(keys(SIZE).map(|key| (key, key)));
        $group.bench_function($name, |bencher| {
            bencher.iter_batched(
                || map.clone(),
                |map| {
                    map.into_iter()
                        .fold(0u64, |sum, (key, value)| sum.wrapping_add(key ^ value))
                },
                BatchSize::SmallInput,
            );
        });
    };
}

macro_rules! first_of_many {
    ($group:ident, $name:literal, $map:ident, $hasher:expr) => {
        let mut map = $map::with_hasher($hasher);
        map.extend(keys(LARGE).map(|key| (key, key)));
        $group.bench_function($name, |bencher| {
            bencher.iter(|| black_box(&map).iter().next().map(|(key, _)| *key));
        });
    };
}

/// `own` is what the mirror calls `hasher`.
fn with_hasher<S: BuildHasher + Clone>(
    criterion: &mut Criterion,
    name: &str,
    hasher: &S,
    own: &(impl BuildHasher + Clone),
) {
    each!(
        &mut criterion.benchmark_group(format!("{name}/get")),
        hasher.clone(),
        own.clone(),
        get
    );
    each!(
        &mut criterion.benchmark_group(format!("{name}/insert")),
        hasher.clone(),
        own.clone(),
        insert
    );
    each!(
        &mut criterion.benchmark_group(format!("{name}/remove-insert")),
        hasher.clone(),
        own.clone(),
        churn
    );
    each!(
        &mut criterion.benchmark_group(format!("{name}/iterate")),
        hasher.clone(),
        own.clone(),
        iterate
    );
    each!(
        &mut criterion.benchmark_group(format!("{name}/into_iter")),
        hasher.clone(),
        own.clone(),
        into_iter
    );
    each!(
        &mut criterion.benchmark_group(format!("{name}/first-of-a-million")),
        hasher.clone(),
        own.clone(),
        first_of_many
    );
}

fn shim(criterion: &mut Criterion) {
    with_hasher(
        criterion,
        "random_state",
        &RandomState::new(),
        &OwnState::new(),
    );
    with_hasher(
        criterion,
        "fnv",
        &FnvBuildHasher::default(),
        &FnvBuildHasher::default(),
    );
}

criterion_group!(benches, shim);
criterion_main!(benches);
