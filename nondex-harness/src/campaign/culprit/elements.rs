//! From a call that is responsible to the two elements whose exchange makes the difference.
//!
//! The order that the seed drew is reached from the base order by exchanging neighbours, one pair at a time (see
//! [`nondex_core::between`]). In base order the outcome is as in the clean runs, in the drawn order it is not: a binary search
//! finds a step at which it changes. The two elements exchanged there decide, in the order that the others have then; whether it is
//! their relative order or only which element comes at a position is tried with orders of their own.

use nondex_core::{GivenOrder, Scope};

use super::calls::Call;
use super::{CONFIRMATIONS, CONFIRMATIONS_OF_EXCHANGE, Missing, Search, step};
use crate::report::schema::Position;

/// Of longer sequences it is not tried whether a position decides: a spec could not list their order.
const MAX_LISTED: usize = 10_000;

/// What decides within one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// After so many steps the outcome changes, and not one step earlier.
    pub steps: u64,
    /// The two elements exchanged by that step, as positions in base order: the one that came first, and still does in base
    /// order, before the other.
    pub ranks: [u64; 2],
    /// The position that decides, if it is not the order of the two.
    pub position: Option<Position>,
}

impl Search<'_> {
    /// The exchange that makes the difference in one of the calls, the others being made as drawn. `None` when there is no such
    /// step, or it does not make the difference every time.
    pub(super) fn exchange(
        &mut self,
        calls: &[Call],
        index: usize,
    ) -> Result<Option<Exchange>, Missing> {
        let call = &calls[index];
        let scopes: Vec<Scope> = calls.iter().map(Call::scope).collect();
        let spec =
            |search: &Self, order| search.given(scopes.clone(), vec![call.with_order(order)]);
        let whole = spec(self, GivenOrder::Steps(u64::MAX));
        if self.left == 0 || !self.changes(&whole)? {
            return Ok(None);
        }
        let Some(all) = step(&self.run(&whole)?.steps, call).map(|step| step.steps) else {
            return Ok(None);
        };
        // In base order the call is as if it were left out, which the set of calls does not allow.
        let mut without = 0;
        let mut with = all;
        while with - without > 1 {
            let middle = without + (with - without) / 2;
            if self.left == 0 {
                return Ok(None);
            }
            if self.changes(&spec(self, GivenOrder::Steps(middle)))? {
                with = middle;
            } else {
                without = middle;
            }
        }
        let after = spec(self, GivenOrder::Steps(with));
        let before = spec(self, GivenOrder::Steps(with.saturating_sub(1)));
        let expected = [(after.clone(), true), (before, false)];
        if !self.confirm(&expected, CONFIRMATIONS_OF_EXCHANGE)? {
            return Ok(None);
        }
        let Some(step) = step(&self.run(&after)?.steps, call) else {
            return Ok(None);
        };
        let [first, second] = &step.exchanged[..] else {
            return Ok(None);
        };
        let ranks = [second.rank, first.rank];
        let (len, place) = (step.len, step.position);
        let given = |order| spec(self, GivenOrder::Ranks(order));
        let trials = trials(len, place, ranks);
        let trials: Vec<_> = trials
            .into_iter()
            .map(|trial| (trial.position, given(trial.kept), given(trial.moved)))
            .collect();
        let mut position = None;
        for (tried, kept, moved) in trials {
            if !self.changes(&kept)? && self.changes(&moved)? {
                position = Some(tried);
                break;
            }
        }
        Ok(Some(Exchange {
            steps: with,
            ranks,
            position,
        }))
    }
}

impl Search<'_> {
    /// Whether the outcome changes every time that one of the calls is given its base order, the others being made as drawn:
    /// without that call it does not.
    pub(super) fn is_artefact(&mut self, calls: &[Call], index: usize) -> Result<bool, Missing> {
        if self.left == 0 {
            return Ok(false);
        }
        let scopes = calls.iter().map(Call::scope).collect();
        let base = calls[index].with_order(GivenOrder::Steps(0));
        let spec = self.given(scopes, vec![base]);
        if !self.changes(&spec)? || step(&self.run(&spec)?.steps, &calls[index]).is_none() {
            return Ok(false);
        }
        self.confirm(&[(spec, true)], CONFIRMATIONS)
    }
}

/// Two orders that tell whether a position decides.
#[derive(Debug, PartialEq, Eq)]
struct Trial {
    position: Position,
    /// The position has the element it has in base order, all others are reversed: nothing changes if the position decides.
    kept: Vec<u32>,
    /// The position has another element, and the two that were exchanged are in base order: only a position can tell.
    moved: Vec<u32>,
}

/// What is to be tried when the elements with these ranks were exchanged at `place` and the position after it.
fn trials(len: u64, place: u64, ranks: [u64; 2]) -> Vec<Trial> {
    let Ok(len) = usize::try_from(len) else {
        return Vec::new();
    };
    // Of two elements, the first and the last position and the order of the pair are the same.
    if !(3..=MAX_LISTED).contains(&len) {
        return Vec::new();
    }
    let trial = |at: u64| {
        let at = usize::try_from(at).ok().filter(|&at| at < len)?;
        let base = 0..len as u32;
        let mut kept: Vec<u32> = base
            .clone()
            .rev()
            .filter(|&rank| rank as usize != at)
            .collect();
        kept.insert(at, at as u32);
        let mut others = base.clone().rev().filter(|&rank| {
            rank as usize != at && ranks.iter().all(|&other| other != u64::from(rank))
        });
        // From as far away as possible: the neighbours may be as good.
        let other = if at * 2 < len {
            others.next()
        } else {
            others.next_back()
        }?;
        let mut moved: Vec<u32> = base.filter(|&rank| rank != other).collect();
        moved.insert(at, other);
        Some(Trial {
            position: match at {
                0 => Position::First,
                _ if at + 1 == len => Position::Last,
                _ => Position::Nth(at as u64),
            },
            kept,
            moved,
        })
    };
    [place, place + 1].into_iter().filter_map(trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_keeps_one_position_or_moves_another_element_there() {
        let found = trials(4, 0, [0, 2]);
        assert_eq!(
            found[0],
            Trial {
                position: Position::First,
                kept: vec![0, 3, 2, 1],
                moved: vec![3, 0, 1, 2],
            }
        );
        assert_eq!(
            found[1],
            Trial {
                position: Position::Nth(1),
                kept: vec![3, 1, 2, 0],
                moved: vec![0, 3, 1, 2],
            }
        );
        assert_eq!(trials(4, 2, [0, 3])[1].moved, [0, 2, 3, 1]);
        assert!(trials(2, 0, [0, 1]).is_empty());
    }
}
