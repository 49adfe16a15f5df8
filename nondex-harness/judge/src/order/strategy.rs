//! Generates the orders in which the tests of a binary are tried.

use std::collections::HashSet;
use std::hash::Hasher;

use nondex_core::hash::FixedHasher;

/// Strategy for test orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Order of libtest with one thread: by name.
    Original,
    /// Reverse of the original order.
    Reverse,
    /// Orders drawn from seeds. Tests keep their relative order when others are added or removed.
    Random,
    /// Orders in which each ordered pair of tests is adjacent at least once: at most one order more
    /// than there are tests.
    Tuscan,
    /// One order for each test: it comes first, and the others follow in their original order.
    OneByOne,
    /// Each test in a separate process.
    Isolated,
    /// All permutations.
    All,
}

nondex_core::words!(Strategy {
    Original = "original",
    Reverse = "reverse",
    Random = "random",
    Tuscan = "tuscan",
    OneByOne = "one-by-one",
    Isolated = "isolated",
    All = "all",
});

/// What random orders exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// The tests within each module; the modules keep their places.
    Tests,
    /// The modules; the tests within each module keep their places.
    Modules,
    /// All tests, independent of their modules.
    #[default]
    All,
}

nondex_core::words!(Shuffle { Tests = "tests", Modules = "modules", All = "all" });

/// Returns the first `count` orders of the tests with these names, without duplicates. The names
/// are in their original order.
pub fn orders(
    strategy: Strategy,
    names: &[&str],
    count: usize,
    seed: u64,
    shuffle: Shuffle,
) -> Vec<Vec<usize>> {
    let len = names.len();
    let original: Vec<usize> = (0..len).collect();
    let all: Box<dyn Iterator<Item = Vec<usize>>> = match strategy {
        Strategy::Original => Box::new([original].into_iter()),
        Strategy::Reverse => Box::new([original.into_iter().rev().collect()].into_iter()),
        Strategy::Random => {
            // Different seeds may give the same order, so more seeds than orders are tried.
            let seeds = (0..).map(move |add| seed.wrapping_add(add));
            let tried = seeds.take(count.saturating_mul(4).saturating_add(16));
            Box::new(tried.map(|seed| random(names, seed, shuffle)))
        }
        Strategy::Tuscan => Box::new((0..len.next_multiple_of(2)).map(|row| tuscan(len, row))),
        Strategy::OneByOne => Box::new(original.clone().into_iter().map(move |first| {
            let others = original.iter().copied().filter(|test| *test != first);
            [first].into_iter().chain(others).collect()
        })),
        Strategy::Isolated => Box::new(original.into_iter().map(|test| vec![test])),
        Strategy::All => Box::new(std::iter::successors(Some(original), |order| next(order))),
    };
    let mut known = HashSet::new();
    all.filter(|order| known.insert(order.clone())).take(count).collect()
}

/// Returns the number of orders of `tests` tests, or `None` if it exceeds `limit`.
pub fn factorial(tests: usize, limit: usize) -> Option<usize> {
    let mut product = 1_usize;
    for factor in 1..=tests {
        product = product.checked_mul(factor).filter(|known| *known <= limit)?;
    }
    Some(product)
}

/// Returns the tests sorted by a hash of the seed and their names.
fn random(names: &[&str], seed: u64, shuffle: Shuffle) -> Vec<usize> {
    let rank = |name: &str| {
        let mut hasher = FixedHasher::keyed(seed);
        hasher.write(name.as_bytes());
        hasher.finish()
    };
    let module = |test: usize| names[test].rsplit_once("::").map_or("", |(module, _)| module);
    let mut order: Vec<usize> = (0..names.len()).collect();
    // The key after the rank makes equal ranks distinct, and keeps the tests of a module together.
    order.sort_by_cached_key(|&test| match shuffle {
        Shuffle::All => (rank(names[test]), "", 0, test),
        Shuffle::Modules => (rank(module(test)), module(test), 0, test),
        Shuffle::Tests => (0, module(test), rank(names[test]), test),
    });
    order
}

/// Returns a row of the square of Williams (1949) for an even number of tests: 0, 1, n−1, 2, n−2,
/// …, each shifted by `row`. For an odd number of tests, the square has one element more, which is
/// left out. This only separates the neighbours of that element.
fn tuscan(len: usize, row: usize) -> Vec<usize> {
    let even = len.next_multiple_of(2);
    let zigzag = (0..even).map(|place| match place % 2 {
        0 => (even - place / 2) % even,
        _ => place.div_ceil(2),
    });
    zigzag.map(|test| (test + row) % even).filter(|test| *test < len).collect()
}

/// Returns the lexicographically next permutation.
fn next(order: &[usize]) -> Option<Vec<usize>> {
    let pivot = order.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let larger = order.iter().rposition(|test| *test > order[pivot])?;
    let mut next = order.to_vec();
    next.swap(pivot, larger);
    next[pivot + 1..].reverse();
    Some(next)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const NAMES: [&str; 7] = ["a::x", "a::y", "b", "c::d::x", "c::x", "c::y", "d"];

    #[test]
    fn every_order_of_every_strategy_has_each_test_once_and_comes_once() {
        for strategy in Strategy::ALL {
            for shuffle in Shuffle::ALL {
                for len in 0..NAMES.len() {
                    let orders = orders(strategy, &NAMES[..len], 20, 3, shuffle);
                    let unique: BTreeSet<_> = orders.iter().collect();
                    assert_eq!(unique.len(), orders.len(), "{strategy:?}");
                    if strategy == Strategy::Isolated {
                        continue;
                    }
                    for order in &orders {
                        let mut sorted = order.clone();
                        sorted.sort_unstable();
                        assert_eq!(sorted, (0..len).collect::<Vec<_>>(), "{strategy:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn in_tuscan_orders_every_two_tests_are_neighbours_each_way_round() {
        for len in 2..40 {
            let names = vec![""; len];
            let rows = orders(Strategy::Tuscan, &names, usize::MAX, 0, Shuffle::All);
            assert!(rows.len() <= len + 1);
            let pairs: BTreeSet<(usize, usize)> =
                rows.iter().flat_map(|row| row.windows(2).map(|pair| (pair[0], pair[1]))).collect();
            assert_eq!(pairs.len(), len * (len - 1), "{len} tests");
        }
    }

    #[test]
    fn a_random_order_survives_when_tests_are_added_or_left_out() {
        for shuffle in Shuffle::ALL {
            for seed in 0..20 {
                let whole = random(&NAMES, seed, shuffle);
                for left_out in NAMES {
                    let mut names = NAMES.to_vec();
                    names.retain(|name| *name != left_out);
                    let named = |names: &[&str], order: &[usize]| {
                        let names = order.iter().map(|test| names[*test].to_owned());
                        names.collect::<Vec<_>>()
                    };
                    let mut expected = named(&NAMES, &whole);
                    expected.retain(|name| name != left_out);
                    assert_eq!(named(&names, &random(&names, seed, shuffle)), expected);
                }
            }
        }
    }

    #[test]
    fn random_orders_exchange_what_they_are_asked_to() {
        let module = |test: usize| NAMES[test].rsplit_once("::").map_or("", |(module, _)| module);
        for seed in 0..20 {
            for shuffle in [Shuffle::Tests, Shuffle::Modules] {
                let order = random(&NAMES, seed, shuffle);
                let mut modules: Vec<&str> = order.iter().map(|test| module(*test)).collect();
                modules.dedup();
                let unique: BTreeSet<_> = modules.iter().collect();
                assert_eq!(unique.len(), modules.len(), "modules are not torn apart");
                if shuffle == Shuffle::Modules {
                    let of_c = order.iter().filter(|test| module(**test) == "c");
                    assert!(of_c.is_sorted());
                }
            }
        }
    }

    #[test]
    fn all_orders_are_tried_where_they_are_few() {
        assert_eq!(orders(Strategy::All, &NAMES[..4], 100, 0, Shuffle::All).len(), 24);
        assert_eq!(factorial(4, 24), Some(24));
        assert_eq!(factorial(4, 23), None);
        assert_eq!(factorial(500, 1000), None);
    }
}
