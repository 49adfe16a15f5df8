//! Judges a test from runs alone when its runs together with other tests give no clear result.

use std::slice;

use nondex_core::RunSpec;

use super::{Interference, Judgement, Reason, Runs};
use crate::certainty;
use crate::chance;
use crate::conclusion::{Conclusion, Dependence};
use crate::evidence::Evidence;
use crate::missing::Missing;
use crate::options::Options;
use crate::plan;
use crate::question::Question;
use crate::run::Run;
use crate::threads;

/// Minimum number of runs alone of the spec whose runs disagreed.
const MIN_REPETITIONS: usize = 5;

/// Number of runs alone, with the deciding choices and without them, that must end like those
/// together with other tests.
const SAME: usize = 2;

/// Maximum number of runs alone, however rarely the test failed together with other tests.
const MAX_RUNS: usize = 100;

/// Maximum probability of taking a non-deterministic test for a disturbed one, if it fails as often
/// alone as together with others.
const ERROR: f64 = 0.01;

/// Returns the conclusion about `test`, where `together` follows from its runs together with other
/// tests.
///
/// # Errors
/// Returns the runs to make first.
pub(super) fn judge(
    test: &str,
    options: &Options,
    runs: &Runs,
    together: Conclusion,
) -> Result<Judgement, Missing> {
    // Use the same kind of threads as in the runs together with other tests.
    let options = &*threads::known(Question::new(test, options, &runs.together));
    let question = Question::new(test, options, &runs.alone);
    let clean = question.clean_spec();
    if together == Conclusion::Broken && !runs.alone.repeat(&clean, 1)?[0].passed() {
        // A failing run alone agrees with all the others.
        return Ok(Judgement::together(together));
    }
    // A test that fails at fixed addresses may pass at those of a natural run.
    let failed = runs.together.of(&clean).first().is_some_and(|run| !run.passed());
    let is_of_addresses = |spec: &RunSpec| spec.is_natural() && failed;
    if matches!(&together, Conclusion::NonDeterministic { spec } if !is_of_addresses(spec))
        && runs.alone.repeat(&clean, SAME)?.iter().all(|run| !run.passed())
    {
        // Other tests are not the reason; files of earlier runs are more likely.
        return Ok(Judgement::together(together));
    }
    // The culprits are unconfirmed because the budget is spent. It is spent for runs alone too.
    if let Conclusion::Dependent(dependence) = &together
        && runs.together.spent().explaining
        && runs.together.contradiction(options.is_scheduled()).is_none()
        && is_same_alone(dependence, &clean, &runs.alone)?
    {
        return Ok(Judgement::together(together));
    }
    let mut conclusion = plan::judge(question)?;
    if matches!(conclusion, Conclusion::Stable | Conclusion::Latent(_) | Conclusion::Broken) {
        // If the budget was spent, the deciding choices were not tried again.
        if let Conclusion::Dependent(dependence) = &together
            && is_same_alone(dependence, &clean, &runs.alone)?
        {
            return Ok(Judgement::together(together));
        }
        // A few runs may agree by chance.
        let contradiction = runs.together.contradiction(options.is_scheduled());
        let disagreed = match (together, contradiction) {
            (Conclusion::NonDeterministic { spec }, _) => *spec,
            (_, Some((spec, _))) => spec.clone(),
            (Conclusion::Dependent(dependence), None) => dependence.spec,
            (_, None) => clean,
        };
        let others = runs.alone.count() - runs.alone.standing_for(&disagreed).len();
        let wanted = sufficient(failures(&runs.together));
        // Even if few runs disagreed, chance may decide as rarely alone.
        let times = wanted.max(certainty::without_chance(&runs.together)).saturating_sub(others);
        runs.alone.repeat(&disagreed, times.max(MIN_REPETITIONS))?;
        // Enough runs are also needed to show that other tests make the difference.
        let passes_alone = conclusion != Conclusion::Broken;
        let mut specs = runs.together.specs();
        let is_other = |run: &Run| run.is_otherwise(passes_alone);
        if let Some((spec, made)) = specs.find(|(_, made)| made.iter().any(is_other)) {
            let affordable = certainty::affordable_as(&runs.together);
            runs.alone
                .repeat(spec, distinguishing(failed_of(made), passes_alone).min(affordable))?;
        }
        if let Some((spec, _)) = runs.alone.contradiction(options.is_scheduled()) {
            conclusion = Conclusion::NonDeterministic { spec: Box::new(spec.clone()) };
        }
    }
    measure(&conclusion, question)?;
    let interference = interference(&conclusion, runs);
    Ok(Judgement { conclusion, from_alone: true, interference, is_provisional: false })
}

/// Returns how the runs together with other tests differ from those alone, from which `conclusion`
/// follows. Returns `None` if chance may explain it, unless the test failed together with others
/// only.
fn interference(conclusion: &Conclusion, runs: &Runs) -> Option<Interference> {
    let has_one_outcome = match conclusion {
        Conclusion::NonDeterministic { .. } => return None,
        Conclusion::Dependent(dependence) if !dependence.culprits.confirmed => return None,
        Conclusion::Dependent(_) => false,
        _ => true,
    };
    let is_chance = chance::explains(of_same_choices(runs));
    let reason = if is_chance { Reason::Chance } else { runs.reason() };
    let interference =
        Interference { together: failures(&runs.together), alone: failures(&runs.alone), reason };
    (has_one_outcome || reason != Reason::Chance).then_some(interference)
}

/// Returns how often the test failed, together with other tests and alone, for each spec that was
/// run alone. Specs with the same choices are counted together.
fn of_same_choices(runs: &Runs) -> impl Iterator<Item = chance::Pair> {
    let mut together: Vec<(&RunSpec, [usize; 2])> = Vec::new();
    for (spec, made) in runs.together.specs() {
        let Ok(answers) = runs.alone.answers(slice::from_ref(spec)) else { continue };
        let [failed, all] = failed_of(made);
        match together.iter_mut().find(|(known, _)| *known == answers[0].spec) {
            Some((_, known)) => *known = [known[0] + failed, known[1] + all],
            None => together.push((answers[0].spec, [failed, all])),
        }
    }
    together.into_iter().map(|(spec, together)| [together, failed_of(runs.alone.of(spec))])
}

/// Returns the number of failed runs and of all runs, without those that have no outcome.
fn failed_of(runs: &[Run]) -> [usize; 2] {
    let ended = || runs.iter().filter(|run| !run.has_no_outcome());
    [ended().filter(|run| !run.passed()).count(), ended().count()]
}

/// Returns whether the clean runs, and those with the choices of `dependence`, end alone as they
/// did together with other tests.
fn is_same_alone(
    dependence: &Dependence,
    clean: &RunSpec,
    alone: &Evidence,
) -> Result<bool, Missing> {
    let ends = |runs: &[Run], passes| runs.iter().all(|run| run.passed() == passes);
    let both = alone.repeat_in_turns(&[clean, &dependence.spec], SAME)?;
    Ok(ends(both[0], dependence.passes_clean) && ends(both[1], !dependence.passes_clean))
}

/// Requests enough runs for a failure rate of a test with two outcomes.
pub(super) fn measure(conclusion: &Conclusion, question: Question<'_>) -> Result<(), Missing> {
    match conclusion {
        Conclusion::NonDeterministic { spec } => certainty::measure(spec, question),
        _ => Ok(()),
    }
}

/// Returns the number of failed runs and of all runs.
fn failures(evidence: &Evidence) -> [usize; 2] {
    let failed = evidence.all().filter(|(_, run)| !run.passed()).count();
    [failed, evidence.count()]
}

/// Returns how many runs with equal outcomes make it unlikely that the test fails in `failed` of
/// `runs`.
fn sufficient([failed, runs]: [usize; 2]) -> usize {
    let minority = failed.min(runs - failed);
    if minority == 0 {
        return MIN_REPETITIONS;
    }
    (MIN_REPETITIONS..MAX_RUNS)
        .find(|&n| (1.0 - minority as f64 / runs as f64).powf(n as f64) <= ERROR)
        .unwrap_or(MAX_RUNS)
}

/// Returns how many runs that all pass, or all fail, differ from `together` by more than chance
/// explains. At most [`MAX_RUNS`].
fn distinguishing(together: [usize; 2], pass: bool) -> usize {
    let alone = |runs| [if pass { 0 } else { runs }, runs];
    let mut all = 0..MAX_RUNS;
    all.find(|&runs| !chance::explains([[together, alone(runs)]])).unwrap_or(MAX_RUNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seldomer_it_failed_the_more_runs_alone_are_asked_for() {
        for (failures, expected) in [
            ([2, 2], 5),
            ([0, 9], 5),
            ([1, 2], 7),
            ([1, 10], 44),
            ([9, 10], 44),
            ([1, 20], 90),
            ([1, 54], 100),
        ] {
            assert_eq!(sufficient(failures), expected, "{failures:?}");
        }
    }
    #[test]
    fn as_many_runs_alone_are_asked_for_as_tell_them_from_the_others() {
        for (together, pass, expected) in [
            ([2, 2], true, 5),
            ([1, 2], true, 38),
            ([1, 2], false, 38),
            ([0, 2], false, 5),
            ([60, 60], true, 1),
            ([1, 10], true, 100),
        ] {
            assert_eq!(distinguishing(together, pass), expected, "{together:?}");
        }
    }
}
