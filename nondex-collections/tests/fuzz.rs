//! Random programs over the mirror and over std's own collections, which must be indistinguishable.
//! The comparison includes return values, capacities, and what elements observe: each destructor,
//! clone, comparison and hash, in order.
//!
//! `NONDEX_FUZZ=N` makes N programs of each kind, instead of a few.
#![cfg(feature = "nondex")]
#![expect(
    clippy::incompatible_msrv,
    reason = "methods of std's that are newer than the oldest toolchain of the runtime"
)]

mod support;

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use nondex_core::{Context, Level, RunSpec, context};

use support::{Keyed, Random};

thread_local! {
    /// Operations that elements observed so far.
    static TRACE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Number of calls into an element's traits after which one panics.
    static FUSE: Cell<u32> = const { Cell::new(u32::MAX) };
}

fn note(what: String) {
    TRACE.with_borrow_mut(|trace| trace.push(what));
}

fn burn() {
    let left = FUSE.get();
    FUSE.set(left.wrapping_sub(1));
    if left == 0 && !std::thread::panicking() {
        FUSE.set(u32::MAX);
        panic!("burnt");
    }
}

/// Element that records every operation on it. Its second number distinguishes equal elements.
#[derive(Debug)]
struct Loud(u8, u32);

impl Drop for Loud {
    fn drop(&mut self) {
        note(format!("drop {}.{}", self.0, self.1));
        if FUSE.get() != u32::MAX {
            burn();
        }
    }
}
impl Clone for Loud {
    fn clone(&self) -> Self {
        note(format!("clone {}.{}", self.0, self.1));
        burn();
        Loud(self.0, self.1 + 1_000)
    }
}
impl PartialEq for Loud {
    fn eq(&self, other: &Self) -> bool {
        note(format!("eq {}.{} {}.{}", self.0, self.1, other.0, other.1));
        burn();
        self.0 == other.0
    }
}
impl Eq for Loud {}
impl Hash for Loud {
    fn hash<H: Hasher>(&self, state: &mut H) {
        note(format!("hash {}.{}", self.0, self.1));
        burn();
        self.0.hash(state);
    }
}

/// Runs one program over the collections of a path. Returns everything that elements and callers
/// observed.
macro_rules! program {
    ($seed:expr, $panics:expr, $($path:ident)::+) => {{
        use $($path)::+::hash_map::{Entry, HashMap};
        use $($path)::+::hash_set::HashSet;
        let mut random = Random($seed);
        let span = [3, 12, 60, 250][random.below(4) as usize];
        let hasher = Keyed(random.below(40));
        let serial = Cell::new(0u32);
        let new = |key: u64| {
            serial.set(serial.get() + 1);
            Loud((key % 251) as u8, serial.get())
        };
        type Map = HashMap<Loud, Loud, Keyed>;
        type Set = HashSet<Loud, Keyed>;
        TRACE.take();
        let mut map: Map = HashMap::with_hasher(hasher.clone());
        let mut other: Map = HashMap::with_capacity_and_hasher(random.below(20) as usize,
            hasher.clone());
        let mut set: Set = HashSet::with_hasher(hasher.clone());
        let mut another: Set = HashSet::with_capacity_and_hasher(random.below(20) as usize,
            hasher.clone());
        let steps = 20 + random.below(100);
        let mut growing = true;
        for _ in 0..steps {
            if random.below(30) == 0 {
                growing = !growing;
            }
            let op = random.below(if growing { 80 } else { 60 });
            let (a, b, c) = (random.below(span), random.below(span), random.below(span));
            let some = random.below(8) as usize;
            note(format!("step {op}"));
            if $panics {
                FUSE.set(random.below(30) as u32);
            }
            let step = AssertUnwindSafe(|| match op {
                0..4 => note(format!("{:?}", map.remove(&new(a)))),
                4 => note(format!("{:?}", map.remove_entry(&new(a)))),
                5 => note(format!("{:?} {:?}", map.get(&new(a)), map.get_key_value(&new(b)))),
                6 => note(format!("{:?}", map.contains_key(&new(a)))),
                7 => {
                    if let Some(value) = map.get_mut(&new(a)) {
                        *value = new(b);
                    }
                }
                8 => {
                    let keys = [&new(a), &new(b), &new(c)];
                    if a != b && b != c && a != c {
                        note(format!("{:?}", map.get_disjoint_mut(keys)));
                    }
                }
                9 => {
                    let (x, y) = (new(a), new(a));
                    let both = catch_unwind(AssertUnwindSafe(|| {
                        map.get_disjoint_mut([&x, &y]).iter().flatten().count()
                    }));
                    note(format!("{:?}", both.is_ok()));
                }
                10..13 => match map.entry(new(a)) {
                    Entry::Occupied(entry) => match b % 4 {
                        0 => note(format!("{:?}", entry.remove_entry())),
                        1 => note(format!("{:?}", entry.remove())),
                        2 => *entry.into_mut() = new(b),
                        _ => {
                            let mut entry = entry;
                            note(format!("{:?}", entry.key()));
                            note(format!("{:?}", entry.insert(new(b))));
                        }
                    },
                    Entry::Vacant(entry) => match b % 3 {
                        0 => drop(entry.into_key()),
                        1 => note(format!("{:?}", entry.insert(new(b)))),
                        _ => note(format!("{:?}", entry.insert_entry(new(b)))),
                    },
                },
                13 => note(format!("{:?}", map.entry(new(a)).or_insert_with(|| new(b)))),
                14 => note(format!("{:?}", map.entry(new(a)).and_modify(|v| v.1 +=
                    1).or_insert(new(b)))),
                15 => drop(map.entry(new(a)).insert_entry(new(c))),
                16 => map.retain(|key, value| {
                    note(format!("retain {key:?} {value:?}"));
                    u64::from(key.0) % 3 != a % 3
                }),
                17 => {
                    let mut taken = map.extract_if(|key, value| {
                        value.1 += 1;
                        u64::from(key.0) % 2 == a % 2
                    });
                    for _ in 0..some {
                        note(format!("{:?} {:?}", taken.size_hint(), taken.next()));
                    }
                }
                18 => {
                    let mut drain = map.drain();
                    for _ in 0..some {
                        note(format!("{:?} {:?}", drain.len(), drain.next()));
                    }
                    note(format!("{drain:?}"));
                }
                19 => map.clear(),
                20 => other = map.clone(),
                21 => other.clone_from(&map),
                22 => std::mem::swap(&mut map, &mut other),
                23 => note(format!("{}", map == other)),
                24 => {
                    let mut into = std::mem::replace(&mut map,
                        HashMap::with_hasher(hasher.clone())).into_iter();
                    for _ in 0..some {
                        note(format!("{:?}", into.next()));
                    }
                    note(format!("{into:?}"));
                }
                25 => {
                    let mut into = other.clone().into_keys();
                    note(format!("{:?} {:?}", into.next(), into.len()));
                    let values: Vec<Loud> = other.clone().into_values().collect();
                    drop(values);
                }
                26 => map.shrink_to_fit(),
                27 => map.shrink_to(some * 4),
                28 => map.reserve(some * 5),
                29 => note(format!("{:?}", map.try_reserve(some * 7))),
                30 => note(format!("{map:?}")),
                31 => note(format!("{:?}", map.iter().take(some).collect::<Vec<_>>())),
                32 => map.iter_mut().skip(some).for_each(|(_, value)| value.1 += 1),
                33 => map.values_mut().for_each(|value| value.1 += 2),
                34 => note(format!("{:?} {:?}", map.keys().last(), map.values().nth(some))),
                35 => {
                    let mut into = map.iter_mut();
                    into.next();
                    note(format!("{into:?}"));
                }
                36 => map.extend((0..some as u64).map(|n| (new(a + n), new(b)))),
                37 => map = (0..a % 40).map(|n| (new(n * b), new(c))).collect(),
                38..41 => note(format!("{:?}", set.remove(&new(a)))),
                41 => note(format!("{:?}", set.take(&new(a)))),
                42 => note(format!("{:?}", set.replace(new(a)))),
                43 => note(format!("{:?} {:?}", set.get(&new(a)), set.contains(&new(b)))),
                44 => std::mem::swap(&mut set, &mut another),
                45 => another = set.clone(),
                46 => note(format!("{:?}", set.union(&another).collect::<Vec<_>>())),
                47 => note(format!("{:?}", set.intersection(&another).collect::<Vec<_>>())),
                48 => note(format!("{:?}", set.difference(&another).collect::<Vec<_>>())),
                49 => note(format!("{:?}", set.symmetric_difference(&another).collect::<Vec<_>>())),
                50 => note(format!("{} {} \
                    {}", set.is_subset(&another), set.is_superset(&another),
                        set.is_disjoint(&another))),
                51 => note(format!("{}", set == another)),
                52 => set.retain(|key| u64::from(key.0) % 3 != a % 3),
                53 => note(format!("{:?}", set.extract_if(|key| u64::from(key.0) % 2 ==
                    0).take(some).collect::<Vec<_>>())),
                54 => note(format!("{:?}", set.drain().take(some).collect::<Vec<_>>())),
                55 => set.clear(),
                56 => note(format!("{:?}",
                    another.clone().into_iter().take(some).collect::<Vec<_>>())),
                57 => another.clone_from(&set),
                58 => note(format!("{set:?} {:?}", set.iter().next())),
                59 => set.extend((0..some as u64).map(|n| new(b + n))),
                60..72 => note(format!("{:?}", map.insert(new(a), new(b)))),
                _ => note(format!("{:?}", set.insert(new(a)))),
            });
            if catch_unwind(step).is_err() {
                note("panic".to_owned());
            }
            FUSE.set(u32::MAX);
            note(format!(
                "{} {} {} {} {} {} {} {}",
                map.len(), map.capacity(), other.len(), other.capacity(),
                set.len(), set.capacity(), another.len(), another.capacity(),
            ));
            note(format!("{map:?} {set:?}"));
        }
        note("end".to_owned());
        drop((map, other, set, another));
        TRACE.take()
    }};
}

/// Compares the observations of two runs of a program.
fn compare(seed: u64, own: &[String], std: &[String], what: &str) {
    let differs = own.iter().zip(std).position(|(own, std)| own != std);
    let from = differs.map(|at| at.saturating_sub(12));
    if let (Some(at), Some(from)) = (differs, from) {
        panic!(
            "{what}, seed {seed}: {:#?} then the mirror has {:?} and std {:?}",
            &std[from..at],
            own[at],
            std[at]
        );
    }
    assert_eq!(own.len(), std.len(), "{what}, seed {seed}");
}

fn programs(few: u64) -> u64 {
    match std::env::var("NONDEX_FUZZ") {
        Ok(number) => number.parse().expect("NONDEX_FUZZ is a number"),
        Err(_) => few,
    }
}

/// Runs programs outside of a test, in canonical order, and at STD.
fn fuzz(few: u64, panics: bool) {
    std::panic::set_hook(Box::new(|info| {
        let is_burnt = info
            .payload_as_str()
            .is_some_and(|text| text == "burnt" || text == "duplicate keys found");
        if !is_burnt {
            eprintln!("{info}");
        }
    }));
    for seed in 0..programs(few) {
        let std = program!(seed, panics, std::collections);
        let own = program!(seed, panics, nondex_collections::collections);
        compare(seed, &own, &std, "outside a test");
        for spec in [RunSpec::clean("test"), RunSpec::new("test", Level::Std, seed)] {
            let run = Context::new(spec);
            let _test = context::enter(&run, "test");
            let own = program!(seed, panics, nondex_collections::collections);
            compare(seed, &own, &std, "in a run");
        }
    }
}

#[test]
fn random_programs_cannot_tell_the_mirror_from_std() {
    fuzz(150, false);
}

#[test]
fn random_programs_in_which_elements_panic_cannot_tell_the_mirror_from_std() {
    fuzz(150, true);
}
