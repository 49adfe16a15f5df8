//! Tests of drawn permutations.

use std::vec::Vec;

use super::*;
use crate::hash::mix;

fn drawn(seed: u64, len: usize) -> Permutation {
    if len <= SHORT {
        Permutation::of_word(mix(seed ^ 1), len)
    } else {
        Permutation::new(Xoshiro256::seeded(seed), len)
    }
}

const LENS: [usize; 13] = [0, 1, 2, 3, 7, 16, 17, 128, 129, 1024, 1025, 5000, 20_000];

#[test]
fn every_draw_is_a_permutation_whichever_table_holds_it() {
    for len in LENS {
        let mut order: Vec<usize> = drawn(len as u64, len).collect();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..len), "len {len}");
    }
}

#[test]
fn a_reversed_permutation_goes_from_the_last_position_to_the_first() {
    for len in [0, 1, 2, 1_000_000] {
        let mut order = Permutation::reversed(len);
        assert_eq!(order.len(), len);
        assert!(
            order
                .clone()
                .fold(0..len, |mut left, position| {
                    assert_eq!(left.next_back(), Some(position));
                    left
                })
                .is_empty()
        );
        assert!(order.by_ref().eq((0..len).rev()));
        assert_eq!((order.next(), order.len()), (None, 0));
    }
}

#[test]
fn a_permutation_is_the_same_however_much_is_drawn_at_once() {
    for len in LENS {
        let mut rng = Xoshiro256::seeded(9);
        let mut whole = identity(len);
        let mut words = || rng.word();
        if len > SHORT {
            shuffle(&mut whole, 0, draws_of_word(len), len, &mut words);
        } else {
            shuffle(&mut whole, 0, SHORT, 1, || mix(9 ^ 1));
        }
        for one_by_one in [0, 1, 5, 63, 64, 65, 700, len] {
            let mut order = drawn(9, len);
            let mut found: Vec<usize> = order.by_ref().take(one_by_one).collect();
            assert_eq!(order.len(), len.saturating_sub(one_by_one));
            let copy = order.clone();
            order.for_each(|position| found.push(position));
            assert!(found[one_by_one.min(len)..].iter().copied().eq(copy));
            assert!(found.into_iter().eq(whole.iter().map(|&position| position as usize)));
        }
    }
}

#[test]
fn a_listed_permutation_is_as_listed() {
    for len in LENS {
        let order: Vec<u32> = drawn(3, len).map(|position| position as u32).collect();
        assert!(Permutation::is_listed_once(&order));
        let listed = Permutation::listed(order.iter().copied());
        assert_eq!(listed.len(), len);
        assert!(listed.map(|position| position as u32).eq(order));
    }
}

/// Returns how far the orders of four elements are from being equally frequent.
fn chi_square(order: impl Fn(u64) -> Permutation) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    let draws = 24_000;
    for seed in 0..draws {
        let order: Vec<usize> = order(seed).collect();
        *counts.entry(order).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 24);
    let expected = f64::from(draws as u32) / 24.0;
    let distance = |&n: &u32| (f64::from(n) - expected).powi(2) / expected;
    counts.values().map(distance).sum()
}

#[test]
fn all_orders_of_four_elements_are_drawn_about_equally_often() {
    // With 23 degrees of freedom, 60 is beyond the 0.9999 quantile. The seeds are fixed, so this
    // cannot flake.
    let of_generator = |seed| Permutation::new(Xoshiro256::seeded(seed), 4);
    for found in [chi_square(|seed| drawn(seed, 4)), chi_square(of_generator)] {
        assert!(found < 60.0, "chi square {found}");
    }
}
