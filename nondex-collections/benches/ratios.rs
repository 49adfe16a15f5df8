//! What the mirror costs beside std's own collections, as ratios: `cargo bench -p nondex-collections --bench ratios`.
//!
//! Each figure is the least time of several rounds of the mirror, over the least of std's in the same process.

use std::hint::black_box;
use std::time::{Duration, Instant};

use nondex_collections::collections::{HashMap as Mirror, HashSet as MirrorSet};
use nondex_core::{Context, Level, RunSpec, Selection, context};
use std::collections::{HashMap as Std, HashSet as StdSet};

/// Keys that are not in order.
fn keys(len: u64) -> impl Iterator<Item = u64> + Clone {
    (0..len).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8)
}

/// The least time that `act` takes for what `make` makes, in nanoseconds.
fn least<T, R>(make: impl Fn() -> T, act: impl Fn(&mut T) -> R) -> f64 {
    let mut least = f64::MAX;
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < 5 || (rounds < 300 && begun.elapsed() < Duration::from_millis(60)) {
        rounds += 1;
        // So many at a time that the clock can tell.
        let mut made = vec![make()];
        let start = Instant::now();
        black_box(act(&mut made[0]));
        let once = start.elapsed().as_nanos().max(1);
        let times = (20_000 / once).min(500) as usize;
        if times < 2 {
            least = least.min(once as f64);
            continue;
        }
        made = (0..times).map(|_| make()).collect();
        let start = Instant::now();
        for one in &mut made {
            black_box(act(one));
        }
        least = least.min(start.elapsed().as_nanos() as f64 / times as f64);
    }
    least
}

/// The time of one operation over both maps.
macro_rules! operation {
    ($name:ident, $map:ident, $hasher:expr, $len:expr) => {{
        let hasher = $hasher;
        let filled = || {
            let mut map = $map::with_hasher(hasher.clone());
            map.extend(keys($len).map(|key| (key, key)));
            map
        };
        let map = filled();
        let shared = || &map;
        match stringify!($name) {
            "iter" => least(shared, |map| {
                map.iter().fold(0u64, |sum, (a, b)| sum.wrapping_add(a ^ b))
            }),
            "for_loop" => least(shared, |map| {
                let mut sum = 0u64;
                for (a, b) in *map {
                    sum = sum.wrapping_add(a ^ b);
                }
                sum
            }),
            "keys" => least(shared, |map| {
                map.keys().fold(0u64, |sum, a| sum.wrapping_add(*a))
            }),
            "values_mut" => least(
                || map.clone(),
                |map| map.values_mut().for_each(|value| *value += 1),
            ),
            "drain" => least(
                || map.clone(),
                |map| {
                    map.drain()
                        .fold(0u64, |sum, (a, b)| sum.wrapping_add(a ^ b))
                },
            ),
            "into_iter" => least(
                || Some(map.clone()),
                |map| {
                    map.take()
                        .unwrap()
                        .into_iter()
                        .fold(0u64, |sum, (a, b)| sum.wrapping_add(a ^ b))
                },
            ),
            "get" => least(shared, |map| {
                keys($len)
                    .filter(|key| map.contains_key(black_box(key)))
                    .count()
            }),
            "insert" => least(
                || $map::with_hasher(hasher.clone()),
                |map| {
                    keys($len).for_each(|key| {
                        black_box(map.insert(black_box(key), key));
                    })
                },
            ),
            "remove" => least(
                || map.clone(),
                |map| {
                    keys($len)
                        .filter(|key| map.remove(black_box(key)).is_some())
                        .count()
                },
            ),
            "clone" => least(shared, |map| map.clone()),
            "first" => least(shared, |map| map.iter().next().map(|(key, _)| *key)),
            "first_mut" => least(|| (), |()| 0).max(least(
                || std::cell::RefCell::new(filled()),
                |map| map.borrow_mut().iter_mut().next().map(|(key, _)| *key),
            )),
            "pop" => least(
                || map.clone(),
                |map| {
                    while let Some(key) = map.keys().next().copied() {
                        map.remove(&key);
                    }
                },
            ),
            _ => unreachable!(),
        }
    }};
}

/// The rungs, with the clean run first.
fn rungs() -> Vec<(&'static str, RunSpec)> {
    let mut base = RunSpec::new("bench", Level::Std, 1);
    base.choices = Selection::None;
    let mut rungs = vec![("base", base)];
    rungs.extend(Level::ALL.map(|level| (level.name(), RunSpec::new("bench", level, 300))));
    rungs
}

/// A row of ratios, one for each rung.
macro_rules! row {
    ($name:ident, $len:expr, $hashers:ident) => {{
        let len: u64 = $len;
        let std = operation!($name, Std, $hashers().0, len);
        print!("| {} of {len} | {std:.0} ns |", stringify!($name));
        for (_, spec) in rungs() {
            let run = Context::new(spec);
            let _test = context::enter(&run, "bench");
            let own = operation!($name, Mirror, $hashers().1, len);
            print!(" {:.2} |", own / std);
        }
        println!();
    }};
}

/// std's keys for std's map and the mirror's for its own.
fn random() -> (
    std::hash::RandomState,
    nondex_collections::collections::hash_map::RandomState,
) {
    Default::default()
}

/// A hasher that is repeatable.
type Fixed = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

fn fixed() -> (Fixed, Fixed) {
    Default::default()
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
    println!("| memory of 100,000 | ratio |\n|---|---|");
    macro_rules! row {
        ($name:literal, $std:ty, $own:ty, $entry:expr) => {
            let std = bytes(|| keys(100_000).map($entry).collect::<$std>());
            let own = bytes(|| keys(100_000).map($entry).collect::<$own>());
            println!("| {} | {:.2} |", $name, own / std);
        };
    }
    row!("HashSet<u32>", StdSet<u32>, MirrorSet<u32>, |key| key
        as u32);
    row!("HashSet<u64>", StdSet<u64>, MirrorSet<u64>, |key| key);
    row!("HashMap<u64, u64>", Std<u64, u64>, Mirror<u64, u64>, |key| (key, key));
    row!("HashMap<u64, [u8; 64]>", Std<u64, [u8; 64]>, Mirror<u64, [u8; 64]>, |key| (key, [0; 64]));
}

fn main() {
    let names: Vec<&str> = rungs().iter().map(|rung| rung.0).collect();
    let table = |title| {
        println!("\n| {title} | std | {} |", names.join(" | "));
        println!("|{}", "---|".repeat(names.len() + 2));
    };
    table("`RandomState`");
    row!(get, 1_000, random);
    row!(insert, 1_000, random);
    row!(remove, 1_000, random);
    row!(clone, 1_000, random);
    row!(iter, 10, random);
    row!(iter, 1_000, random);
    row!(iter, 100_000, random);
    row!(iter, 1_000_000, random);
    row!(for_loop, 1_000, random);
    row!(keys, 1_000, random);
    row!(values_mut, 1_000, random);
    row!(values_mut, 100_000, random);
    row!(drain, 1_000, random);
    row!(drain, 100_000, random);
    row!(into_iter, 1_000, random);
    row!(into_iter, 100_000, random);
    row!(first, 1_000_000, random);
    row!(first_mut, 100_000, random);
    row!(pop, 20_000, random);
    table("a fixed hasher");
    row!(insert, 1_000, fixed);
    row!(iter, 10, fixed);
    row!(iter, 1_000, fixed);
    row!(iter, 100_000, fixed);
    row!(pop, 20_000, fixed);
    println!();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    memory();
}
