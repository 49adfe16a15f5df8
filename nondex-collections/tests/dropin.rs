//! Code as it is written for std, with `std::` replaced. It must compile and behave the same, with
//! the feature and without.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, Hash};
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, LazyLock, Mutex, mpsc};

use nondex_collections::collections::hash_map::{self, Entry};
use nondex_collections::collections::hash_set;
use nondex_collections::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use nondex_collections::{env, fs, io, thread};

type Fixed = BuildHasherDefault<hash_map::DefaultHasher>;

const EMPTY: HashMap<String, Vec<i32>, Fixed> = HashMap::with_hasher(Fixed::new());
const NOTHING: HashSet<u8, Fixed> = HashSet::with_hasher(Fixed::new());
static SHARED: Mutex<HashMap<String, Vec<i32>, Fixed>> = Mutex::new(EMPTY);
static LAZY: LazyLock<Mutex<HashMap<&'static str, u32>>> = LazyLock::new(Mutex::default);

thread_local! {
    static SEEN: RefCell<HashSet<u64>> = RefCell::default();
}

/// Type whose derives need those of the collections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Index<'a> {
    words: HashMap<Cow<'a, str>, BTreeSet<usize>>,
    stop: HashSet<&'a str>,
}

/// Trait that is implemented for each map, as serialisers do. The types must not overlap.
trait Pairs {
    fn pairs(&self) -> usize;
}

impl<K, V, S> Pairs for HashMap<K, V, S> {
    fn pairs(&self) -> usize {
        self.len()
    }
}

impl<K, V> Pairs for BTreeMap<K, V> {
    fn pairs(&self) -> usize {
        self.len()
    }
}

/// Wrapper that names the iterators, as crates with their own map do.
struct Registry<K, V, S = hash_map::RandomState>(HashMap<K, V, S>);

impl<K, V, S> IntoIterator for Registry<K, V, S> {
    type Item = (K, V);
    type IntoIter = hash_map::IntoIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a Registry<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = hash_map::Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for Registry<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        Registry(iter.into_iter().collect())
    }
}

/// Looks up a key in a cache and returns a reference into it.
fn lookup<'m>(cache: &'m mut HashMap<String, String>, key: &str) -> &'m str {
    match cache.entry(key.to_owned()) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => {
            let value = entry.key().to_uppercase();
            entry.insert(value)
        }
    }
}

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

#[test]
fn types_are_inferred_as_from_std() {
    let mut counts = HashMap::new();
    for word in "a b a c b a".split(' ') {
        *counts.entry(word).or_insert(0) += 1;
    }
    assert_eq!(counts["a"], 3);
    assert_eq!(counts, HashMap::from([("a", 3), ("b", 2), ("c", 1)]));

    let lengths: HashMap<_, _> = ["x", "yy"].iter().map(|word| (*word, word.len())).collect();
    assert_eq!(lengths.get("yy").copied().unwrap_or_default(), 2);
    let (short, long): (HashMap<&str, usize>, HashMap<&str, usize>) =
        lengths.into_iter().partition(|(_, n)| *n < 2);
    assert_eq!((short.len(), long.len()), (1, 1));
    let (keys, values): (HashSet<u8>, HashSet<u8>) = [(1, 2), (3, 2)].into_iter().unzip();
    assert_eq!((keys.len(), values.len()), (2, 1));
    let all: Result<HashMap<u8, u8>, std::num::ParseIntError> =
        ["1", "2"].iter().map(|s| Ok((s.parse()?, 0))).collect();
    assert_eq!(all.unwrap().len(), 2);
    let none: Option<HashSet<u8>> = [Some(1), None].into_iter().collect();
    assert!(none.is_none());
}

#[test]
fn methods_are_named_by_path() {
    let maps = [HashMap::from([(1, 'a')]), HashMap::new()];
    assert_eq!(maps.iter().map(HashMap::len).sum::<usize>(), 1);
    assert_eq!(maps.iter().flat_map(HashMap::keys).count(), 1);
    assert_eq!(
        maps.iter().flatten().map(|(key, value)| (*key, *value)).collect::<Vec<_>>(),
        [(1, 'a')]
    );
    assert_eq!(maps.into_iter().flat_map(HashMap::into_values).collect::<String>(), "a");
    let missing: Option<HashSet<u8>> = [].into_iter().next();
    assert!(std::iter::repeat_with(HashSet::<u8>::new).take(2).all(|set| set.is_empty()));
    assert!(missing.as_ref().is_none_or(HashSet::is_empty));
    assert!(missing.unwrap_or_default().is_empty());
    let mut groups: HashMap<bool, VecDeque<u8>> = HashMap::default();
    (0..4).for_each(|n| {
        groups.entry(n % 2 == 0).or_default().push_back(n);
    });
    groups.entry(true).or_insert_with(|| VecDeque::from([0])).push_back(4);
    assert_eq!(groups[&true], [0, 2, 4]);
}

#[test]
fn keys_are_found_by_what_they_lend() {
    let mut map = HashMap::from([("one".to_owned(), 1), ("two".to_owned(), 2)]);
    assert!(map.contains_key("one"));
    assert_eq!(map.get_key_value("two"), Some((&"two".to_owned(), &2)));
    assert_eq!(map.remove_entry("one"), Some(("one".to_owned(), 1)));
    if let Some(value) = map.get_mut("two") {
        *value += 1;
    }
    assert_eq!(map.get_disjoint_mut(["two", "six"]), [Some(&mut 3), None]);
    let paths: HashSet<std::path::PathBuf> = HashSet::from(["a/b".into()]);
    assert!(paths.contains(std::path::Path::new("a/b")));
    let bytes: HashSet<Vec<u8>> = HashSet::from([b"xy".to_vec()]);
    assert_eq!(bytes.get(&b"xy"[..]).map(Vec::len), Some(2));
    let shared: HashMap<Arc<str>, u8> = HashMap::from([(Arc::from("k"), 7)]);
    assert_eq!(shared["k"], 7);
}

#[test]
fn loops_borrow_and_consume() {
    let mut map: HashMap<u8, u32> = (0..10).map(|n| (n, u32::from(n))).collect();
    for (key, value) in &mut map {
        *value += u32::from(*key);
    }
    for value in map.values_mut() {
        *value += 1;
    }
    let mut sum = 0;
    for (&key, &value) in &map {
        assert_eq!(value, u32::from(key) * 2 + 1);
        sum += value;
    }
    assert_eq!(sum, 100);
    map.retain(|key, value| *key < 8 && *value > 1);
    let taken: HashMap<u8, u32> = map.extract_if(|key, _| key % 2 == 1).collect();
    assert_eq!(sorted(taken.into_keys()), [1, 3, 5, 7]);
    assert_eq!(sorted(map.drain().map(|(key, _)| key)), [2, 4, 6]);
    assert!(map.is_empty() && std::mem::take(&mut map).capacity() > 0);
}

#[test]
fn sets_have_their_algebra() {
    let a: HashSet<i32> = (0..6).collect();
    let b = HashSet::from([4, 5, 6, 7]);
    assert_eq!(sorted(&a & &b), [4, 5]);
    assert_eq!(sorted(&a - &b), [0, 1, 2, 3]);
    assert_eq!((&a | &b).len(), 8);
    assert_eq!(&a ^ &b, a.symmetric_difference(&b).copied().collect());
    assert!(a.intersection(&b).all(|n| a.contains(n) && b.contains(n)));
    assert!(!a.is_subset(&b) && !a.is_disjoint(&b));
    let union: hash_set::Union<'_, i32, _> = a.union(&b);
    assert_eq!(union.clone().max(), Some(&7));
    let mut c: HashSet<&str> = HashSet::with_capacity(4);
    c.extend(["x", "y"]);
    c.extend(&["y", "z"]);
    assert!(!c.insert("x") && c.replace("z") == Some("z") && c.take("x") == Some("x"));
    assert!(NOTHING.is_empty());
}

#[test]
fn types_of_ones_own_are_built_on_them() {
    let mut index = Index::default();
    index.words.entry("tree".into()).or_default().insert(3);
    index.stop.insert("the");
    assert_eq!(index.clone(), index);
    assert_eq!(format!("{index:?}"), r#"Index { words: {"tree": {3}}, stop: {"the"} }"#);
    assert_eq!(HashMap::from([(1, 2)]).pairs() + BTreeMap::from([(1, 2)]).pairs(), 2);

    let registry: Registry<u8, &str> = [(1, "a"), (2, "b")].into_iter().collect();
    assert_eq!(sorted(&registry), [(&1, &"a"), (&2, &"b")]);
    assert_eq!(sorted(registry), [(1, "a"), (2, "b")]);

    let mut cache = HashMap::new();
    assert_eq!(lookup(&mut cache, "k"), "K");
    cache.insert("k".to_owned(), "other".to_owned());
    assert_eq!(lookup(&mut cache, "k"), "other");

    let boxed: Box<dyn Iterator<Item = (String, String)> + Send> = Box::new(cache.into_iter());
    assert_eq!(boxed.size_hint(), (1, Some(1)));
}

#[test]
fn statics_threads_and_panics_carry_them() {
    SHARED.lock().unwrap().entry("k".to_owned()).or_default().push(1);
    LAZY.lock().unwrap().insert("k", 1);
    SEEN.with_borrow_mut(|seen| seen.insert(1));
    assert_eq!(SEEN.with_borrow(HashSet::len), 1);

    let totals = Mutex::new(HashMap::new());
    let squares = thread::scope(|scope| {
        let handles: Vec<_> = (0..4)
            .map(|n| {
                let totals = &totals;
                scope.spawn(move || {
                    totals.lock().unwrap().insert(n, n * n);
                    scope.spawn(move || n * n).join().unwrap()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).sum::<i32>()
    });
    assert_eq!(squares, totals.into_inner().unwrap().into_values().sum());

    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().name("worker".to_owned()).spawn(move || {
        sender.send(HashSet::from([thread::current().name().map(str::to_owned)])).unwrap();
    });
    worker.unwrap().join().unwrap();
    assert!(receiver.recv().unwrap().contains(&Some("worker".to_owned())));
    let answer: thread::Result<u8> =
        thread::spawn(|| panic::resume_unwind(Box::new("stop"))).join();
    assert_eq!(answer.unwrap_err().downcast_ref(), Some(&"stop"));

    let map = HashMap::from([(1, 2)]);
    assert!(panic::catch_unwind(|| map[&3]).is_err());
    assert!(panic::catch_unwind(AssertUnwindSafe(|| map[&1])).is_ok());
}

#[test]
fn directories_and_environment_are_read() -> io::Result<()> {
    let directory = env::current_dir()?.join("tests");
    let mut names: Vec<String> = fs::read_dir(&directory)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    names.sort();
    assert!(names.binary_search(&"dropin.rs".to_owned()).is_ok());
    let entries: fs::ReadDir = fs::read_dir(directory)?;
    assert_eq!(
        entries.filter_map(Result::ok).filter(|entry| entry.path().ends_with("dropin.rs")).count(),
        1
    );

    let variables: HashMap<_, _> = env::vars_os().collect();
    assert_eq!(variables.len(), env::vars_os().count());
    assert!(variables.contains_key(std::ffi::OsStr::new("CARGO_MANIFEST_DIR")));
    Ok(())
}

/// Compiles only if dropping an iterator does not count as a use of the collection.
#[test]
fn a_collection_is_changed_while_an_iterator_that_is_done_is_dropped() {
    let mut map: HashMap<u32, u32> = (0..9).map(|key| (key, key)).collect();
    while let Some(key) = map.keys().next().copied() {
        map.remove(&key);
        if let Some((&key, _)) = map.iter().next() {
            map.remove(&key);
        }
        if let Some(&key) = map.values().next() {
            map.remove(&key);
        }
        if let Some(value) = map.values_mut().next() {
            let key = *value;
            map.remove(&key);
        }
        if let Some((&key, _)) = map.iter_mut().next() {
            map.remove(&key);
        }
    }
    let other = HashSet::from([1, 2, 3]);
    let mut set: HashSet<u32> = (0..9).collect();
    while let Some(key) = set.iter().next().copied() {
        set.remove(&key);
        if let Some(&key) = set.union(&other).next() {
            set.remove(&key);
        }
        if let Some(&key) = set.intersection(&other).next() {
            set.remove(&key);
        }
        if let Some(&key) = set.difference(&other).next() {
            set.remove(&key);
        }
        if let Some(&key) = set.symmetric_difference(&other).next() {
            set.remove(&key);
        }
    }
    assert!(map.is_empty() && set.is_empty());
}

/// Compiles only if every type has the auto traits and the variance of std's type.
#[test]
fn they_are_sent_shared_and_shortened() {
    fn everything<
        T: Send + Sync + Unpin + panic::UnwindSafe + panic::RefUnwindSafe + Debug + Clone,
    >(
        _: &T,
    ) {
    }
    fn sent<T: Send>(_: T) {}
    fn shorter<'a>(
        map: HashMap<&'static str, &'static str>,
        _: &'a str,
    ) -> HashMap<&'a str, &'a str> {
        map
    }
    let local = String::from("v");
    let mut map = shorter(HashMap::from([("k", "v")]), &local);
    map.insert("l", &local);
    everything(&map);
    everything(&map.iter());
    everything(&map.keys().copied().collect::<HashSet<_>>());
    sent(map.iter_mut());
    sent(map.drain());
    sent(map.into_iter());
    // A type that is `Send` but not `Sync`: an iterator by unique reference is `Send` nevertheless.
    #[derive(PartialEq, Eq, Hash)]
    struct Unshared(PhantomData<Cell<u8>>);
    let mut keyed = HashMap::from([(Unshared(PhantomData), Cell::new(1))]);
    sent(keyed.iter_mut());
    sent(keyed.values_mut());
}
