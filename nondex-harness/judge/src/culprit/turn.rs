//! From a call that is responsible to what of it decides.
//!
//! What the seed drew is reached from the base step by step: an order by exchanging neighbours, one
//! pair at a time (see [`nondex_core::choice::between`]), a number one by one. At the base the
//! outcome is as in the clean runs, at the other end it is not: a binary search finds a step at
//! which it changes. Of an order, the two elements exchanged there decide, in the order that the
//! others have then; of a number, this one and any further from the base, if it is as most are. Of
//! a delay one hundredth is as good as nothing: the shortest one is found but for that. Where the
//! test waits for a program as well, which takes another time in each run, the same delay suffices
//! in one run only: then a longer one is taken, and a shorter one that does not suffice.

use nondex_core::choice::hold::SHORTEST;
use nondex_core::{Given, GivenChoice, RunSpec, Scope};

use super::call::{Call, Decisive, Turn};
use super::{CONFIRMATIONS, CONFIRMATIONS_OF_TURN, CulpritSearch, Missing, step};
use crate::run::Run;
use crate::timing::is_timing;

/// To which part of itself the shortest delay is known.
const PRECISION: u64 = 100;

/// A delay is searched again if it may be shorter by this part of itself.
const WORTHWHILE: u64 = 10;

/// By which percentages of itself a delay is taken longer, and one that does not suffice shorter,
/// until the outcome is the same in every run.
const MARGINS: [u64; 4] = [0, 10, 50, 100];

impl CulpritSearch<'_> {
    /// Where the outcome turns in one of the calls, the others being made as drawn. `None` when
    /// there is no such step, or it does not make the difference every time.
    pub(super) fn turn(&mut self, calls: &[Call], index: usize) -> Result<Option<Turn>, Missing> {
        let call = &calls[index];
        let whole = self.with_choice(calls, index, GivenChoice::Steps(u64::MAX));
        if self.left == 0 || !self.changes(&whole)? {
            return Ok(None);
        }
        let Some(all) = step(&self.run(&whole)?.steps, call).map(|step| step.steps) else {
            return Ok(None);
        };
        // At its base the call is as if it were left out, which the set of calls does not allow.
        let mut without = 0;
        let mut with = all;
        let near = |with: u64, without: u64| {
            if is_timing(&call.site) {
                with - without <= (with / PRECISION).max(SHORTEST)
            } else {
                with - without <= 1
            }
        };
        while !near(with, without) {
            let middle = without + (with - without) / 2;
            if self.left == 0 {
                return Ok(None);
            }
            if self.changes(&self.with_choice(calls, index, GivenChoice::Steps(middle)))? {
                with = middle;
            } else {
                without = middle;
            }
        }
        without = without.min(with.saturating_sub(1));
        let Some((with, after)) = self.certain(calls, index, [without, with, all])? else {
            return Ok(None);
        };
        let Some(step) = step(&self.run(&after)?.steps, call) else { return Ok(None) };
        let decisive = match (step.number, &step.exchanged[..]) {
            (Some(number), _) => Decisive::Number(number),
            (None, [first, second]) => {
                let ranks = [second.rank, first.rank];
                let position = self.position(calls, index, step, ranks)?;
                Decisive::Elements { ranks, position }
            }
            (None, _) => return Ok(None),
        };
        Ok(Some(Turn { steps: with, decisive }))
    }

    /// The least number of steps that changes the outcome every time while the greatest that does
    /// not never does, with its spec; `steps` has both as found in one run each, and the number of
    /// all.
    fn certain(
        &self,
        calls: &[Call],
        index: usize,
        steps: [u64; 3],
    ) -> Result<Option<(u64, RunSpec)>, Missing> {
        let [without, with, all] = steps;
        let is_delay = is_timing(&calls[index].site);
        let margins = if is_delay { &MARGINS[..] } else { &MARGINS[..1] };
        for margin in margins {
            let part = |of: u64| of.saturating_mul(*margin) / 100;
            let with = all.min(with.saturating_add(part(with)));
            let spec = |steps| self.with_choice(calls, index, GivenChoice::Steps(steps));
            let after = spec(with);
            let expected = [(after.clone(), true), (spec(without - part(without)), false)];
            if self.confirm(&expected, CONFIRMATIONS_OF_TURN)? {
                return Ok(Some((with, after)));
            }
            // A run that was cut is no proof that a shorter delay suffices, or does not.
            let mut runs = expected.iter().flat_map(|(spec, _)| self.evidence.of(spec));
            if runs.any(Run::has_no_outcome) {
                break;
            }
        }
        Ok(None)
    }

    /// Searches those delays again that were as short as they may be while others were as long as
    /// drawn: of two threads that are delayed against each other, only the difference is needed.
    pub(super) fn shorten(&mut self, calls: &mut [Call]) -> Result<(), Missing> {
        let mut index = 0;
        while calls.len() > 1 && index < calls.len() && self.left > 0 {
            let is_delay = is_timing(&calls[index].site);
            let known = calls[index].turn.as_ref().filter(|_| is_delay);
            let steps = known.map_or(0, |turn| turn.steps);
            let shorter = GivenChoice::Steps(steps - steps / WORTHWHILE);
            if steps > SHORTEST
                && self.changes(&self.with_choice(calls, index, shorter))?
                && let Some(turn) = self.turn(calls, index)?
                && turn.steps < steps
            {
                calls[index].turn = Some(turn);
                index = 0;
            } else {
                index += 1;
            }
        }
        // What was found stands, whether the budget sufficed for shorter delays or not.
        self.left = self.left.max(1);
        Ok(())
    }

    /// Only these calls, one of them with this choice, and the other delays whose turn is known as
    /// short as they may be: so that in the end all of them are, together.
    pub(super) fn with_choice(&self, calls: &[Call], index: usize, choice: GivenChoice) -> RunSpec {
        let scopes: Vec<Scope> = calls.iter().map(Call::scope).collect();
        let others = calls[..index].iter().chain(&calls[index + 1..]);
        let shortened = others.filter(|call| is_timing(&call.site));
        let mut given: Vec<Given> = shortened.filter_map(Call::given).collect();
        given.push(calls[index].with(choice));
        self.given(scopes, given)
    }
}

impl CulpritSearch<'_> {
    /// Whether the outcome changes every time that one of the calls is given its base, the others
    /// being made as drawn: without that call it does not.
    pub(super) fn is_artefact(&mut self, calls: &[Call], index: usize) -> Result<bool, Missing> {
        if self.left == 0 {
            return Ok(false);
        }
        let spec = self.with_choice(calls, index, GivenChoice::Steps(0));
        if !self.changes(&spec)? || step(&self.run(&spec)?.steps, &calls[index]).is_none() {
            return Ok(false);
        }
        self.confirm(&[(spec, true)], CONFIRMATIONS)
    }
}
