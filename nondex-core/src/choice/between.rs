//! Orders between the canonical order and the one that was drawn.
//!
//! The drawn order is reached from the canonical order by exchanging neighbours, one pair at a
//! time. First the element that comes first is moved to the front, next the second one to its
//! place, and so on. Each step reverses the relative order of exactly two elements. So if a test
//! passes after `n` steps and fails after `n + 1`, these two elements make the difference. A binary
//! search over the steps finds them in about 2·log2(elements) runs.

use crate::hidden::{self, Vec};

/// An order between two others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// The elements, identified by their positions in canonical order.
    pub ranks: Vec<usize>,
    /// Total number of steps: the number of pairs that the two orders have in opposite order.
    pub steps: u64,
    /// The last step; `None` for the canonical order.
    pub last: Option<Step>,
}

/// An exchange of two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Element that comes first after the step, as its position in canonical order.
    pub first: usize,
    /// Element that comes next, as its position in canonical order.
    pub second: usize,
    /// Position of the first element after the step.
    pub position: usize,
}

/// Returns the order after `steps` steps from the canonical order to `drawn`, or after all steps if
/// there are fewer. `drawn` lists every position in canonical order once. Costs O(n·log n).
pub fn between(drawn: &[usize], steps: u64) -> Between {
    let len = drawn.len();
    let mut unplaced = Unplaced::new(len);
    let mut all = 0;
    let mut moving = None;
    for (position, &rank) in drawn.iter().enumerate() {
        let before = unplaced.before(rank);
        // Moving this element to its place takes `before` steps, and the last step is one of these.
        if (all + 1..=all + before as u64).contains(&steps) {
            moving = Some((position, before, (steps - all) as usize));
        }
        all += before as u64;
        unplaced.remove(rank);
    }
    let Some((position, before, moved)) = moving else {
        return if steps.min(all) == 0 {
            Between { ranks: hidden::collect(0..len), steps: all, last: None }
        } else {
            between(drawn, all)
        };
    };
    let mut is_placed = hidden::collect(std::iter::repeat_n(false, len));
    for &rank in &drawn[..=position] {
        is_placed[rank] = true;
    }
    let mut ranks = hidden::copy(&drawn[..position]);
    ranks.extend((0..len).filter(|&rank| !is_placed[rank]));
    let at = position + before - moved;
    let first = drawn[position];
    ranks.insert(at, first);
    Between { last: Some(Step { first, second: ranks[at + 1], position: at }), ranks, steps: all }
}

/// The elements without a place until now, counted by a binary indexed tree (Fenwick 1994).
struct Unplaced(Vec<usize>);

impl Unplaced {
    fn new(len: usize) -> Self {
        Unplaced(hidden::collect((0..=len).map(|node| node & node.wrapping_neg())))
    }

    /// Returns the number of unplaced elements before `rank` in canonical order.
    fn before(&self, rank: usize) -> usize {
        let mut node = rank;
        let mut count = 0;
        while node > 0 {
            count += self.0[node];
            node &= node - 1;
        }
        count
    }

    fn remove(&mut self, rank: usize) {
        let mut node = rank + 1;
        while node < self.0.len() {
            self.0[node] -= 1;
            node += node & node.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::super::generator::Xoshiro256;

    use super::super::permutation::Permutation;
    use super::*;

    fn inversions(order: &[usize]) -> u64 {
        let pairs = |(at, &a): (usize, &usize)| order[at..].iter().filter(|&&b| b < a).count();
        order.iter().enumerate().map(pairs).sum::<usize>() as u64
    }

    #[test]
    fn every_step_exchanges_two_neighbours_and_the_last_one_reaches_the_drawn_order() {
        for len in 0..12 {
            for seed in 0..20 {
                let rng = Xoshiro256::seeded(seed);
                let drawn: Vec<usize> = Permutation::new(rng, len).collect();
                let mut order: Vec<usize> = (0..len).collect();
                let all = inversions(&drawn);
                for steps in 0..=all {
                    let found = between(&drawn, steps);
                    assert_eq!(found.steps, all);
                    if let Some(step) = found.last {
                        assert_eq!(order[step.position..][..2], [step.second, step.first]);
                        order.swap(step.position, step.position + 1);
                    } else {
                        assert_eq!(steps, 0);
                    }
                    assert_eq!(*found.ranks, *order, "{drawn:?} after {steps} steps");
                }
                assert_eq!(order, drawn);
                assert_eq!(between(&drawn, u64::MAX), between(&drawn, all));
            }
        }
    }
}
