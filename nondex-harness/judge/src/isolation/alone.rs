//! What is concluded from runs at whose time no other test ran, where those together with others
//! are not clear.

use nondex_core::RunSpec;

use super::{Interference, Judgement, Runs};
use crate::certainty;
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
    let mut conclusion = plan::judge(question)?;
    let is_same = is_same_dependence(&together, &conclusion) && !is_disturbed(options, runs);
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
        if let Some((spec, _)) = runs.alone.contradiction(options.is_scheduled()) {
            conclusion = Conclusion::NonDeterministic { spec: Box::new(spec.clone()) };
        }
    }
    measure(&conclusion, question)?;
    let is_clear = match &conclusion {
        _ if is_same => false,
        Conclusion::NonDeterministic { .. } => false,
        Conclusion::Dependent(dependence) => dependence.culprits.confirmed,
        _ => true,
    };
    Ok(Judgement {
        conclusion,
        from_alone: true,
        interference: is_clear.then(|| Interference {
            together: failures(&runs.together),
            alone: failures(&runs.alone),
            reason: runs.reason(),
        }),
        is_provisional: false,
    })
}

/// Whether choices decide in the same way together with other tests and alone.
fn is_same_dependence(together: &Conclusion, alone: &Conclusion) -> bool {
    match (together, alone) {
        (Conclusion::Dependent(together), Conclusion::Dependent(alone)) => {
            together.passes_clean == alone.passes_clean
        }
        _ => false,
    }
}

/// Whether runs of one spec end in two ways together with other tests, or in another one alone.
/// Real threads of a test that is scheduled do so by chance.
fn is_disturbed(options: &Options, runs: &Runs) -> bool {
    runs.together.specs().any(|(spec, together)| {
        let all = together.iter().chain(runs.alone.of(spec));
        let mut ends = all.filter(|run| !run.has_no_outcome()).map(Run::passed);
        let first = ends.next();
        spec.is_scheduled() == options.is_scheduled() && ends.any(|end| Some(end) != first)
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{options, run};

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
    fn real_threads_of_a_scheduled_test_that_end_in_two_ways_are_not_disturbed() {
        let scheduled = Options { real_threads: false, ..options() };
        let real = scheduled.with_real_threads();
        for (of_spec, expected) in [(&scheduled, true), (&real, false)] {
            let mut runs = Runs::new(true, true);
            for passes in [true, false] {
                let spec = of_spec.clean_spec("t");
                runs.together.add(spec, run(passes, [1]));
            }
            assert_eq!(is_disturbed(&scheduled, &runs), expected, "{expected}");
        }
    }
}
