//! Looks up the runs that answer a question: those of its spec, or of a spec with the same choices.

use nondex_core::{Outcome, RunSpec};

use super::{Evidence, key};
use crate::equivalence::{are_scheduled_alike, decide_alike};
use crate::missing::{Missing, gather};
use crate::run::Run;

/// Answer to one question.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Spec that was run: the requested one, or one that makes the same choices.
    pub spec: &'a RunSpec,
    /// First run of `spec`.
    pub run: &'a Run,
    /// Whether `spec` differs from the requested spec.
    pub implied: bool,
}

impl Evidence {
    /// Returns the first result of each spec.
    ///
    /// # Errors
    /// Returns the runs to make first. Of several specs that probably make the same choices, only
    /// one is requested: its run may answer for the others.
    pub fn answers(&self, specs: &[RunSpec]) -> Result<Vec<Answer<'_>>, Missing> {
        let found: Vec<_> = specs.iter().map(|spec| self.answer(spec)).collect();
        let mut missing: Vec<RunSpec> = Vec::new();
        // This is only a guess at what the runs will reach. Whether a run represents another spec
        // is decided later, by what it did reach.
        let expected = self.all().next().map(|(_, run)| run);
        for (spec, _) in specs.iter().zip(&found).filter(|(_, answer)| answer.is_none()) {
            let is_covered = missing.contains(spec)
                || self.prunes()
                    && expected.is_some_and(|run| {
                        missing.iter().any(|other| decide_alike(other, spec, run))
                    });
            if !is_covered {
                missing.push(spec.clone());
            }
        }
        if missing.is_empty() {
            Ok(found.into_iter().flatten().collect())
        } else {
            Err(Missing::new(missing))
        }
    }

    /// Returns whether there is a result of `spec`, or of a spec that makes the same choices.
    pub fn has_answer(&self, spec: &RunSpec) -> bool {
        self.answer(spec).is_some()
    }

    /// Returns the runs of `spec` or, if there are none, of a spec that makes the same choices.
    pub fn standing_for(&self, spec: &RunSpec) -> &[Run] {
        self.answer(spec).map_or(&[], |answer| self.of(answer.spec))
    }

    /// Returns the first `times` runs of `spec`, or of a spec that makes the same choices.
    ///
    /// # Errors
    /// Returns the runs to make first.
    pub fn repeat(&self, spec: &RunSpec, times: usize) -> Result<&[Run], Missing> {
        self.made(self.answer(spec).map_or(spec, |answer| answer.spec), times)
    }

    /// Returns the first `times` runs of exactly this spec, even if another one makes the same
    /// choices.
    ///
    /// # Errors
    /// Returns the runs to make first.
    pub fn made(&self, spec: &RunSpec, times: usize) -> Result<&[Run], Missing> {
        let runs = self.of(spec);
        runs.get(..times).ok_or_else(|| Missing::new(vec![spec.clone(); times - runs.len()]))
    }

    /// Requests one run of exactly each of these specs, even if others make the same choices.
    ///
    /// # Errors
    /// Returns the runs to make first.
    pub fn each_made(&self, specs: &[RunSpec]) -> Result<(), Missing> {
        gather(specs.iter().map(|spec| self.made(spec, 1))).map(|_| ())
    }

    /// Returns the first `times` runs of each spec, like [`repeat`](Self::repeat). Missing runs of
    /// the specs alternate. A test may fail for a while for an unrelated reason, which must not
    /// affect one spec only.
    ///
    /// # Errors
    /// Returns the runs to make first.
    pub fn repeat_in_turns(
        &self,
        specs: &[&RunSpec],
        times: usize,
    ) -> Result<Vec<&[Run]>, Missing> {
        let repeated: Vec<_> = specs.iter().map(|spec| self.repeat(spec, times)).collect();
        let missing = repeated.iter().filter_map(|runs| runs.as_ref().err());
        let turn = |turn| missing.clone().filter_map(move |one| one.experiments.get(turn));
        let turns: Vec<RunSpec> = (0..times).flat_map(turn).cloned().collect();
        if turns.is_empty() { repeated.into_iter().collect() } else { Err(Missing::new(turns)) }
    }

    /// Returns whether a run may represent other specs.
    const fn prunes(&self) -> bool {
        self.prune && !self.is_contradicted && !self.is_uncontrolled
    }

    fn answer(&self, spec: &RunSpec) -> Option<Answer<'_>> {
        let exact = self.place(spec);
        let place = exact.or_else(|| self.implying(spec))?;
        let (made, runs) = &self.runs.made[place];
        Some(Answer { spec: made, run: &runs[0], implied: exact.is_none() })
    }

    /// Returns the index of a spec whose runs also count as runs of `spec`.
    fn implying(&self, spec: &RunSpec) -> Option<usize> {
        if !self.prunes() || !spec.trace.is_empty() {
            return None;
        }
        let key = key(spec);
        let mut implied = self.implied.borrow_mut();
        let mut known = implied.places(&key).iter().map(|place| &implied.made[*place]);
        if let Some((_, place)) = known.find(|(known, _)| known == spec) {
            return Some(*place);
        }
        let place = self.runs.made.iter().position(|(made, runs)| {
            let outcome = &runs[0].outcome;
            let is_whole = runs[0].complete
                && matches!(outcome, Outcome::Passed | Outcome::Failed)
                && runs.iter().all(|run| run.outcome == *outcome);
            is_whole
                && (!self.chooses_timing(spec) || are_scheduled_alike(made, spec))
                && decide_alike(made, spec, &runs[0])
        })?;
        implied.add([key], (spec.clone(), place));
        Some(place)
    }
}
