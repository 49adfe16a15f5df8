//! A collection allocates as often and as much as std's, outside of a test and in canonical order.
#![cfg(feature = "nondex")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;

use nondex_core::{
    Calls, Choices, Context, Family, Level, RunSpec, Scope, Selection, Site, context,
};

/// Allocator that counts the allocations of this thread.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static FREED: Cell<usize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator is declared so")]
// SAFETY: both functions forward to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        FREED.set(FREED.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Fixed = BuildHasherDefault<DefaultHasher>;

/// Counts the allocations and deallocations of each step of a history.
macro_rules! counts {
    ($($collections:ident)::+) => {{
        use $($collections)::+::{HashMap, HashSet};
        let mut counts: Vec<(&str, usize, usize)> = Vec::new();
        let mut count = |step, act: &mut dyn FnMut()| {
            let before = (ALLOCATED.get(), FREED.get());
            act();
            counts.push((step, ALLOCATED.get() - before.0, FREED.get() - before.1));
        };
        let mut map: HashMap<u64, u64, Fixed> = HashMap::default();
        let mut sum = 0;
        count("new", &mut || drop(HashMap::<u64, u64>::new()));
        count("fill", &mut || map.extend((0..500).map(|n| (n, n))));
        count("iterate", &mut || sum += map.iter().map(|(key, value)| key + value).sum::<u64>());
        count("keys", &mut || sum += map.keys().sum::<u64>());
        count("values_mut", &mut || map.values_mut().for_each(|value| *value += 1));
        count("remove", &mut || (0..100).for_each(|n| sum += map.remove(&n).unwrap_or(0)));
        count("iterate after removals", &mut || sum += map.values().sum::<u64>());
        count("insert again", &mut || (0..100).for_each(|n| sum += map.insert(n, n).unwrap_or(0)));
        count("entry", &mut || (0..100).for_each(|n| *map.entry(n).or_insert(0) += 1));
        count("retain", &mut || map.retain(|key, _| key % 2 == 0));
        count("extract_if", &mut || sum += map.extract_if(|key, _| key % 4 == 0).count() as u64);
        count("drain", &mut || sum += map.drain().map(|(key, _)| key).sum::<u64>());
        count("refill after drain", &mut || map.extend((0..300).map(|n| (n, n))));
        count("clear", &mut || map.clear());
        count("refill after \
            clear", &mut || (0..300).for_each(|n| sum += map.insert(n, n).unwrap_or(0)));
        let mut clone = None;
        count("clone", &mut || clone = Some(map.clone()));
        count("clone_from", &mut || map.clone_from(clone.as_ref().unwrap()));
        count("eq", &mut || assert!(map == *clone.as_ref().unwrap()));
        count("shrink", &mut || map.shrink_to_fit());
        count("reserve", &mut || map.reserve(1_000));
        count("try_reserve", &mut || map.try_reserve(5_000).unwrap());
        count("try_reserve of what is there", &mut || map.try_reserve(100).unwrap());
        count("try_reserve of a new map", &mut || {
            HashMap::<u64, u64>::new().try_reserve(1).unwrap();
        });
        count("try_reserve after removals", &mut || {
            let mut map: HashMap<u64, u64, Fixed> = (0..28).map(|n| (n, n)).collect();
            (0..20).for_each(|n| sum += map.remove(&n).unwrap_or(0));
            map.try_reserve(12).unwrap();
        });
        count("try_reserve of too much", &mut || assert!(map.try_reserve(usize::MAX).is_err()));
        count("into_iter", &mut || sum += std::mem::take(&mut map).into_keys().sum::<u64>());
        count("with_capacity", &mut || {
            let mut map = HashMap::<u64, [u8; 100]>::with_capacity(100);
            map.extend((0..100).map(|n| (n, [0; 100])));
        });
        let a: HashSet<u32, Fixed> = (0..100).collect();
        let b: HashSet<u32, Fixed> = (50..200).collect();
        count("union", &mut || sum += a.union(&b).count() as u64);
        count("intersection", &mut || sum += a.intersection(&b).count() as u64);
        count("symmetric_difference", &mut || sum += a.symmetric_difference(&b).count() as u64);
        let mut both = None;
        count("bitor", &mut || both = Some(&a | &b));
        count("drop", &mut || drop(both.take()));
        assert!(sum > 0);
        counts
    }};
}

#[test]
fn outside_a_test_a_collection_allocates_as_stds() {
    assert_eq!(counts!(nondex_collections::collections), counts!(std::collections));
}

/// Returns a spec with a file for its record, as in a run of the driver.
fn recorded(level: Level, seed: u64) -> RunSpec {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut spec = RunSpec::new("a \"test\"", level, seed);
    spec.record = Some(folder.join("allocations.jsonl"));
    spec
}

#[test]
fn in_base_order_and_at_std_a_collection_allocates_as_stds() {
    let clean = RunSpec { choices: Choices::Canonical, ..recorded(Level::Std, 3) };
    for spec in [clean, recorded(Level::Std, 3)] {
        let run = Context::new(spec);
        let _test = context::enter(&run, "test");
        let own = counts!(nondex_collections::collections);
        assert_eq!(own, counts!(std::collections));
    }
}

#[test]
fn the_first_visit_of_a_collection_allocates_as_stds_at_every_level() {
    macro_rules! counted {
        ($($collections:ident)::+, $len:expr) => {{
            use $($collections)::+::{HashMap, HashSet};
            type Reading = fn(&mut HashMap<u64, u64>, &mut HashSet<u64>, &mut u64);
            let readings: [Reading; 8] = [
                |map, _, sum| map.iter().for_each(|(key, value)| *sum += key ^ value),
                |map, _, sum| {
                    for (key, _) in map {
                        *sum += *key;
                    }
                },
                |map, _, sum| *sum += map.keys().next().copied().unwrap_or(0),
                |map, _, sum| map.values_mut().for_each(|value| *sum += *value),
                |map, _, sum| *sum += map.keys().take(40).sum::<u64>(),
                |map, _, sum| {
                    map.retain(|key, _| key % 2 == 0);
                    *sum += map.drain().map(|(key, _)| key).sum::<u64>();
                },
                |_, set, sum| *sum += set.iter().sum::<u64>(),
                // `Vec::extend` makes this call, so the stack identifies it.
                |_, set, sum| {
                    let mut room = Vec::<u64>::with_capacity(set.len());
                    room.extend(&*set);
                    *sum += room.len() as u64;
                },
            ];
            readings.map(|read| {
                let mut map = (0..$len).map(|key| (key, key)).collect();
                let mut set = (0..$len).collect();
                let mut sum = 0;
                let before = (ALLOCATED.get(), FREED.get());
                read(&mut map, &mut set, &mut sum);
                (ALLOCATED.get() - before.0, FREED.get() - before.1)
            })
        }};
    }
    for len in [2, 3, 5, 9, 16, 17, 100, 300, 3_000] {
        let expected = counted!(std::collections, len);
        for level in Level::ALL {
            for seed in [0, 3, 1_000] {
                let run = Context::new(recorded(level, seed));
                let _test = context::enter(&run, "test");
                let found = counted!(nondex_collections::collections, len);
                assert_eq!(found, expected, "{len} at {level}, seed {seed}");
            }
        }
    }
}

#[test]
fn which_calls_are_left_to_the_seed_is_known_without_memory_of_the_test() {
    let site = Site {
        api: "std::thread::spawn".to_owned(),
        family: Family::Schedule,
        file: "src/lib.rs".to_owned(),
        line: 3,
        column: 5,
    };
    let calls = |from, to| Scope {
        site: site.clone(),
        calls: Some(Calls { thread: "0".to_owned(), from, to }),
    };
    let scopes = vec![calls(1, 3), calls(5, 6)];
    let selections = [
        (Selection::Only(scopes.clone()), [false, true]),
        (Selection::Except(scopes), [true, false]),
    ];
    for (selection, expected) in selections {
        let spec = RunSpec::new("test", Level::Std, 3).with_selection(selection);
        let before = (ALLOCATED.get(), FREED.get());
        let selected = spec.selected(&site, "0");
        let found = [0, 5].map(|ordinal| selected.contains(ordinal));
        drop(selected);
        assert_eq!((ALLOCATED.get(), FREED.get()), before);
        assert_eq!(found, expected);
    }
}
