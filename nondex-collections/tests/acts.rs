//! Operations on all entries of a collection (drop, clear, clone, compare) visit them in the order
//! of its iterators, as in std.
#![cfg(feature = "nondex")]

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::mem;

use nondex_collections::collections::{HashMap, HashSet};
use nondex_core::{Context, Level, Outcome, RunRecord, RunSpec, context};

thread_local! {
    /// Keys of the recorded operations.
    static TRACE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Key that records its destructor, clones and comparisons.
#[derive(Debug)]
struct Loud(u32);

fn note(key: u32) {
    TRACE.with_borrow_mut(|trace| trace.push(key));
}

impl Drop for Loud {
    fn drop(&mut self) {
        note(self.0);
    }
}
impl Clone for Loud {
    fn clone(&self) -> Self {
        note(self.0);
        Loud(self.0)
    }
}
impl PartialEq for Loud {
    fn eq(&self, other: &Self) -> bool {
        note(self.0);
        self.0 == other.0
    }
}
impl Eq for Loud {}
impl Hash for Loud {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Returns the keys that `act` records.
fn trace(act: impl FnOnce()) -> Vec<u32> {
    TRACE.take();
    act();
    TRACE.take()
}

/// Returns the keys that comparisons in `act` record. A key may be compared with others of a
/// similar hash before its equal is found.
fn looked_up(act: impl FnOnce()) -> Vec<u32> {
    let mut trace = trace(act);
    trace.dedup();
    trace
}

type Fixed = BuildHasherDefault<DefaultHasher>;

/// Returns a map of eight entries, after one in the middle and the first were removed.
fn map<S: BuildHasher + Default>() -> HashMap<Loud, (), S> {
    let mut map: HashMap<Loud, (), S> = (0..10).map(|n| (Loud(n), ())).collect();
    map.remove(&Loud(4));
    map.remove(&Loud(0));
    map
}

fn set<S: BuildHasher + Default>() -> HashSet<Loud, S> {
    map::<S>().into_keys().collect()
}

fn keys<S>(map: &HashMap<Loud, (), S>) -> Vec<u32> {
    map.keys().map(|key| key.0).collect()
}

/// Returns for each operation whether it visits the entries in the order of the iterators.
fn acts_agree<S: BuildHasher + Default + Clone>() -> Vec<bool> {
    let mut agree = Vec::new();
    let mut check = |name: &str, expected: &[u32], found: &[u32]| {
        let (mut a, mut b) = (expected.to_vec(), found.to_vec());
        a.sort_unstable();
        b.sort_unstable();
        assert_eq!(a, b, "{name}");
        agree.push(expected == found);
    };
    let a = map::<S>();
    let order = keys(&a);
    check("drop", &order, &trace(|| drop(a)));
    let mut a = map::<S>();
    let order = keys(&a);
    check("clear", &order, &trace(|| a.clear()));
    let a = map::<S>();
    let order = keys(&a);
    let mut b = None;
    check("clone", &order, &trace(|| b = Some(a.clone())));
    let b = b.unwrap();
    check("the clone's keys", &order, &keys(&b));
    check("eq", &order, &looked_up(|| assert!(a == b)));
    let mut c = map::<S>();
    let mut both = keys(&c);
    both.extend(&order);
    check("clone_from", &both, &trace(|| c.clone_from(&a)));
    let mut a = map::<S>();
    let order = keys(&a);
    check("drain", &order, &trace(|| drop(a.drain())));
    let a = map::<S>();
    let order = keys(&a);
    check("into_keys", &order, &trace(|| drop(a.into_keys().next())));
    let a = set::<S>();
    let order: Vec<u32> = a.iter().map(|key| key.0).collect();
    check("drop of a set", &order, &trace(|| drop(a)));
    let mut a = set::<S>();
    let order: Vec<u32> = a.iter().map(|key| key.0).collect();
    let b = a.clone();
    check("eq of a set", &order, &looked_up(|| assert!(a == b)));
    check("subset", &order, &looked_up(|| assert!(a.is_subset(&b))));
    check("clear of a set", &order, &trace(|| a.clear()));
    mem::forget(b);
    agree
}

/// Runs `body` in a run of this spec, and returns the record.
fn run(spec: &RunSpec, body: impl FnOnce()) -> RunRecord {
    let context = Context::new(spec.clone());
    let entered = context::enter(&context, "test");
    body();
    drop(entered);
    RunRecord::fold(spec, context.take_events(), Outcome::Exited(0))
}

#[test]
fn an_act_meets_the_entries_in_the_order_of_the_iterators_but_at_full() {
    for acts in [acts_agree::<RandomState>, acts_agree::<Fixed>] {
        assert!(acts().iter().all(|agrees| *agrees), "outside a test");
        let mut differ = 0;
        for seed in 0..20 {
            for level in Level::ALL {
                run(&RunSpec::new("test", level, seed), || {
                    let agree = acts();
                    match level {
                        Level::Full => differ += agree.iter().filter(|agrees| !**agrees).count(),
                        _ => {
                            assert!(agree.iter().all(|agrees| *agrees), "{level} {seed} {agree:?}");
                        }
                    }
                });
            }
        }
        assert!(differ > 100, "at FULL each is a separate choice");
    }
}

#[test]
fn at_std_and_in_base_order_with_a_fixed_hasher_acts_have_the_order_of_std() {
    fn of_std() -> std::collections::HashMap<Loud, (), Fixed> {
        let mut map: std::collections::HashMap<_, _, Fixed> =
            (0..10).map(|n| (Loud(n), ())).collect();
        map.remove(&Loud(4));
        map.remove(&Loud(0));
        map
    }
    let check = || {
        assert_eq!(trace(|| drop(map::<Fixed>())), trace(|| drop(of_std())));
        assert_eq!(trace(|| drop(map::<Fixed>().clone())), trace(|| drop(of_std().clone())));
        assert_eq!(
            trace(|| assert!(map::<Fixed>() == map())),
            trace(|| assert!(of_std() == of_std()))
        );
    };
    check();
    run(&RunSpec::new("test", Level::Std, 3), check);
}

#[test]
fn the_choice_of_a_destructor_is_at_the_place_where_the_collection_was_created() {
    let mut lines = Vec::new();
    let record = run(&RunSpec::new("test", Level::Full, 3), || {
        lines.push(line!() + 1);
        let mut map = HashMap::new();
        map.extend((0..5).map(|n| (n, Loud(n))));
        lines.push(line!() + 1);
        let other = map.clone();
        assert_eq!(other.len(), 5);
    });
    let drops = record.points.iter().filter(|p| p.site.api.ends_with("::drop"));
    let mut found: Vec<u32> = drops.map(|point| point.site.line).collect();
    found.sort_unstable();
    assert_eq!(found, lines);
    let others = record.points.iter().filter(|p| !p.site.api.ends_with("::drop"));
    assert_eq!(
        others.map(|p| &*p.site.api).collect::<Vec<_>>(),
        ["std::collections::HashMap::clone"]
    );
}

#[test]
fn what_nothing_can_tell_is_no_choice() {
    let record = run(&RunSpec::new("test", Level::Full, 3), || {
        let mut map: HashMap<String, Vec<Option<u8>>> = HashMap::new();
        map.extend((0..5).map(|n| (n.to_string(), vec![Some(n)])));
        let other = map.clone();
        assert_eq!(map, other);
        map.clear();
        let set: HashSet<u32> = (0..9).collect();
        assert_eq!(set, set.clone());
    });
    assert_eq!(record.points, []);
}
