//! Tests of orders by content.

use ::std::collections::BTreeSet;
use ::std::vec::Vec;

use super::*;

fn read(contents: &Contents, key: u64) -> Vec<u64> {
    let slots = contents.visit(7, key);
    slots.map(|slot| contents.get(slot as usize)).collect()
}

fn of(hashes: impl IntoIterator<Item = u64>) -> Contents {
    Contents::of(hashes.into_iter())
}

#[test]
fn the_order_depends_on_the_hashes_and_not_on_the_history() {
    let mut contents = of(0..5_000);
    for step in 0..4_500u64 {
        let slot = hash::mix(step) as usize % contents.hashes.len();
        if step % 2 == 0 {
            contents.visit(7, step).next();
        }
        contents.swap_remove(slot);
        if step % 3 == 0 {
            contents.push(10_000 + step);
        }
    }
    let mut hashes: Vec<u64> = contents.hashes.iter().copied().collect();
    for key in [0, 1, u64::MAX, hash::mix(3)] {
        let expected = read(&contents, key);
        hashes.sort_unstable_by_key(|&content| hash::mix(content ^ key));
        let other = of(hashes.iter().copied());
        assert_eq!(other.sum(), contents.sum());
        assert_eq!(read(&other, key), expected);
        hashes.sort_unstable_by_key(|&content| hash::mix(content ^ 7) ^ key);
        assert_eq!(expected, hashes);
    }
}

#[test]
fn every_pair_is_in_either_order_and_every_slot_comes_first() {
    let contents = of((0..300).map(hash::mix));
    let mut first = BTreeSet::new();
    let mut forth = 0;
    for read in 0..10_000u64 {
        let order: Vec<u32> = contents.visit(7, hash::mix(read)).collect();
        first.insert(order[0]);
        let at = |slot| order.iter().position(|&other| other == slot);
        forth += u32::from(at(3) < at(4));
    }
    assert_eq!(first.len(), 300);
    assert!((4_700..5_300).contains(&forth), "{forth} of 10,000");
}

#[test]
fn equal_hashes_are_all_there() {
    let mut contents = of([5; 20]);
    assert_eq!(read(&contents, 3), [5; 20]);
    contents.swap_remove(3);
    contents.swap_remove(18);
    assert_eq!(read(&contents, 3), [5; 18]);
}
