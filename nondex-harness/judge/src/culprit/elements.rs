//! Distinguishes, with constructed orders, whether the relative order of two elements decides or
//! which element is at a position.

use nondex_core::{GivenChoice, StepRecord};

use super::call::Call;
use super::position::Position;
use super::{CulpritSearch, Missing};

/// Maximum length of a sequence for which this is tried: a spec could not list longer orders.
const MAX_LISTED: usize = 10_000;

impl CulpritSearch<'_> {
    /// Returns the position that decides in the call at `index`, whose last step exchanged the
    /// elements with these ranks.
    pub(super) fn position(
        &mut self,
        calls: &[Call],
        index: usize,
        step: &StepRecord,
        ranks: [u64; 2],
    ) -> Result<Option<Position>, Missing> {
        for attempt in attempts(step.len, step.position, ranks) {
            let kept = self.with_choice(calls, index, GivenChoice::Ranks(attempt.kept));
            let moved = self.with_choice(calls, index, GivenChoice::Ranks(attempt.moved));
            if !self.changes(&kept)? && self.changes(&moved)? {
                return Ok(Some(attempt.position));
            }
        }
        Ok(None)
    }
}

/// Two orders that show together whether a position decides.
#[derive(Debug, PartialEq, Eq)]
struct Attempt {
    position: Position,
    /// Order with the canonical element at the position and all others reversed. If the position
    /// decides, the outcome does not change.
    kept: Vec<u32>,
    /// Order with another element at the position, and the two exchanged elements in canonical
    /// order. The outcome only changes if a position decides.
    moved: Vec<u32>,
}

/// Returns the orders to try if the step exchanged the elements with these ranks, at `place` and at
/// the position after it.
fn attempts(len: u64, place: u64, ranks: [u64; 2]) -> Vec<Attempt> {
    let Ok(len) = usize::try_from(len) else { return Vec::new() };
    // With two elements, first position, last position and relative order are the same.
    if !(3..=MAX_LISTED).contains(&len) {
        return Vec::new();
    }
    let attempt = |at: u64| {
        let at = usize::try_from(at).ok().filter(|&at| at < len)?;
        let base = 0..len as u32;
        let mut kept: Vec<u32> = base.clone().rev().filter(|&rank| rank as usize != at).collect();
        kept.insert(at, at as u32);
        let mut others = base.clone().rev().filter(|&rank| {
            rank as usize != at && ranks.iter().all(|&other| other != u64::from(rank))
        });
        // The element comes from as far away as possible: a neighbour may do as well as the
        // canonical one.
        let other = if at * 2 < len { others.next() } else { others.next_back() }?;
        let mut moved: Vec<u32> = base.filter(|&rank| rank != other).collect();
        moved.insert(at, other);
        Some(Attempt {
            position: match at {
                0 => Position::First,
                _ if at + 1 == len => Position::Last,
                _ => Position::Nth(at as u64),
            },
            kept,
            moved,
        })
    };
    [place, place + 1].into_iter().filter_map(attempt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_keeps_one_position_or_moves_another_element_there() {
        let found = attempts(4, 0, [0, 2]);
        assert_eq!(
            found[0],
            Attempt { position: Position::First, kept: vec![0, 3, 2, 1], moved: vec![3, 0, 1, 2] }
        );
        assert_eq!(
            found[1],
            Attempt { position: Position::Nth(1), kept: vec![3, 1, 2, 0], moved: vec![0, 3, 1, 2] }
        );
        assert_eq!(attempts(4, 2, [0, 3])[1].moved, [0, 2, 3, 1]);
        assert!(attempts(2, 0, [0, 1]).is_empty());
    }
}
