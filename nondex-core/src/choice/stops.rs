//! The encoding of injected delays as a systematic seed.
//!
//! A [systematic](crate::Schedule::Systematic) seed is a list of *stops*: the decisions at which a
//! thread is delayed. A stop has the index of the thread, in the order in which threads were
//! started, and the number of the thread's earlier decisions. The lowest seven bits of a seed tell
//! how many bits each of the two takes. A few stops in short programs thus make a number below
//! 2^53, which every reader of JSON preserves.

/// A decision at which a thread is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stop {
    /// Index of the thread in the test, in the order in which the threads were started, from 0.
    pub thread: u32,
    /// Index among the decisions of the thread, from 0.
    pub number: u32,
}

/// Number of header bits for the width of a decision's number, and of all header bits, which also
/// hold the width of a thread's index.
const NUMBER_BITS: u32 = 4;
const HEADER_BITS: u32 = 7;

/// Exclusive upper bound of all seeds.
const END: u64 = 1 << 53;

/// Returns the seed with these stops, in this order; 0 without any. Returns `None` if there are too
/// many stops, or too large ones.
pub fn seed(stops: &[Stop]) -> Option<u64> {
    if stops.is_empty() {
        return Some(0);
    }
    let bits =
        |largest: Option<u32>| largest.map_or(0, |largest| u32::BITS - largest.leading_zeros());
    let of_thread = bits(stops.iter().map(|stop| stop.thread).max());
    let of_number = bits(stops.iter().map(|stop| stop.number).max()).max(1);
    if of_number >= 1 << NUMBER_BITS || of_thread >= 1 << (HEADER_BITS - NUMBER_BITS) {
        return None;
    }
    // The leading one marks the end of the list for `of_seed`.
    let mut seed = 1;
    for stop in stops {
        let stop = u64::from(stop.thread) << of_number | u64::from(stop.number);
        seed = seed << (of_thread + of_number) | stop;
        if seed >= END >> HEADER_BITS {
            return None;
        }
    }
    Some(seed << HEADER_BITS | u64::from(of_thread << NUMBER_BITS | of_number))
}

/// Returns the stops of a seed, last one first. Does not allocate.
pub fn of_seed(seed: u64) -> impl Iterator<Item = Stop> {
    let header = (seed & ((1 << HEADER_BITS) - 1)) as u32;
    let of_number = header & ((1 << NUMBER_BITS) - 1);
    let width = of_number + (header >> NUMBER_BITS);
    let mut left = seed >> HEADER_BITS;
    std::iter::from_fn(move || {
        if width == 0 || left >> width == 0 {
            return None;
        }
        let stop = left & ((1 << width) - 1);
        left >>= width;
        Some(Stop {
            thread: (stop >> of_number) as u32,
            number: (stop & ((1 << of_number) - 1)) as u32,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    fn stops(list: &[(u32, u32)]) -> Vec<Stop> {
        let stop = |&(thread, number)| Stop { thread, number };
        list.iter().map(stop).collect()
    }

    #[test]
    fn the_stops_of_a_seed_are_those_that_it_was_made_of() {
        let few = [
            vec![],
            vec![(0, 0)],
            vec![(0, 0), (0, 1), (0, 2)],
            vec![(2, 31), (1, 0), (0, 17), (2, 3), (1, 30)],
            vec![(127, 32_767)],
            vec![(1, 900), (2, 1), (0, 1000)],
        ];
        let random = (0..1000_u64).map(|case| {
            let stop = |at| (mix(case << 8 | at) % 4) as u32;
            let count = mix(case) % 7;
            (0..count).map(|at| (stop(at), stop(at + 64) * 5)).collect()
        });
        for list in few.into_iter().chain(random) {
            let list = stops(&list);
            let seed = seed(&list).unwrap_or_else(|| panic!("no seed for {list:?}"));
            assert!(seed < END);
            let mut found: Vec<Stop> = of_seed(seed).collect();
            found.reverse();
            assert_eq!(found, list, "{seed}");
        }
    }

    #[test]
    fn different_lists_have_different_seeds() {
        let mut seeds = std::collections::HashSet::new();
        let all: Vec<(u32, u32)> = (0..3).flat_map(|t| (0..9).map(move |n| (t, n))).collect();
        for &a in &all {
            assert!(seeds.insert(seed(&stops(&[a])).unwrap()));
            for &b in &all {
                assert!(seeds.insert(seed(&stops(&[a, b])).unwrap()));
            }
        }
    }

    #[test]
    fn what_is_too_long_for_a_seed_has_none_and_any_number_is_a_seed() {
        assert_eq!(seed(&stops(&[(0, 40_000)])), None);
        assert_eq!(seed(&stops(&[(128, 0)])), None);
        assert_eq!(seed(&stops(&[(3, 60); 6])), None);
        assert_eq!(of_seed(0).count(), 0);
        for case in 0..10_000 {
            assert!(of_seed(mix(case)).count() <= 64);
            assert!(of_seed(case).count() <= 64);
        }
    }
}
