//! Tests of designed and random orders.

use std::collections::BTreeSet;

use super::*;
use crate::hash::mix;

const LENS: [usize; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 64, 101];

fn key(number: u64) -> Key {
    Key { tag: 1 + number % 4, a: mix(number), b: number / 4 }
}

fn order(seed: u64, key: Key, len: usize) -> Vec<usize> {
    Schedule::Covering.order(seed, key, len).collect()
}

/// Collects what `has` finds in the canonical order and in those of the first seeds, and returns
/// the number of distinct findings.
fn check(
    len: usize,
    number: u64,
    seeds: u64,
    has: impl Fn(&mut BTreeSet<Vec<usize>>, &[usize]),
) -> usize {
    let mut seen = BTreeSet::new();
    has(&mut seen, &(0..len).collect::<Vec<_>>());
    for seed in 0..seeds {
        has(&mut seen, &order(seed, key(number), len));
    }
    seen.len()
}

#[test]
fn every_order_has_every_position_once() {
    for len in LENS.into_iter().chain([0, 1, 255, 256, 257, 1025]) {
        for number in 0..8 {
            for seed in (0..12).chain([len as u64, u64::MAX]) {
                let mut found = order(seed, key(number), len);
                found.sort_unstable();
                assert!(found.into_iter().eq(0..len), "seed {seed} of {len}");
            }
        }
    }
}

#[test]
fn after_the_clean_run_and_the_first_seed_every_pair_was_seen_in_both_orders() {
    for len in LENS {
        let pairs = |seen: &mut BTreeSet<_>, order: &[usize]| {
            for (at, &first) in order.iter().enumerate() {
                seen.extend(order[at + 1..].iter().map(|&second| vec![first, second]));
            }
        };
        assert_eq!(check(len, 3, 1, pairs), len * (len - 1));
    }
}

#[test]
fn after_about_as_many_seeds_as_elements_every_element_was_first_and_last() {
    let ends = |seen: &mut BTreeSet<_>, order: &[usize]| {
        seen.insert(vec![0, order[0]]);
        seen.insert(vec![1, order[order.len() - 1]]);
    };
    for len in LENS {
        let seeds = Schedule::Covering.designed(len);
        assert!(seeds <= len as u64 + 8, "{seeds} for {len}");
        for number in 0..20 {
            assert_eq!(check(len, number, seeds, ends), 2 * len, "{len}");
        }
    }
}

#[test]
fn each_of_the_first_seeds_has_another_first_and_last_element_when_there_are_many() {
    for len in [9, 16, 17, 64, 256] {
        for number in 0..20 {
            let orders: Vec<_> = (1..9).map(|seed| order(seed, key(number), len)).collect();
            let firsts: BTreeSet<_> = orders.iter().map(|order| order[0]).collect();
            let lasts: BTreeSet<_> = orders.iter().map(|order| order[len - 1]).collect();
            // With an odd number, one order may begin or end with the next element.
            let least = 8 - len % 2;
            assert!(firsts.len() >= least && lasts.len() >= least, "{len}");
        }
    }
}

#[test]
fn after_the_design_every_element_was_at_every_position_if_their_number_is_even_or_small() {
    let places = |seen: &mut BTreeSet<_>, order: &[usize]| {
        seen.extend(order.iter().enumerate().map(|(at, &element)| vec![at, element]));
    };
    for len in LENS.into_iter().filter(|len| *len <= 8 || len % 2 == 0) {
        for number in 0..20 {
            let seeds = Schedule::Covering.designed(len);
            assert_eq!(check(len, number, seeds, places), len * len, "{len}");
        }
    }
}

#[test]
fn ten_seeds_have_every_three_of_up_to_eight_elements_in_every_order() {
    let triples = |seen: &mut BTreeSet<_>, order: &[usize]| {
        for third in 0..order.len() {
            for second in 0..third {
                seen.extend(
                    (0..second).map(|first| vec![order[first], order[second], order[third]]),
                );
            }
        }
    };
    for len in 3..=8 {
        let seeds = Schedule::Covering.designed(len);
        assert!(seeds <= 10);
        for number in 0..20 {
            assert_eq!(check(len, number, seeds, triples), len * (len - 1) * (len - 2), "{len}");
        }
    }
}

#[test]
fn with_more_elements_every_order_has_its_reverse_among_the_same_eight() {
    for len in [17, 64] {
        for window in 0..2 {
            let seeds = 1 + 8 * window..9 + 8 * window;
            let orders: BTreeSet<_> = seeds.map(|seed| order(seed, key(5), len)).collect();
            assert_eq!(orders.len(), 8);
            for order in &orders {
                assert!(orders.contains(&order.iter().rev().copied().collect::<Vec<_>>()));
            }
        }
    }
}

#[test]
fn taken_alone_every_designed_order_is_any_permutation() {
    for seed in 1..=6 {
        let mut counts = std::collections::BTreeMap::new();
        for number in 0..2400 {
            *counts.entry(order(seed, key(number), 4)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let distance = |&n: &u32| (f64::from(n) - 100.0).powi(2) / 100.0;
        let chi_square: f64 = counts.values().map(distance).sum();
        // With 23 degrees of freedom, 60 is beyond the 0.9999 quantile. The keys are fixed, so this
        // cannot flake.
        assert!(chi_square < 60.0, "seed {seed}: chi square {chi_square}");
    }
    for place in [0, 4, 9] {
        let at = |number| order(3, key(number), 10)[place];
        let elements: BTreeSet<_> = (0..200).map(at).collect();
        assert_eq!(elements.len(), 10, "place {place}");
    }
}

#[test]
fn two_choices_differ_as_often_as_if_they_were_random() {
    // The number of pairs of choices that have the same two elements in the same relative order.
    let agree = |seeds: std::ops::Range<u64>, len: usize| {
        let is_first = |seed, number| {
            let found = order(seed, key(number), len);
            found.iter().position(|&at| at == 0) < found.iter().position(|&at| at == 1)
        };
        let pair = |number: &u64| {
            let mut seeds = seeds.clone();
            seeds.all(|seed| is_first(seed, 2 * number) == is_first(seed, 2 * number + 1))
        };
        (0..1000).filter(pair).count()
    };
    for len in [2, 3, 4, 5, 8, 9, 64] {
        assert_eq!(agree(0..1, len), 1000, "seed 0 reverses every choice");
        for seed in 1..9 {
            let count = agree(seed..seed + 1, len);
            assert!((400..600).contains(&count), "{count} of {len} at {seed}");
        }
        assert!(agree(0..10, len) <= 20, "{len}: {}", agree(0..10, len));
    }
}

#[test]
fn other_seeds_are_random_and_so_are_all_of_the_random_schedule() {
    for len in LENS.into_iter().chain([5000]) {
        for seed in [0, 1, 9, Schedule::Covering.designed(len), u64::MAX] {
            let key = key(seed);
            let random: Vec<usize> = if len <= SHORT {
                Permutation::of_word(word(seed, key.tag, key.a, key.b), len).collect()
            } else {
                Permutation::new(Xoshiro256::keyed(seed, key.tag, key.a, key.b), len).collect()
            };
            assert!(Schedule::Random.order(seed, key, len).eq(random.iter().copied()));
            if seed >= Schedule::Covering.designed(len) {
                assert_eq!(order(seed, key, len), random);
            }
        }
    }
}

#[test]
fn an_order_that_is_kept_is_the_one_that_is_drawn_again() {
    let mut orders = Orders::new();
    let mut met = BTreeSet::new();
    let mut kept = 0;
    for step in 0..20_000_u64 {
        // Few enough that many repeat, also after another order replaced them in the cache.
        let word = mix(step);
        let schedule = Schedule::DRAWN[word as usize % Schedule::DRAWN.len()];
        let len = [2, 3, 8, 10, 15, 16, 17, 100, 256, 300][(word >> 8) as usize % 10];
        let seed = (word >> 16) % 4;
        let key = Key { tag: 1 + (word >> 20) % 2, a: (word >> 24) % 3, b: (word >> 28) % 3 };
        let is_new = met.insert((schedule.name(), len, seed, key.tag, key.a, key.b));
        kept += usize::from(!is_new);
        let drawn = schedule.order(seed, key, len);
        assert!(schedule.order_again(seed, key, len, &mut orders).eq(drawn));
    }
    assert!(kept > 10_000, "{kept}");
}

#[test]
fn the_first_eight_orders_of_short_squares_have_most_threes() {
    for len in [10, 12, 14, 16] {
        for number in 0..20 {
            let mut threes = BTreeSet::new();
            for seed in 1..=8 {
                let order = order(seed, key(number), len);
                for third in 0..len {
                    for second in 0..third {
                        let firsts = order[..second].iter();
                        threes.extend(firsts.map(|&one| (one, order[second], order[third])));
                    }
                }
            }
            let share = threes.len() as f64 / (len * (len - 1) * (len - 2)) as f64;
            assert!(share >= 0.86, "{share} of {len}");
        }
    }
}

#[test]
fn a_schedule_parses_from_its_own_name_and_an_unknown_one_says_what_was_expected() {
    for schedule in Schedule::ALL {
        assert_eq!(schedule.name().parse(), Ok(schedule));
        assert_eq!(serde_json::to_string(&schedule).unwrap(), format!("\"{schedule}\""));
    }
    let message = "cover".parse::<Schedule>().unwrap_err().to_string();
    assert_eq!(message, "unknown schedule `cover`, expected one of covering, random, systematic");
}
