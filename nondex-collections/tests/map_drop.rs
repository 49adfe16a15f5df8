//! Every key and value is dropped exactly once, with any panics and leaks, and the collection stays
//! valid.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap as StdMap};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nondex_collections::collections::{HashMap, HashSet};
use nondex_core::{Context, Level, RunSpec, context};

thread_local! {
    /// Number of live values of each token.
    static LIVE: RefCell<BTreeMap<u32, i32>> = const { RefCell::new(BTreeMap::new()) };
    /// Number of calls into a token's traits after which one panics.
    static FUSE: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// Token that counts its live values, and panics when the fuse has burnt down.
#[derive(Debug)]
struct Token(u32);

fn burn() {
    let left = FUSE.get();
    FUSE.set(left.wrapping_sub(1));
    if left == 0 {
        FUSE.set(u32::MAX);
        panic!("burnt");
    }
}

impl Token {
    fn new(n: u32) -> Self {
        LIVE.with_borrow_mut(|live| *live.entry(n).or_default() += 1);
        Token(n)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        LIVE.with_borrow_mut(|live| *live.entry(self.0).or_default() -= 1);
        if !std::thread::panicking() {
            burn();
        }
    }
}

impl Clone for Token {
    fn clone(&self) -> Self {
        burn();
        Token::new(self.0)
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        burn();
        self.0 == other.0
    }
}
impl Eq for Token {}

impl Hash for Token {
    fn hash<H: Hasher>(&self, state: &mut H) {
        burn();
        self.0.hash(state);
    }
}

fn live() -> i32 {
    LIVE.with_borrow(|live| {
        assert!(live.values().all(|&count| count >= 0), "dropped twice");
        live.values().sum()
    })
}

type Map = HashMap<Token, Token>;

fn map(len: u32) -> Map {
    (0..len).map(|n| (Token::new(n), Token::new(1000 + n))).collect()
}

/// Runs `body` with a map of ten entries, outside of a test and in a run at every level. Asserts
/// that no token is left.
fn leaves_nothing(body: impl Fn(Map)) {
    body(map(10));
    assert_eq!(live(), 0);
    for level in Level::ALL {
        let run = Context::new(RunSpec::new("test", level, 3));
        let _test = context::enter(&run, "test");
        body(map(10));
        assert_eq!(live(), 0, "at {level}");
    }
}

#[test]
fn iterators_by_value_drop_what_they_did_not_yield() {
    for consumed in 0..=10 {
        leaves_nothing(|map| drop(map.into_iter().nth(consumed)));
        leaves_nothing(|map| drop(map.into_keys().nth(consumed)));
        leaves_nothing(|map| drop(map.into_values().nth(consumed)));
        leaves_nothing(|mut map| {
            drop(map.drain().nth(consumed));
            assert!(map.is_empty());
            map.insert(Token::new(1), Token::new(2));
            assert_eq!(map.len(), 1);
        });
        leaves_nothing(|mut map| {
            let taken = map.extract_if(|key, _| key.0 % 2 == 0).take(consumed).count();
            assert_eq!(map.len(), 10 - taken);
        });
    }
}

#[test]
fn overwriting_and_removing_drop_what_they_replace() {
    leaves_nothing(|mut map| {
        for n in 0..10 {
            assert_eq!(map.insert(Token::new(n), Token::new(n)).unwrap().0, 1000 + n);
            assert_eq!(live(), 20);
        }
        map.remove(&Token::new(3));
        assert_eq!(live(), 18);
        map.entry(Token::new(4)).insert_entry(Token::new(5)).remove();
        assert_eq!(live(), 16);
        map.retain(|key, _| key.0 % 2 == 0);
        assert_eq!(live(), 2 * map.len() as i32);
        map.clear();
        assert_eq!(live(), 0);
    });
}

#[test]
fn a_leaked_iterator_leaves_a_valid_collection() {
    leaves_nothing(|mut map| {
        let mut drain = map.drain();
        let first = drain.next();
        // The drained entries are leaked, with their tokens. Nothing else is leaked.
        let left: Vec<_> = drain.by_ref().collect();
        mem::forget(drain);
        drop((first, left));
        assert!(map.is_empty());
        map.insert(Token::new(1), Token::new(1));
        assert!(map.contains_key(&Token::new(1)));
    });
    leaves_nothing(|mut map| {
        let mut extract = map.extract_if(|_, _| true);
        drop((extract.next(), extract.next(), extract.next()));
        mem::forget(extract);
        assert_eq!(map.len(), 7);
        assert_eq!(map.iter().count(), 7);
        assert_eq!(map.iter_mut().count(), 7);
        let keys: Vec<u32> = map.keys().map(|key| key.0).collect();
        for key in keys {
            assert!(map.remove(&Token::new(key)).is_some());
        }
        assert!(map.is_empty());
    });
}

type Fixed = BuildHasherDefault<DefaultHasher>;

/// Runs `body` on a map once for each call into a token's traits, which panics there. Asserts that
/// the map stays valid and that no token is dropped twice. Returns the number of leaked tokens for
/// each panic.
macro_rules! leaks_of {
    ($map:ident, $body:expr) => {{
        let body: fn(&mut $map<Token, Token, Fixed>) = $body;
        let mut leaks = Vec::new();
        loop {
            let mut map: $map<Token, Token, Fixed> =
                (0..10).map(|n| (Token::new(n), Token::new(1000 + n))).collect();
            map.remove(&Token::new(2));
            FUSE.set(leaks.len() as u32);
            let panicked = catch_unwind(AssertUnwindSafe(|| body(&mut map))).is_err();
            FUSE.set(u32::MAX);
            let seen = map.iter().count();
            assert_eq!(seen, map.len());
            let keys: Vec<u32> = map.keys().map(|key| key.0).collect();
            for key in keys {
                assert_eq!(map.get(&Token::new(key)).map(|_| ()), Some(()));
                assert!(map.remove(&Token::new(key)).is_some());
            }
            assert!(map.is_empty());
            map.insert(Token::new(1), Token::new(1));
            drop(map);
            leaks.push(live());
            LIVE.take();
            if !panicked {
                break;
            }
        }
        assert!(leaks.len() > 1, "nothing could panic");
        leaks
    }};
}

/// Asserts that a panic at every place has the same effect as in std's map, in canonical order and
/// at STD: the same number of tokens is leaked.
macro_rules! survives_every_panic {
    ($body:expr) => {
        let std = leaks_of!(StdMap, $body);
        for level in [None, Some(Level::Std), Some(Level::Eq), Some(Level::Full)] {
            let run = level.map(|level| Context::new(RunSpec::new("test", level, 3)));
            let _test = run.as_ref().map(|run| context::enter(run, "test"));
            let own = leaks_of!(HashMap, $body);
            if matches!(level, None | Some(Level::Std)) {
                assert_eq!(own, std, "{} at {level:?}", stringify!($body));
            }
        }
    };
}

#[test]
fn a_panic_in_a_key_or_value_leaves_a_valid_map() {
    survives_every_panic!(|map| {
        for n in 5..40 {
            map.insert(Token::new(n), Token::new(n));
        }
    });
    survives_every_panic!(|map| {
        for n in 0..20 {
            map.remove(&Token::new(n));
        }
    });
    survives_every_panic!(|map| {
        for n in 0..200 {
            map.insert(Token::new(n), Token::new(n));
            map.remove(&Token::new(n));
        }
    });
    survives_every_panic!(|map| {
        for n in 5..20 {
            map.entry(Token::new(n)).or_insert_with(|| Token::new(n));
        }
    });
    survives_every_panic!(|map| map.retain(|key, _| key.0 % 2 == 0));
    survives_every_panic!(|map| map.clear());
    survives_every_panic!(|map| drop(map.drain()));
    survives_every_panic!(|map| drop(mem::take(map)));
    survives_every_panic!(|map| drop(mem::take(map).into_iter().nth(3)));
    survives_every_panic!(|map| {
        map.extract_if(|key, _| key.0 > 4).for_each(drop);
    });
    survives_every_panic!(|map| drop(map.clone()));
    survives_every_panic!(|map| {
        let other = map.clone();
        map.clone_from(&other);
    });
    survives_every_panic!(|map| {
        let other = map.clone();
        map.extend(other);
    });
    survives_every_panic!(|map| {
        map.get_disjoint_mut([&Token::new(3), &Token::new(4), &Token::new(50)]);
    });
    survives_every_panic!(|map| {
        map.reserve(1_000);
        map.shrink_to_fit();
    });
}

#[test]
fn a_panic_in_a_closure_leaves_what_was_decided_so_far() {
    leaves_nothing(|mut map| {
        let mut visited = 0;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            map.retain(|_, _| {
                visited += 1;
                assert!(visited < 5);
                visited % 2 == 0
            });
        }));
        assert!(panicked.is_err());
        assert_eq!(map.len(), 8);
        assert_eq!(map.iter().count(), 8);
    });
}

#[test]
fn a_set_drops_the_element_it_does_not_take() {
    let mut set = HashSet::new();
    assert!(set.insert(Token::new(1)));
    assert!(!set.insert(Token::new(1)));
    assert_eq!(live(), 1);
    assert_eq!(set.replace(Token::new(1)).map(|old| old.0), Some(1));
    assert_eq!(live(), 1);
    drop(set.take(&Token::new(1)));
    assert_eq!(live(), 0);
}

#[test]
fn a_clone_that_panics_leaves_as_much_room_as_stds() {
    macro_rules! capacities {
        ($map:ident) => {{
            let entries = (0..20).map(|n| (Token::new(n), Token::new(n)));
            let mut map: $map<Token, Token> = entries.collect();
            let mut other: $map<Token, Token> = $map::with_capacity(28);
            // There is memory for more entries, but a hash panics.
            FUSE.set(5);
            catch_unwind(AssertUnwindSafe(|| map.try_reserve(20))).unwrap_err();
            FUSE.set(9);
            catch_unwind(AssertUnwindSafe(|| other.clone_from(&map))).unwrap_err();
            FUSE.set(u32::MAX);
            (map.len(), map.capacity(), other.len(), other.capacity())
        }};
    }
    assert_eq!(capacities!(HashMap), capacities!(StdMap));
    assert_eq!(live(), 0);
}
