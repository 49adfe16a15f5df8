//! Compares the collections of a runtime that was just built (`mirror`) with those of this
//! toolchain's std: with a fixed hasher, the same history must lead to the same order and capacity.
//! Ends with code 1 and prints where they differ, or with 0.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::process::ExitCode;

/// How many histories are compared for each size of elements. Enough to reach growth, deleted
/// buckets and rehashing in place several times; a fifth of a second without optimisation.
const HISTORIES: u64 = 120;
const STEPS: usize = 150;

/// A small generator for histories (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// FNV-1a, as many hashers of published crates.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// One history: the first difference, in words.
fn difference<K, V, H>(seed: u64, key: fn(usize) -> K) -> Option<String>
where
    K: Copy + Debug + Eq + Hash,
    V: Default,
    H: Default + Hasher,
{
    let mut random = Random(seed);
    let span = [4, 20, 200, 2000][random.below(4)];
    let room = [0, 0, 1, 3, 7, 14, 28, 100][random.below(8)];
    let hasher = BuildHasherDefault::<H>::default;
    let mut theirs = std::collections::HashMap::<K, V, _>::with_capacity_and_hasher(room, hasher());
    let mut ours = mirror::collections::HashMap::<K, V, _>::with_capacity_and_hasher(room,
        hasher());
    // Growing and shrinking alternate, so that tables fill with deleted buckets.
    let mut growing = true;
    for step in 0..STEPS {
        if random.below(40) == 0 {
            growing = !growing;
        }
        let chosen = key(random.below(span));
        let room = random.below(40);
        match random.below(100) {
            0..70 if growing => {
                theirs.insert(chosen, V::default());
                ours.insert(chosen, V::default());
            }
            0..70 => {
                theirs.remove(&chosen);
                ours.remove(&chosen);
            }
            70..80 => {
                theirs.entry(chosen).or_default();
                ours.entry(chosen).or_default();
            }
            80..84 => {
                theirs.reserve(room);
                ours.reserve(room);
            }
            84..88 => {
                theirs.shrink_to(room);
                ours.shrink_to(room);
            }
            88 => {
                theirs.clear();
                ours.clear();
            }
            89..92 => {
                let (mut a, mut b) = (0, 0);
                theirs.retain(|_, _| count(&mut a) % 4 > 0);
                ours.retain(|_, _| count(&mut b) % 4 > 0);
            }
            _ => {
                let more: Vec<K> = (0..room / 3).map(|_| key(random.below(span))).collect();
                theirs.extend(more.iter().map(|&key| (key, V::default())));
                ours.extend(more.iter().map(|&key| (key, V::default())));
            }
        }
        if theirs.capacity() != ours.capacity() {
            let (theirs, ours) = (theirs.capacity(), ours.capacity());
            return Some(format!("capacity {ours} where std has {theirs} (history {seed}, step \
                {step})"));
        }
        if !theirs.keys().eq(ours.keys()) {
            return Some(format!("another order than std's (history {seed}, step {step})"));
        }
    }
    None
}

fn count(n: &mut usize) -> usize {
    *n += 1;
    *n
}

fn main() -> ExitCode {
    for seed in 0..HISTORIES {
        // Small tables differ by the size of an element.
        let found = difference::<u8, (), Fnv>(seed, |n| n as u8)
            .or_else(|| difference::<u16, (), DefaultHasher>(seed, |n| n as u16))
            .or_else(|| difference::<u64, u64, DefaultHasher>(seed, |n| n as u64))
            .or_else(|| difference::<[u16; 9], [u64; 4], Fnv>(seed, |n| [n as u16; 9]));
        if let Some(found) = found {
            println!("{found}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
