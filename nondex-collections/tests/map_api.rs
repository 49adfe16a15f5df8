//! One test body over std's collections and over the mirrors. The mirrors must compile and behave
//! like std's.

/// Declares the tests for the collections of one crate.
macro_rules! suite {
    ($name:ident, $collections:path) => {
        mod $name {
            use std::fmt::Debug;
            use std::hash::{BuildHasherDefault, DefaultHasher};
            use std::iter::FusedIterator;
            use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
            use std::rc::Rc;

            use $collections as collections;

            use collections::hash_map::{self, Entry, RandomState};
            use collections::{HashMap, HashSet, hash_set};

            type Fixed = BuildHasherDefault<DefaultHasher>;

            static EMPTY: HashMap<u8, Vec<u8>, Fixed> = HashMap::with_hasher(Fixed::new());
            const EMPTY_SET: HashSet<u8, Fixed> = HashSet::with_hasher(Fixed::new());

            fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
                let mut items: Vec<T> = items.into_iter().collect();
                items.sort();
                items
            }

            #[test]
            fn empty_collections_are_constants_and_allocate_nothing() {
                assert_eq!(EMPTY.len(), 0);
                assert_eq!(EMPTY.capacity(), 0);
                assert!(EMPTY.get(&1).is_none());
                assert!(EMPTY_SET.is_empty());
                assert_eq!(HashMap::<u8, u8>::new().capacity(), 0);
                assert_eq!(HashMap::<u8, u8>::with_capacity(0).capacity(), 0);
                assert_eq!(HashSet::<u8>::default().capacity(), 0);
                assert!(EMPTY.iter().next().is_none());
                assert!(HashMap::<u8, u8>::new().drain().next().is_none());
            }

            #[test]
            fn inference_needs_no_hint_where_std_needs_none() {
                let map = HashMap::from([("a", 1)]);
                assert_eq!(map["a"], 1);
                let mut map = HashMap::new();
                map.insert(String::from("key"), 1);
                *map.entry("other".to_owned()).or_default() += 2;
                assert_eq!(map.get("key"), Some(&1));
                assert!(map.contains_key("other"));
                assert_eq!(map.remove("other"), Some(2));
                let set = HashSet::from(["a"]);
                assert!(set.contains("a"));
                let map: HashMap<_, _> = [(1, 'a')].into_iter().collect();
                let _: &HashMap<i32, char, RandomState> = &map;
                let nested: HashMap<&str, HashMap<u8, Vec<u8>>> = Default::default();
                assert!(nested.is_empty());
                let mut lengths = HashMap::with_capacity(4);
                lengths.extend([("a", 1)]);
                lengths.extend(&HashMap::from([("b", 2)]));
                assert_eq!(lengths.len(), 2);
                for (_, value) in &mut lengths {
                    *value += 1;
                }
                for (key, value) in &lengths {
                    assert_eq!(*value, if *key == "a" { 2 } else { 3 });
                }
                let total: i32 = lengths.values().sum();
                assert_eq!(total, 5);
            }

            #[test]
            fn an_equal_key_stays_and_the_value_is_replaced() {
                let (first, second) = (Rc::new(1), Rc::new(1));
                let mut map = HashMap::new();
                assert_eq!(map.insert(Rc::clone(&first), 'a'), None);
                assert_eq!(map.insert(Rc::clone(&second), 'b'), Some('a'));
                let (key, value) = map.get_key_value(&1).unwrap();
                assert!(Rc::ptr_eq(key, &first));
                assert_eq!(*value, 'b');
                assert!(matches!(map.entry(second.clone()), Entry::Occupied(entry)
                    if Rc::ptr_eq(entry.key(), &first)));
                let mut set = HashSet::new();
                assert!(set.insert(Rc::clone(&first)));
                assert!(!set.insert(Rc::clone(&second)));
                assert!(Rc::ptr_eq(set.get(&1).unwrap(), &first));
                assert!(Rc::ptr_eq(&set.replace(Rc::clone(&second)).unwrap(), &first));
                assert!(Rc::ptr_eq(&set.take(&1).unwrap(), &second));
                assert!(set.replace(first).is_none());
            }

            #[test]
            fn entries_do_what_their_names_say() {
                let mut map: HashMap<&str, Vec<u8>> = HashMap::new();
                map.entry("a").or_insert(vec![1]).push(2);
                map.entry("a").or_insert_with(|| unreachable!()).push(3);
                assert_eq!(map.entry("bc").or_insert_with_key(|key| vec![key.len() as u8]), &[2]);
                assert_eq!(map.entry("a").key(), &"a");
                assert_eq!(map.entry("new").key(), &"new");
                map.entry("a").and_modify(|value| value.clear()).or_default().push(9);
                map.entry("none").and_modify(|_| unreachable!());
                assert!(!map.contains_key("none"));
                match map.entry("a") {
                    Entry::Occupied(mut entry) => {
                        assert_eq!(entry.get(), &[9]);
                        entry.get_mut().push(10);
                        assert_eq!(entry.insert(vec![0]), [9, 10]);
                        assert_eq!(entry.remove_entry(), ("a", vec![0]));
                    }
                    Entry::Vacant(_) => unreachable!(),
                }
                match map.entry("z") {
                    Entry::Vacant(entry) => {
                        assert_eq!(entry.key(), &"z");
                        assert_eq!(entry.into_key(), "z");
                    }
                    Entry::Occupied(_) => unreachable!(),
                }
                if let Entry::Vacant(entry) = map.entry("z") {
                    entry.insert_entry(vec![1]).into_mut().push(2);
                }
                if let Entry::Vacant(entry) = map.entry("y") {
                    *entry.insert(vec![]) = vec![5];
                }
                assert_eq!(map.entry("z").insert_entry(vec![7]).remove(), [7]);
                assert_eq!(map["y"], [5]);
                let mut map = HashMap::from([(1, 2)]);
                assert_eq!(
                    format!("{:?}", map.entry(1)),
                    "Entry(OccupiedEntry { key: 1, value: 2, .. })"
                );
                assert_eq!(format!("{:?}", map.entry(3)), "Entry(VacantEntry(3))");
            }

            #[test]
            fn capacity_is_kept_and_given_up() {
                let mut map: HashMap<u32, u32> = HashMap::with_capacity(100);
                let room = map.capacity();
                assert!(room >= 100);
                map.extend((0..100).map(|n| (n, n)));
                assert_eq!(map.capacity(), room);
                map.drain();
                assert_eq!((map.capacity(), map.len()), (room, 0));
                map.shrink_to(10);
                assert!(map.capacity() >= 10 && map.capacity() < room);
                map.shrink_to_fit();
                assert_eq!(map.capacity(), 0);
                map.reserve(50);
                assert!(map.capacity() >= 50);
                assert!(map.try_reserve(60).is_ok());
                assert!(map.try_reserve(usize::MAX).is_err());
                assert!(map.try_reserve(usize::MAX / 16).is_err());
                let mut std = std::collections::HashMap::<u32, u32>::new();
                assert_eq!(map.try_reserve(usize::MAX), std.try_reserve(usize::MAX));
                let mut set = HashSet::<u8, Fixed>::with_capacity_and_hasher(9, Fixed::default());
                assert!(set.try_reserve(usize::MAX).is_err());
                set.insert(1);
                set.shrink_to(0);
                set.clear();
                assert!(set.capacity() > 0);
            }

            #[test]
            #[should_panic(expected = "overflow")]
            fn too_large_a_reservation_panics() {
                HashMap::<u64, u64>::new().reserve(usize::MAX);
            }

            #[test]
            #[should_panic(expected = "no entry found for key")]
            fn to_index_a_key_that_is_not_there_panics() {
                let _ = HashMap::from([(1, 2)])[&3];
            }

            #[test]
            fn several_values_are_borrowed_at_once() {
                let mut map: HashMap<u32, String> = (0..10).map(|n| (n, n.to_string())).collect();
                map.remove(&2);
                let [a, none, b] = map.get_disjoint_mut([&7, &2, &0]);
                std::mem::swap(a.unwrap(), b.unwrap());
                assert!(none.is_none());
                assert_eq!((map[&0].as_str(), map[&7].as_str()), ("7", "0"));
                let absent = map.get_disjoint_mut([&2, &2, &77]);
                assert_eq!(absent, [None, None, None]);
                let duplicate = catch_unwind(AssertUnwindSafe(|| {
                    map.get_disjoint_mut([&1, &3, &1]);
                }));
                let message = duplicate.unwrap_err();
                assert_eq!(message.downcast_ref(), Some(&"duplicate keys found"));
                assert!(map.get_disjoint_mut::<u32, 0>([]).is_empty());
                #[expect(unsafe_code, reason = "the method is unsafe in std")]
                // SAFETY: the keys differ.
                let [x, y] = unsafe { map.get_disjoint_unchecked_mut([&4, &5]) };
                assert_eq!((x.unwrap().as_str(), y.unwrap().as_str()), ("4", "5"));
            }

            #[test]
            fn iterators_show_what_is_left() {
                let mut map = HashMap::from([(1, 'a')]);
                assert_eq!(format!("{map:?}"), "{1: 'a'}");
                assert_eq!(format!("{map:#?}"), "{\n    1: 'a',\n}");
                assert_eq!(format!("{:?}", map.iter()), "[(1, 'a')]");
                assert_eq!(format!("{:?}", map.keys()), "[1]");
                assert_eq!(format!("{:?}", map.values()), "['a']");
                assert_eq!(format!("{:?}", map.iter_mut()), "[(1, 'a')]");
                assert_eq!(format!("{:?}", map.values_mut()), "['a']");
                assert_eq!(format!("{:?}", map.clone().into_iter()), "[(1, 'a')]");
                assert_eq!(format!("{:?}", map.clone().into_keys()), "[1]");
                assert_eq!(format!("{:?}", map.clone().into_values()), "['a']");
                assert_eq!(format!("{:?}", map.extract_if(|_, _| true)), "ExtractIf { .. }");
                assert_eq!(format!("{:?}", map.drain()), "[(1, 'a')]");
                let mut set = HashSet::from([1]);
                let other = HashSet::from([2]);
                assert_eq!(format!("{set:?}"), "{1}");
                assert_eq!(format!("{:?}", set.iter()), "[1]");
                assert_eq!(format!("{:?}", set.union(&set)), "[1]");
                assert_eq!(format!("{:?}", set.intersection(&set)), "[1]");
                assert_eq!(format!("{:?}", set.difference(&other)), "[1]");
                assert_eq!(format!("{:?}", set.symmetric_difference(&set)), "[]");
                assert_eq!(format!("{:?}", set.clone().into_iter()), "[1]");
                assert_eq!(format!("{:?}", set.extract_if(|_| true)), "ExtractIf { .. }");
                assert_eq!(format!("{:?}", set.drain()), "[1]");
            }

            #[test]
            fn default_iterators_are_empty_and_all_are_fused_and_know_their_length() {
                fn check<I: ExactSizeIterator + FusedIterator + Debug>(mut iterator: I,
                    len: usize) {
                    assert_eq!(iterator.len(), len);
                    assert_eq!(iterator.size_hint(), (len, Some(len)));
                    assert_eq!(iterator.by_ref().count(), len);
                    assert!(iterator.next().is_none());
                    assert!(iterator.next().is_none());
                }
                check(hash_map::Iter::<u8, u8>::default(), 0);
                check(hash_map::IterMut::<u8, u8>::default(), 0);
                check(hash_map::IntoIter::<u8, u8>::default(), 0);
                check(hash_map::Keys::<u8, u8>::default(), 0);
                check(hash_map::Values::<u8, u8>::default(), 0);
                check(hash_map::ValuesMut::<u8, u8>::default(), 0);
                check(hash_map::IntoKeys::<u8, u8>::default(), 0);
                check(hash_map::IntoValues::<u8, u8>::default(), 0);
                check(hash_set::Iter::<u8>::default(), 0);
                check(hash_set::IntoIter::<u8>::default(), 0);
                let mut map = HashMap::from([(1, 2), (3, 4), (5, 6)]);
                map.remove(&3);
                check(map.iter(), 2);
                check(map.iter_mut(), 2);
                check(map.keys(), 2);
                check(map.values(), 2);
                check(map.values_mut(), 2);
                check(map.clone().into_keys(), 2);
                check(map.clone().into_values(), 2);
                check(map.clone().into_iter(), 2);
                check(map.drain(), 2);
                let mut set = HashSet::from([1, 2]);
                check(set.iter(), 2);
                check(set.clone().into_iter(), 2);
                check(set.drain(), 2);
                assert_eq!(map.extract_if(|_, _| true).size_hint(), (0, Some(0)));
            }

            #[test]
            fn equality_does_not_depend_on_order_or_capacity() {
                let forth: HashMap<u32, u32> = (0..50).map(|n| (n, n)).collect();
                let mut back: HashMap<u32, u32> = HashMap::with_capacity(900);
                back.extend((0..50).rev().map(|n| (n, n)));
                assert_eq!(forth, back);
                back.insert(3, 4);
                assert_ne!(forth, back);
                back.insert(50, 50);
                assert_ne!(forth, back);
                let forth: HashSet<u32> = forth.into_keys().collect();
                let back: HashSet<u32> = (0..50).rev().collect();
                assert_eq!(forth, back);
                assert!(forth.is_subset(&back) && forth.is_superset(&back));
                assert!(forth.is_disjoint(&HashSet::from([77])));
            }

            #[test]
            fn operators_make_new_sets() {
                let (a, b) = (HashSet::from([1, 2, 3]), HashSet::from([3, 4]));
                assert_eq!(&a | &b, HashSet::from([1, 2, 3, 4]));
                assert_eq!(&a & &b, HashSet::from([3]));
                assert_eq!(&a ^ &b, HashSet::from([1, 2, 4]));
                assert_eq!(&a - &b, HashSet::from([1, 2]));
                assert_eq!(sorted(a.union(&b)), [&1, &2, &3, &4]);
                assert_eq!(sorted(b.union(&a).clone()), [&1, &2, &3, &4]);
                assert_eq!(a.intersection(&b).collect::<Vec<_>>(), [&3]);
                assert_eq!(sorted(a.difference(&b).copied()), [1, 2]);
                assert_eq!(a.union(&b).size_hint(), (3, Some(5)));
                assert_eq!(a.intersection(&b).size_hint(), (0, Some(2)));
                assert_eq!(a.difference(&b).size_hint(), (0, Some(3)));
                assert_eq!(a.symmetric_difference(&b).size_hint(), (0, Some(5)));
                let mut c = a.clone();
                c.extend(&b);
                c.retain(|n| n % 2 == 0);
                assert_eq!(c, HashSet::from([2, 4]));
                assert_eq!(c.extract_if(|&n| n == 2).collect::<Vec<_>>(), [2]);
                c.clone_from(&a);
                assert_eq!(c, a);
            }

            #[test]
            fn nothing_is_asked_of_keys_that_need_not_be_hashed() {
                // No bound on the keys: these compile for any type.
                fn any<K, V, S>(map: &mut HashMap<K, V, S>) -> usize {
                    map.retain(|_, _| true);
                    map.iter_mut().for_each(drop);
                    let len = map.iter().count() + map.keys().len() + map.values().len();
                    map.clear();
                    let _: &S = map.hasher();
                    len + map.capacity() + usize::from(map.is_empty())
                }
                assert!(any(&mut HashMap::from([(1, 1)])) >= 3);
            }

            #[test]
            fn auto_traits_are_those_of_std() {
                fn all<T: Send + Sync + UnwindSafe + RefUnwindSafe + Unpin>() {}
                fn shared<T: Send + Sync + Unpin>() {}
                fn sent<T: Send>() {}
                all::<HashMap<String, Vec<u8>>>();
                all::<HashSet<String>>();
                all::<hash_map::Iter<'_, u8, String>>();
                all::<hash_map::Keys<'_, u8, String>>();
                all::<hash_map::IntoIter<u8, String>>();
                all::<hash_map::Drain<'_, u8, String>>();
                all::<hash_set::Iter<'_, u8>>();
                all::<hash_set::IntoIter<u8>>();
                all::<hash_set::Drain<'_, u8>>();
                all::<hash_set::Union<'_, u8, RandomState>>();
                all::<hash_set::Intersection<'_, u8, RandomState>>();
                shared::<hash_map::IterMut<'_, u8, String>>();
                shared::<hash_map::Entry<'_, u8, String>>();
                shared::<hash_map::OccupiedEntry<'_, u8, String>>();
                shared::<hash_map::VacantEntry<'_, u8, String>>();
                sent::<HashMap<u8, std::cell::Cell<u8>>>();
                sent::<hash_map::Drain<'_, u8, std::cell::Cell<u8>>>();
            }

            #[test]
            fn a_collection_may_outlive_what_it_refers_to() {
                // Variables are dropped in reverse order. This compiles only if no destructor uses
                // the keys.
                let (mut map, mut set, text);
                text = String::from("key");
                map = HashMap::new();
                map.insert(text.as_str(), text.as_str());
                set = HashSet::new();
                set.insert(&text);
                map.extract_if(|_, _| false).for_each(drop);
                assert_eq!(map.len(), set.len());
            }

            #[test]
            fn values_may_refer_to_what_the_map_outlives_not() {
                let text = String::from("a b a");
                let mut counts: HashMap<&str, usize> = HashMap::new();
                for word in text.split(' ') {
                    *counts.entry(word).or_insert(0) += 1;
                }
                fn shorter<'a>(map: HashMap<&'static str, u8>, _: &'a str) -> HashMap<&'a str, u8> {
                    map
                }
                assert_eq!(counts, HashMap::from([("a", 2), ("b", 1)]));
                assert_eq!(shorter(HashMap::new(), &text).len(), 0);
            }
        }
    };
}

suite!(over_std, std::collections);
suite!(over_the_mirror, nondex_collections::collections);

#[test]
fn the_mirror_has_the_names_of_std() {
    use std::any::type_name;
    let name = type_name::<nondex_collections::collections::HashMap<u8, u8>>();
    let std = type_name::<std::collections::HashMap<u8, u8>>();
    assert_eq!(name.replace("nondex_collections::", "std::"), std);
    let name = type_name::<nondex_collections::collections::HashSet<u8>>();
    let std = type_name::<std::collections::HashSet<u8>>();
    assert_eq!(name.replace("nondex_collections::", "std::"), std);
}

#[test]
fn what_is_not_mirrored_is_std_itself() {
    let map: nondex_collections::collections::BTreeMap<u8, u8> = std::collections::BTreeMap::new();
    assert!(map.is_empty());
    let hasher: nondex_collections::collections::hash_map::DefaultHasher =
        std::hash::DefaultHasher::new();
    let _ = hasher;
}
