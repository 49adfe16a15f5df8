//! Plans which tests are interleaved, and at which shared state.
//!
//! A part of the state that one test changes and another one uses is a reason to interleave them.
//! There may be more such pairs than time, so the most suspicious come first. The criteria are,
//! from the most important one:
//!
//! - State of the project comes before state of its dependencies.
//! - The first pairs of each part of the state come before further pairs of any part.
//! - Running the whole of a test in the middle of another comes before running parts of both.
//! - State that one test changes and the other reads comes before state that both only change.
//!   State that each test restores follows, and last comes state that one of them may not use at
//!   all.
//! - Every test has its first pair before any test has its second.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of other tests that are interleaved with each test over each part of the state.
const MAX_WITH: usize = 64;

/// Use of the state by one test. The parts of the state are numbered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateUse {
    /// Parts that it changes.
    pub changes: BTreeSet<usize>,
    /// Parts among these that it restores.
    pub undone: BTreeSet<usize>,
    /// Parts that it reads.
    pub reads: BTreeSet<usize>,
    /// Whether it may use any other static.
    pub may_use_any: bool,
}

/// Properties of a part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateProperties {
    /// Whether it belongs to a dependency, like a dependency's counters and caches.
    pub is_foreign: bool,
    /// Whether it is a static. A test that changes a static has usually read it too.
    pub is_static: bool,
}

/// Run of the whole of one test, or of parts of it, in the middle of another one. Tests are
/// numbered like their uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InterleavedPair {
    /// Test that is stopped.
    pub outer: usize,
    /// Test that runs while `outer` is stopped.
    pub inner: usize,
    /// Part of the state at whose accesses `outer` is stopped.
    pub state: usize,
    /// Whether `inner` is stopped, too.
    pub in_parts: bool,
}

/// Pairs to try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Pairs, the most suspicious first.
    pub pairs: Vec<InterleavedPair>,
    /// Number of further pairs, which are not tried.
    pub dropped: usize,
}

/// Kind of a pair, the most suspicious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Conflict {
    /// One test changes what the other one reads.
    Read,
    /// Both tests change it.
    Changed,
    /// Both tests restore it.
    Undone,
    /// One test changes it, and it is unknown whether the other one uses it.
    Unknown,
}

/// Returns the pairs of tests with these uses that are wanted, in both directions.
pub fn plan(
    uses: &[StateUse],
    states: &[StateProperties],
    is_wanted: &dyn Fn([usize; 2]) -> bool,
) -> Plan {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
    for (test, own) in uses.iter().enumerate() {
        for state in own.changes.union(&own.reads) {
            users[*state].push(test);
        }
    }
    let mut plan = Plan::default();
    let mut rounds: BTreeMap<(bool, bool, Conflict, usize), usize> = BTreeMap::new();
    let mut keyed = Vec::new();
    for (state, shared) in states.iter().enumerate() {
        let has_changed = |test: usize| uses[test].changes.contains(&state);
        let mut users = users[state].clone();
        // For a static of a dependency, tests that may only use it are not tried.
        if shared.is_static && !shared.is_foreign {
            users.extend((0..uses.len()).filter(|test| uses[*test].may_use_any));
            users.sort_unstable();
            users.dedup();
        }
        let mut own = Vec::new();
        for &outer in &users {
            let mut others: Vec<(Conflict, usize)> = users
                .iter()
                .filter(|inner| **inner != outer && (has_changed(**inner) || has_changed(outer)))
                .filter(|inner| is_wanted([outer, **inner]))
                .map(|&inner| (conflict(uses, outer, inner, state, *shared), inner))
                .collect();
            others.sort_unstable();
            plan.dropped += others.len().saturating_sub(MAX_WITH);
            others.truncate(MAX_WITH);
            for in_parts in [false, true] {
                for &(conflict, inner) in &others {
                    // Parts of the inner test can only find something new if the outer test changes
                    // the state.
                    if in_parts && !has_changed(outer) {
                        continue;
                    }
                    let key = (shared.is_foreign, in_parts, conflict, outer);
                    let round = rounds.entry(key).or_default();
                    *round += 1;
                    let pair = InterleavedPair { outer, inner, state, in_parts };
                    own.push(((in_parts, conflict, *round), pair));
                }
            }
        }
        own.sort_unstable();
        keyed.extend(
            own.into_iter()
                .zip(0..)
                .map(|((key, pair), place)| ((shared.is_foreign, batch(place), key), pair)),
        );
    }
    keyed.sort_unstable();
    plan.pairs = keyed.into_iter().map(|(_, pair)| pair).collect();
    plan
}

/// Number of pairs of each state in the first batch, which comes before further pairs of any state.
const FIRST: u32 = 16;

/// Returns the batch of the pair at this place among those of its state. Each batch is twice as
/// large as the previous one. So a counter that all tests change does not displace state that only
/// two tests use.
fn batch(place: u32) -> u32 {
    (place / FIRST + 1).ilog2()
}

fn conflict(
    uses: &[StateUse],
    outer: usize,
    inner: usize,
    state: usize,
    shared: StateProperties,
) -> Conflict {
    let both = [outer, inner].map(|test| &uses[test]);
    let changes = both.map(|used| used.changes.contains(&state));
    let reads = both.map(|used| used.reads.contains(&state));
    let is_left = |used: &StateUse| used.changes.contains(&state) && !used.undone.contains(&state);
    let is_read = changes[0] && reads[1] || changes[1] && reads[0];
    let is_changed = changes[0] && changes[1];
    if !is_read && !is_changed {
        Conflict::Unknown
    } else if !both.into_iter().any(is_left) {
        Conflict::Undone
    } else if is_read || shared.is_static {
        Conflict::Read
    } else {
        Conflict::Changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: StateProperties = StateProperties { is_foreign: false, is_static: false };
    const FOREIGN: StateProperties = StateProperties { is_foreign: true, ..OWN };
    const STATIC: StateProperties = StateProperties { is_static: true, ..OWN };

    fn test(changes: &[usize], reads: &[usize]) -> StateUse {
        StateUse {
            changes: changes.iter().copied().collect(),
            reads: reads.iter().copied().collect(),
            ..StateUse::default()
        }
    }

    fn whole(plan: &Plan) -> Vec<[usize; 3]> {
        let pairs = plan.pairs.iter().filter(|pair| !pair.in_parts);
        pairs.map(|pair| [pair.outer, pair.inner, pair.state]).collect()
    }

    #[test]
    fn what_one_changes_and_another_one_reads_comes_first_and_what_is_the_dependencies_last() {
        let uses =
            [test(&[0, 1, 2], &[]), test(&[0, 1, 2], &[]), test(&[], &[2]), test(&[0], &[1])];
        let states = [FOREIGN, OWN, OWN];
        let plan = plan(&uses, &states, &|_| true);
        let pairs = whole(&plan);
        let place = |pair: [usize; 3]| pairs.iter().position(|known| *known == pair).unwrap();
        assert!(place([2, 0, 2]) < place([0, 1, 2]));
        assert!(place([3, 0, 1]) < place([0, 1, 1]));
        assert!(place([0, 1, 2]) < place([0, 1, 0]));
        // No test changes what both of these only read.
        assert!(!pairs.contains(&[2, 3, 1]) && !pairs.contains(&[2, 3, 0]));
        assert_eq!(plan.dropped, 0);
    }

    #[test]
    fn every_test_has_its_first_pair_before_any_has_its_second() {
        let uses = vec![test(&[0], &[0]); 5];
        let pairs = whole(&plan(&uses, &[OWN], &|_| true));
        let first: BTreeSet<usize> = pairs[..5].iter().map(|[outer, ..]| *outer).collect();
        assert_eq!((pairs.len(), first.len()), (20, 5));
    }

    #[test]
    fn of_a_static_that_one_changes_those_may_be_readers_of_which_it_is_not_known() {
        let changes = test(&[0], &[]);
        let open = StateUse { may_use_any: true, ..StateUse::default() };
        let uses = [changes.clone(), open, changes, test(&[], &[])];
        let pairs = whole(&plan(&uses, &[STATIC], &|_| true));
        assert_eq!(pairs[..2], [[0, 2, 0], [2, 0, 0]]);
        assert_eq!(pairs.len(), 6);
        assert!(!pairs.iter().flatten().any(|test| *test == 3));
        let foreign = StateProperties { is_foreign: true, ..STATIC };
        let pairs = whole(&plan(&uses, &[foreign], &|_| true));
        assert_eq!(pairs, [[0, 2, 0], [2, 0, 0]]);
    }

    #[test]
    fn what_two_tests_put_back_is_tried_although_all_tests_change_a_counter() {
        let borrows = StateUse { undone: [1].into(), ..test(&[0, 1], &[0, 1]) };
        let counts = vec![test(&[0], &[0]); 88];
        let uses = [vec![borrows.clone(), borrows], counts].concat();
        let pairs = whole(&plan(&uses, &[STATIC, STATIC], &|_| true));
        for pair in [[0, 1, 1], [1, 0, 1]] {
            let place = pairs.iter().position(|known| *known == pair).unwrap();
            assert!(place < 40, "{pair:?} comes at {place}");
        }
    }

    #[test]
    fn what_is_left_changed_comes_before_what_each_test_leaves_as_it_was() {
        let borrows = StateUse { undone: [0].into(), ..test(&[0], &[0]) };
        let uses = [borrows.clone(), borrows, test(&[1], &[]), test(&[1], &[])];
        let pairs = whole(&plan(&uses, &[STATIC, STATIC], &|_| true));
        assert_eq!(pairs, [[2, 3, 1], [3, 2, 1], [0, 1, 0], [1, 0, 0]]);
    }

    #[test]
    fn only_wanted_pairs_are_planned_and_what_is_dropped_is_counted() {
        let uses = vec![test(&[0], &[0]); 4];
        let wanted = plan(&uses, &[OWN], &|pair| pair.contains(&2));
        assert!(!wanted.pairs.is_empty());
        let has_wanted = |pair: &InterleavedPair| pair.outer == 2 || pair.inner == 2;
        assert!(wanted.pairs.iter().all(has_wanted));
        let many = vec![test(&[0], &[0]); MAX_WITH + 3];
        let plan = plan(&many, &[OWN], &|_| true);
        assert_eq!(plan.dropped, 2 * many.len());
        assert_eq!(whole(&plan).len(), MAX_WITH * many.len());
    }
}
