//! Observable properties of the types themselves: names, sizes, variance, and the panic of a
//! capacity that overflows.
#![cfg(feature = "nondex")]

use std::any::type_name;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nondex_collections::collections::{HashMap, HashSet, hash_map, hash_set};

/// Returns the name that a type of the mirror has in the runtime, where this crate is called `std`.
fn mirrored<T>() -> String {
    type_name::<T>().replace("nondex_collections::", "std::")
}

/// Asserts that types with these paths have the same names in the mirror as in std.
macro_rules! named_alike {
    ($($module:ident :: $name:ident < $($argument:ty),+ >;)+) => {$(
        assert_eq!(
            mirrored::<$module::$name<$($argument),+>>(),
            type_name::<std::collections::$module::$name<$($argument),+>>()
        );
    )+};
}

type Pick = fn(&u8, &mut u8) -> bool;
type PickOne = fn(&u8) -> bool;

#[test]
fn every_public_type_has_the_name_of_stds() {
    named_alike! {
        hash_map::HashMap<u8, u8, ()>;
        hash_map::Iter<u8, u8>;
        hash_map::IterMut<u8, u8>;
        hash_map::Keys<u8, u8>;
        hash_map::Values<u8, u8>;
        hash_map::ValuesMut<u8, u8>;
        hash_map::IntoIter<u8, u8>;
        hash_map::IntoKeys<u8, u8>;
        hash_map::IntoValues<u8, u8>;
        hash_map::Drain<u8, u8>;
        hash_map::ExtractIf<u8, u8, Pick>;
        hash_map::Entry<u8, u8>;
        hash_map::OccupiedEntry<u8, u8>;
        hash_map::VacantEntry<u8, u8>;
        hash_set::HashSet<u8, ()>;
        hash_set::Iter<u8>;
        hash_set::IntoIter<u8>;
        hash_set::Drain<u8>;
        hash_set::ExtractIf<u8, PickOne>;
        hash_set::Union<u8, ()>;
        hash_set::Intersection<u8, ()>;
        hash_set::Difference<u8, ()>;
        hash_set::SymmetricDifference<u8, ()>;
    }
}

#[test]
fn a_collection_is_as_large_as_stds() {
    assert_eq!(size_of::<HashMap<String, Vec<u8>>>(), 48);
    assert_eq!(size_of::<std::collections::HashMap<String, Vec<u8>>>(), 48);
    assert_eq!(size_of::<HashSet<u8, ()>>(), 32);
    assert_eq!(size_of::<std::collections::HashSet<u8, ()>>(), 32);
    assert_eq!(size_of::<Option<HashMap<u8, u8>>>(), 48);
}

/// Compiles only if iterators have the variance of std's.
#[expect(dead_code, reason = "it is there to be compiled")]
mod varies {
    use super::hash_map::{Drain, IntoIter, IterMut, ValuesMut};

    fn iter_mut<'a, 'new>(v: IterMut<'a, &'static str, u8>) -> IterMut<'a, &'new str, u8> {
        v
    }
    fn iter_mut_loan<'new, V>(v: IterMut<'static, u8, V>) -> IterMut<'new, u8, V> {
        v
    }
    fn values_mut<'a, 'new>(v: ValuesMut<'a, &'static str, u8>) -> ValuesMut<'a, &'new str, u8> {
        v
    }
    fn drain<'new>(
        v: Drain<'static, &'static str, &'static str>,
    ) -> Drain<'new, &'new str, &'new str> {
        v
    }
    fn into_iter<'new>(v: IntoIter<&'static str, &'static str>) -> IntoIter<&'new str, &'new str> {
        v
    }
}

#[test]
fn an_iterator_that_is_not_used_any_more_borrows_nothing() {
    let mut map: HashMap<u8, u8> = (0..20).map(|n| (n, n)).collect();
    let mut set: HashSet<u8> = (0..20).collect();
    let mut removed = 0;
    while let Some(key) = map.keys().next().copied() {
        removed += map.remove(&key).unwrap();
        if let Some((&key, _)) = map.iter_mut().next() {
            removed += map.remove(&key).unwrap();
        }
        match map.iter().map(|(key, value)| (*key, *value)).last() {
            Some((key, value)) if key == value => removed += map.remove(&key).unwrap(),
            _ => {}
        }
        if let Some(value) = map.values_mut().next().copied() {
            map.insert(value, value);
        }
    }
    assert_eq!(removed, 190);
    while let Some(element) = set.iter().next().copied() {
        set.remove(&element);
        let other = HashSet::from([100]);
        if let Some(element) = set.union(&other).find(|&&n| n < 100).copied() {
            set.remove(&element);
        }
        if let Some(element) = set.difference(&other).next().copied() {
            set.remove(&element);
        }
    }
    assert!(set.is_empty());
}

/// Returns the message of the panic in `act`.
fn message(act: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(act)).unwrap_err();
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast_ref::<&str>().unwrap()).to_owned(),
    }
}

/// Iterator whose size hint is too large.
struct Boundless(u8);

impl Iterator for Boundless {
    type Item = [u64; 8];

    fn next(&mut self) -> Option<[u64; 8]> {
        self.0 += 1;
        (self.0 < 5).then_some([self.0.into(); 8])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (1 << 57, None)
    }
}

/// Collects the panic messages of capacities that overflow.
macro_rules! overflows {
    ($($collections:ident)::+) => {{
        use $($collections)::+::{HashMap, HashSet};
        type Fixed = BuildHasherDefault<DefaultHasher>;
        let mut held: HashMap<u64, u64, Fixed> = (0..10).map(|n| (n, n)).collect();
        let mut seen = vec![
            message(|| drop(HashMap::<[u8; 1000], ()>::with_capacity(usize::MAX / 1000))),
            message(|| drop(HashSet::<u8>::with_capacity(usize::MAX))),
            message(|| drop(HashSet::<()>::with_capacity(usize::MAX / 4))),
            message(|| drop(Boundless(0).map(|n| (n, n)).collect::<HashMap<_, _>>())),
            message(|| HashSet::new().extend(Boundless(0))),
            message(|| held.reserve(usize::MAX - 5)),
            message(|| held.reserve(1 << 60)),
        ];
        for additional in [usize::MAX, usize::MAX - 5, 1 << 60, 1 << 45, 1 << 20, 3] {
            seen.push(format!("{:?}", held.try_reserve(additional).map_err(|error|
                error.to_string())));
            seen.push(format!("{:?}", HashSet::<String>::new().try_reserve(additional)));
            seen.push(held.capacity().to_string());
        }
        seen.push(format!("{}", held.values().sum::<u64>()));
        seen
    }};
}

#[test]
fn a_capacity_that_overflows_panics_or_is_refused_as_in_std() {
    let own = overflows!(nondex_collections::collections);
    assert_eq!(own, overflows!(std::collections));
    assert_eq!(own[0], "Hash table capacity overflow");
}
