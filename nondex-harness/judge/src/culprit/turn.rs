//! Searches within a responsible call for what decides.
//!
//! The base and the drawn choice are connected by steps. An order changes by exchanging one pair of
//! neighbours at a time (see [`nondex_core::choice::between`]), a number by one at a time. At the
//! base, the outcome is that of the clean runs; at the other end it is not. A binary search finds a
//! step at which it changes. In an order, the two elements that this step exchanges decide, given
//! the order of the others. For a number, this number and any that is further from the base decide,
//! if the effect is monotonic.
//!
//! For a delay, a precision of one percent suffices. If the test also waits for a program whose
//! duration varies, the same delay does not suffice in every run. Then a longer delay is reported,
//! and a shorter one is confirmed not to suffice.

use nondex_core::choice::hold::SHORTEST;
use nondex_core::{Given, GivenChoice, RunSpec, Scope};

use super::call::{Call, Decisive, TurningPoint};
use super::{CONFIRMATIONS, CONFIRMATIONS_OF_TURN, CulpritSearch, Missing, step};
use crate::run::Run;
use crate::timing::is_timing;

/// Inverse of the precision to which the shortest delay is found.
const PRECISION: u64 = 100;

/// Inverse of the part by which a delay must be shorter to be searched again.
const WORTHWHILE: u64 = 10;

/// Margins in percent, tried in turn until the outcome is the same in every run. The sufficient
/// delay grows by the margin, and the insufficient one shrinks by it.
const MARGINS: [u64; 4] = [0, 10, 50, 100];

impl CulpritSearch<'_> {
    /// Returns the turn of one of the calls, while the others are made as drawn. Returns `None` if
    /// there is no such step or if it does not decide every time.
    pub(super) fn turn(
        &mut self,
        calls: &[Call],
        index: usize,
    ) -> Result<Option<TurningPoint>, Missing> {
        let call = &calls[index];
        let whole = self.with_choice(calls, index, GivenChoice::Steps(u64::MAX));
        if self.left == 0 || !self.changes(&whole)? {
            return Ok(None);
        }
        let Some(all) = step(&self.run(&whole)?.steps, call).map(|step| step.steps) else {
            return Ok(None);
        };
        // At its base a call has no effect, as if it were left out. No call of the smallest set can
        // be left out.
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
        Ok(Some(TurningPoint { steps: with, decisive }))
    }

    /// Returns the smallest number of steps that changes the outcome every time, with its spec.
    /// `steps` has the largest number that did not change it in one run, the smallest that did, and
    /// the total.
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
            // A run without an outcome proves nothing about a delay.
            let mut runs = expected.iter().flat_map(|(spec, _)| self.evidence.of(spec));
            if runs.any(Run::has_no_outcome) {
                break;
            }
        }
        Ok(None)
    }

    /// Searches again for delays that were shortest while other delays were as long as drawn. If
    /// two threads are delayed against each other, only the difference is needed.
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
        // The turns that were found remain valid even if the budget did not suffice to shorten
        // them.
        self.left = self.left.max(1);
        Ok(())
    }

    /// Returns the spec that makes only these calls, the one at `index` with this choice. Other
    /// delays with a known turn are given their shortest length, so that the shortest delays
    /// suffice together.
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
    /// Returns whether the outcome changes every time that one of the calls is given its base while
    /// the others are made as drawn. Without the call it does not change.
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
