//! Searches for choices that only change the output of a passing test: a dependence that no
//! assertion sees yet.
//!
//! The search is that for a failure. A run with the same output as the clean runs counts as passed,
//! and any other run as failed.

use nondex_core::Outcome;

use super::clock_start;
use super::conclusion::Dependence;
use super::culprit::{self, Group};
use super::missing::{ExperimentPurpose, Missing};
use super::question::Question;
use super::run::Run;
use super::timing::has_timing;

/// Maximum number of runs of the search, which is small because nothing fails yet.
const BUDGET: usize = 40;

/// Returns the choices on which the output of the test depends, which passed in all runs. Returns
/// `None` if there are none, or if the output differs from run to run anyway.
///
/// # Errors
/// Returns the runs to make first, which are optional.
pub(super) fn search(question: Question<'_>) -> Result<Option<Dependence>, Missing> {
    Ok(question.evidence.within_budget(ExperimentPurpose::Explore, find(question))?.flatten())
}

fn find(question: Question<'_>) -> Result<Option<Dependence>, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let mut repeated = question.repeated();
    let Some(first) = repeated.next() else { return Ok(None) };
    let usual = first.written;
    // The order in which threads write is unspecified, and rarely a mistake.
    if has_timing(first) {
        return Ok(None);
    }
    let mut repeated = repeated.peekable();
    if repeated.peek().is_none() || repeated.any(|run| run.written != usual) {
        return Ok(None);
    }
    let mut specs = question.of_seeds().into_iter();
    let is_changed = |runs: &[Run]| runs.iter().all(|run| run.written != usual);
    let Some((spec, _)) = specs.find(|(_, runs)| is_changed(runs)) else { return Ok(None) };
    let judged = evidence
        .with_outcomes(|run| if run.written == usual { Outcome::Passed } else { Outcome::Failed });
    if judged.made(spec, 2)?.iter().any(Run::passed) {
        return Ok(None);
    }
    let mut culprits = culprit::search(&judged, spec, true, options.search_runs.min(BUDGET))?;
    let is_confirmed = culprits.confirmed && culprits.artefacts().is_none();
    // The output of a program that prints a clock differs in every run.
    let is_other = |group: &Group| !group.sites.iter().all(clock_start::is_start);
    culprits.groups.retain(is_other);
    if !is_confirmed || culprits.groups.is_empty() {
        return Ok(None);
    }
    for group in &mut culprits.groups {
        let traced = culprit::traced(&judged, spec, group);
        let answers = judged.answers(std::slice::from_ref(&traced))?;
        group.points = answers[0].run.points.to_vec();
        group.steps.clone_from(&answers[0].run.steps);
    }
    Ok(Some(Dependence { passes_clean: true, spec: spec.clone(), culprits, is_cut: false }))
}

#[cfg(test)]
mod tests {
    use super::super::conclusion::Conclusion;
    use super::super::run::Run;
    use super::super::simulation::{made, options, run, simulate, site};

    fn writing(written: u64) -> Run {
        Run { written, ..run(true, [1, 2]) }
    }

    #[test]
    fn a_choice_that_changes_only_what_is_written_is_found() {
        let (conclusion, _) =
            simulate(&options(), |spec| writing(if made(spec, 2) { spec.seed() + 1 } else { 0 }));
        let Conclusion::Latent(dependence) = conclusion else {
            panic!("expected a latent dependence, found {conclusion:?}");
        };
        let sites: Vec<_> = dependence.culprits.sites().collect();
        assert_eq!(sites, [&site(2)]);
    }

    #[test]
    fn what_differs_from_run_to_run_is_nobody_s() {
        let mut number = 0;
        let (conclusion, evidence) = simulate(&options(), |_| {
            number += 1;
            writing(number)
        });
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(evidence.count(), 2 + 5 * 10);
        // It only differs in some runs.
        let mut number = 0;
        let (conclusion, _) = simulate(&options(), |_| {
            number += 1;
            writing(u64::from(number % 7 == 0))
        });
        assert_eq!(conclusion, Conclusion::Stable);
    }

    #[test]
    fn the_same_output_asks_for_no_more_runs() {
        let (conclusion, evidence) = simulate(&options(), |_| writing(5));
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(evidence.count(), 2 + 5 * 10);
    }
}
