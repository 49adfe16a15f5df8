//! What is concluded from runs at whose time no other test ran, where those together with others
//! are not clear.

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

/// How often the runs that disagreed are made again alone, at least.
const MIN_REPETITIONS: usize = 5;

/// Number of runs alone, with the choices that decide and without them, that must end as those
/// together with others did.
const SAME: usize = 2;

/// Maximum number of runs alone, however seldom the test failed together with others.
const MAX_RUNS: usize = 100;

/// A test that fails by itself, as often alone as together with others, is taken for a disturbed
/// one with at most this probability.
const ERROR: f64 = 0.01;

/// What is concluded about `test`, where `together` follows from its runs together with others.
///
/// # Errors
/// The runs to make first.
pub(super) fn judge(
    test: &str,
    options: &Options,
    runs: &Runs,
    together: Conclusion,
) -> Result<Judgement, Missing> {
    // With the same threads as together with the others.
    let options = &*threads::known(Question::new(test, options, &runs.together));
    let question = Question::new(test, options, &runs.alone);
    let clean = question.clean_spec();
    let as_together = |conclusion| Judgement {
        conclusion,
        from_alone: false,
        interference: None,
        is_provisional: false,
    };
    if together == Conclusion::Broken && !runs.alone.repeat(&clean, 1)?[0].passed() {
        // It agrees with all the others.
        return Ok(as_together(together));
    }
    // One that fails at fixed addresses may pass at those of a natural run.
    let failed = runs.together.of(&clean).first().is_some_and(|run| !run.passed());
    let is_of_addresses = |spec: &RunSpec| spec.is_natural() && failed;
    if matches!(&together, Conclusion::NonDeterministic { spec } if !is_of_addresses(spec))
        && runs.alone.repeat(&clean, SAME)?.iter().all(|run| !run.passed())
    {
        // Others are not what makes it fail; more likely what its own earlier runs left.
        return Ok(as_together(together));
    }
    // Its culprits are not confirmed for lack of time, of which there is none alone either.
    if let Conclusion::Dependent(dependence) = &together
        && runs.together.spent().explaining
        && runs.together.contradiction(options.is_scheduled()).is_none()
        && is_same_alone(dependence, &clean, &runs.alone)?
    {
        return Ok(as_together(together));
    }
    let mut conclusion = plan::judge(question)?;
    if matches!(conclusion, Conclusion::Stable | Conclusion::Latent(_) | Conclusion::Broken) {
        // When the budget was spent, the choices that decide were not tried again.
        if let Conclusion::Dependent(dependence) = &together
            && is_same_alone(dependence, &clean, &runs.alone)?
        {
            return Ok(as_together(together));
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
        // However few runs disagreed: chance may decide as seldom alone.
        let times = wanted.max(certainty::without_chance(&runs.together)).saturating_sub(others);
        runs.alone.repeat(&disagreed, times.max(MIN_REPETITIONS))?;
        // Nor is it clear otherwise that other tests make the difference.
        let passes_alone = conclusion != Conclusion::Broken;
        let mut specs = runs.together.specs();
        let is_other = |run: &Run| run.is_otherwise(passes_alone);
        if let Some((spec, made)) = specs.find(|(_, made)| made.iter().any(is_other)) {
            let affordable = certainty::affordable_as(&runs.together);
            runs.alone.repeat(spec, telling(failed_of(made), passes_alone).min(affordable))?;
        }
        if let Some((spec, _)) = runs.alone.contradiction(options.is_scheduled()) {
            conclusion = Conclusion::NonDeterministic { spec: Box::new(spec.clone()) };
        }
    }
    measure(&conclusion, question)?;
    let interference = interference(&conclusion, runs);
    Ok(Judgement { conclusion, from_alone: true, interference, is_provisional: false })
}

/// How the runs together with others differ from those alone, of which `conclusion` follows; `None`
/// where chance may be all, unless the test failed together with others only.
fn interference(conclusion: &Conclusion, runs: &Runs) -> Option<Interference> {
    let has_one_end = match conclusion {
        Conclusion::NonDeterministic { .. } => return None,
        Conclusion::Dependent(dependence) if !dependence.culprits.confirmed => return None,
        Conclusion::Dependent(_) => false,
        _ => true,
    };
    let is_chance = chance::explains(of_same_choices(runs));
    let reason = if is_chance { Reason::Chance } else { runs.reason() };
    let interference =
        Interference { together: failures(&runs.together), alone: failures(&runs.alone), reason };
    (has_one_end || reason != Reason::Chance).then_some(interference)
}

/// How often the test failed with each spec that was run alone, or with others that make the same
/// choices: together with other tests, and alone.
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

/// How many of these runs failed, of those that came to an end.
fn failed_of(runs: &[Run]) -> [usize; 2] {
    let ended = || runs.iter().filter(|run| !run.has_no_outcome());
    [ended().filter(|run| !run.passed()).count(), ended().count()]
}

/// Whether the clean runs and those with the choices of `dependence` end alone as they did together
/// with others.
fn is_same_alone(
    dependence: &Dependence,
    clean: &RunSpec,
    alone: &Evidence,
) -> Result<bool, Missing> {
    let ends = |runs: &[Run], passes| runs.iter().all(|run| run.passed() == passes);
    let both = alone.repeat_in_turns(&[clean, &dependence.spec], SAME)?;
    Ok(ends(both[0], dependence.passes_clean) && ends(both[1], !dependence.passes_clean))
}

/// Has a test that ends in two ways run often enough for a rate.
pub(super) fn measure(conclusion: &Conclusion, question: Question<'_>) -> Result<(), Missing> {
    match conclusion {
        Conclusion::NonDeterministic { spec } => certainty::measure(spec, question),
        _ => Ok(()),
    }
}

/// How many runs failed, of how many.
fn failures(evidence: &Evidence) -> [usize; 2] {
    let failed = evidence.all().filter(|(_, run)| !run.passed()).count();
    [failed, evidence.count()]
}

/// How many runs that all end alike make it unlikely that they come from a test which fails in
/// `failed` of `runs`.
fn sufficient([failed, runs]: [usize; 2]) -> usize {
    let minority = failed.min(runs - failed);
    if minority == 0 {
        return MIN_REPETITIONS;
    }
    (MIN_REPETITIONS..MAX_RUNS)
        .find(|&n| (1.0 - minority as f64 / runs as f64).powf(n as f64) <= ERROR)
        .unwrap_or(MAX_RUNS)
}

/// How many runs that all pass, or all fail, differ by more than chance from others of which so
/// many failed. At most [`MAX_RUNS`].
fn telling(together: [usize; 2], pass: bool) -> usize {
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
            assert_eq!(telling(together, pass), expected, "{together:?}");
        }
    }
}
