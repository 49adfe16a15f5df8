//! What the mirror costs beside std's own collections, as ratios: `cargo bench -p nondex-collections`.
//!
//! Criterion measures each operation over std's map and over the mirror's, in base order and at every level, in one process.
//! At the end the tables of the book are printed: each figure is the least time of one over the least of std's. What follows
//! `--` selects operations, as in any criterion bench: `-- iter/1000/`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use criterion::Criterion;
use criterion::measurement::WallTime;
use nondex_core::{Context, Level, RunSpec, Selection, context};

/// The operations, each with the numbers of entries it is measured for.
const OPERATIONS: &[(&str, &[u64])] = &[
    ("get", &[1_000, 100_000]),
    ("insert", &[1_000, 100_000]),
    ("remove", &[1_000, 100_000]),
    ("remove_insert", &[1_000, 100_000]),
    ("clone", &[1_000, 100_000]),
    ("iter", &[10, 100, 1_000, 10_000, 100_000, 1_000_000]),
    ("iter_of_many", &[10]),
    ("for_loop", &[10, 1_000, 100_000]),
    ("values_mut", &[1_000, 100_000]),
    ("drain", &[1_000, 100_000]),
    ("into_iter", &[1_000, 100_000]),
    ("first", &[1_000_000]),
    ("first_mut", &[100_000]),
    ("pop", &[20_000]),
];

/// The same with a hasher that is repeatable.
const FIXED: &[(&str, &[u64])] = &[
    ("insert", &[1_000]),
    ("iter", &[10, 1_000, 100_000]),
    ("pop", &[20_000]),
];

type Fixed = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

/// The operations over one library's collections.
macro_rules! operations {
    ($library:ident, $($collections:ident)::+) => {
        mod $library {
            use std::hash::BuildHasher;
            use std::hint::black_box;

            use criterion::{BatchSize, Bencher};
            pub(super) use $($collections)::+::hash_map::RandomState;
            pub(super) use $($collections)::+::{HashMap, HashSet};

            use super::keys;

            /// Measures an operation on a map of so many entries.
            pub(super) fn measure<S: BuildHasher + Clone>(
                bencher: &mut Bencher<'_>,
                operation: &str,
                len: u64,
                hasher: &S,
            ) {
                let filled = || {
                    let mut map = HashMap::with_hasher(hasher.clone());
                    map.extend(keys(len).map(|key| (key, key)));
                    map
                };
                // As many copies at a time as the processor's cache has room for.
                let batch = BatchSize::NumIterations((20_000 / len).max(1));
                let sum = |sum: u64, (key, value): (&u64, &u64)| sum.wrapping_add(key ^ value);
                let mut map = filled();
                // What is made once, at the first visit after a change, is no part of each.
                black_box(map.iter().next());
                match operation {
                    "get" => bencher.iter(|| {
                        keys(len).filter(|key| map.contains_key(black_box(key))).count()
                    }),
                    "insert" => bencher.iter_batched_ref(
                        || HashMap::with_hasher(hasher.clone()),
                        |map| {
                            for key in keys(len) {
                                black_box(map.insert(black_box(key), key));
                            }
                        },
                        batch,
                    ),
                    "remove" => bencher.iter_batched_ref(
                        || map.clone(),
                        |map| keys(len).filter(|key| map.remove(black_box(key)).is_some()).count(),
                        batch,
                    ),
                    "remove_insert" => bencher.iter(|| {
                        for key in keys(len) {
                            let value = map.remove(black_box(&key));
                            map.insert(key, value.unwrap_or(0));
                        }
                    }),
                    "clone" => bencher.iter(|| map.clone()),
                    "iter" => bencher.iter(|| black_box(&map).iter().fold(0, sum)),
                    "iter_of_many" => {
                        let maps: Vec<_> = (0..100).map(|_| filled()).collect();
                        bencher.iter(|| {
                            let sums = maps.iter().map(|map| map.iter().fold(0, sum));
                            sums.fold(0, u64::wrapping_add)
                        });
                    }
                    "for_loop" => bencher.iter(|| {
                        let mut all = 0;
                        for entry in black_box(&map) {
                            all = sum(all, entry);
                        }
                        all
                    }),
                    "values_mut" => {
                        bencher.iter(|| black_box(&mut map).values_mut().for_each(|value| *value += 1));
                    }
                    "drain" => bencher.iter_batched_ref(
                        || map.clone(),
                        |map| map.drain().fold(0, |all, (key, value)| sum(all, (&key, &value))),
                        batch,
                    ),
                    "into_iter" => bencher.iter_batched(
                        || map.clone(),
                        |map| map.into_iter().fold(0, |all, (key, value)| sum(all, (&key, &value))),
                        batch,
                    ),
                    "first" => bencher.iter(|| black_box(&map).iter().next().map(|(key, _)| *key)),
                    "first_mut" => bencher.iter_batched_ref(
                        filled,
                        |map| map.iter_mut().next().map(|(key, _)| *key),
                        BatchSize::PerIteration,
                    ),
                    "pop" => bencher.iter_batched_ref(
                        || map.clone(),
                        |map| {
                            while let Some(key) = map.keys().next().copied() {
                                map.remove(&key);
                            }
                        },
                        batch,
                    ),
                    _ => unreachable!("no operation is called {operation}"),
                }
            }
        }
    };
}

operations!(of_std, std::collections);
operations!(mirror, nondex_collections::collections);

/// Keys that are not in order.
fn keys(len: u64) -> impl Iterator<Item = u64> + Clone {
    (0..len).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8)
}

/// The runs that the mirror is measured in: the clean run, and one at each level.
fn runs() -> Vec<(&'static str, RunSpec)> {
    let mut base = RunSpec::new("bench", Level::Std, 1);
    base.choices = Selection::None;
    let mut runs = vec![("base", base)];
    runs.extend(Level::ALL.map(|level| (level.name(), RunSpec::new("bench", level, 3))));
    runs
}

/// Measures all operations over a kind of map.
macro_rules! measure_all {
    ($criterion:expr, $operations:expr, $hasher:literal, $of_std:expr, $own:expr) => {
        for (operation, lens) in $operations {
            for &len in *lens {
                let mut group =
                    $criterion.benchmark_group(format!("{operation}/{len}/{}", $hasher));
                group.bench_function("std", |bencher| {
                    of_std::measure(bencher, operation, len, &$of_std);
                });
                for (name, spec) in runs() {
                    let run = Context::new(spec);
                    let _test = context::enter(&run, "bench");
                    group.bench_function(name, |bencher| {
                        mirror::measure(bencher, operation, len, &$own);
                    });
                }
            }
        }
    };
}

/// The least time of one iteration, in nanoseconds, that criterion saw in this process.
fn least(folder: &Path, bench: &str) -> Option<f64> {
    let sample = folder.join(bench).join("new/sample.json");
    let sample: serde_json::Value = serde_json::from_slice(&fs::read(sample).ok()?).ok()?;
    let (iterations, times) = (sample["iters"].as_array()?, sample["times"].as_array()?);
    let each = iterations.iter().zip(times);
    let each = each.filter_map(|(n, time)| Some(time.as_f64()? / n.as_f64()?));
    each.reduce(f64::min)
}

/// Prints a table of the ratios that were measured.
fn print(folder: &Path, hasher: &str, operations: &[(&str, &[u64])]) {
    let names: Vec<&str> = runs().iter().map(|run| run.0).collect();
    println!("\n| {hasher} | std | {} |", names.join(" | "));
    println!("|{}", "---|".repeat(names.len() + 2));
    for (operation, lens) in operations {
        for len in *lens {
            // Criterion makes one folder of a group.
            let bench = |name: &str| format!("{operation}_{len}_{hasher}/{name}");
            let Some(of_std) = least(folder, &bench("std")) else {
                continue;
            };
            print!("| {operation} of {len} | {of_std:.0} ns |");
            for name in &names {
                match least(folder, &bench(name)) {
                    Some(own) => print!(" {:.2} |", own / of_std),
                    None => print!(" – |"),
                }
            }
            println!();
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "the C library is asked how much memory is in use"
)]
fn in_use() -> usize {
    #[repr(C)]
    struct Info([usize; 10]);
    unsafe extern "C" {
        safe fn mallinfo2() -> Info;
    }
    let Info(info) = mallinfo2();
    info[4] + info[7]
}

/// How many bytes of memory what `make` makes takes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn bytes<T>(make: impl Fn() -> T) -> f64 {
    let before = in_use();
    let made = make();
    let bytes = in_use() - before;
    drop(made);
    bytes as f64
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn memory() {
    println!("\n| memory of 100,000 | ratio |\n|---|---|");
    macro_rules! row {
        ($name:literal, $collection:ident<$($of:ty),+>, $entry:expr) => {
            let of_std = bytes(|| keys(100_000).map($entry).collect::<of_std::$collection<$($of),+>>());
            let own = bytes(|| keys(100_000).map($entry).collect::<mirror::$collection<$($of),+>>());
            println!("| {} | {:.2} |", $name, own / of_std);
        };
    }
    row!("`HashSet<u32>`", HashSet<u32>, |key| key as u32);
    row!("`HashSet<u64>`", HashSet<u64>, |key| key);
    row!("`HashMap<u64, u64>`", HashMap<u64, u64>, |key| (key, key));
    row!("`HashMap<u64, [u8; 64]>`", HashMap<u64, [u8; 64]>, |key| (key, [0; 64]));
}

fn main() {
    // Of this process only, wherever it is started.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ratios");
    let _ = fs::remove_dir_all(&folder);
    let mut criterion: Criterion<WallTime> = Criterion::default()
        .output_directory(&folder)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .sample_size(20)
        .without_plots()
        .configure_from_args();
    measure_all!(
        criterion,
        OPERATIONS,
        "random",
        of_std::RandomState::new(),
        mirror::RandomState::new()
    );
    measure_all!(
        criterion,
        FIXED,
        "fixed",
        Fixed::default(),
        Fixed::default()
    );
    print(&folder, "random", OPERATIONS);
    print(&folder, "fixed", FIXED);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    memory();
}
