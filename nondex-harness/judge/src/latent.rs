//! What a passing test writes, and whether that depends on a choice: a dependence that no assertion
//! sees yet.
//!
//! The search is that for a failure. A run that writes what the clean runs write counts as one that
//! passes, and any other as one that fails.

use nondex_core::Outcome;

use super::clock_start;
use super::conclusion::Dependence;
use super::culprit::{self, Group};
use super::evidence::Evidence;
use super::missing::{Missing, Purpose};
use super::options::Options;
use super::specs::clean_spec;
use super::timing::has_timing;

/// How many runs the search may ask for: nothing fails yet.
const BUDGET: usize = 40;

/// The choices on which the output of `test`, which passed in all runs, depends; `None` when there
/// are none, or when it differs from run to run anyway.
///
/// # Errors
/// The runs to make first, which are optional.
pub(super) fn search(
    test: &str,
    options: &Options,
    evidence: &Evidence,
) -> Result<Option<Dependence>, Missing> {
    let found = evidence.within_budget(Purpose::Explore, find(test, options, evidence))?;
    Ok(found.flatten())
}

fn find(test: &str, options: &Options, evidence: &Evidence) -> Result<Option<Dependence>, Missing> {
    let clean_spec = clean_spec(test, options);
    let [first, rest @ ..] = evidence.of(&clean_spec) else {
        return Ok(None);
    };
    let usual = first.written;
    // In which order threads write is nobody's promise, and hardly anybody's mistake.
    if has_timing(first) {
        return Ok(None);
    }
    if rest.is_empty() || rest.iter().any(|run| run.written != usual) {
        return Ok(None);
    }
    let changed = evidence.specs().filter(|(spec, runs)| {
        spec.draws_all()
            && spec.trace.is_empty()
            && spec.network == clean_spec.network
            && runs.iter().all(|run| run.written != usual)
    });
    let place = |seed: u64| options.seeds.iter().position(|known| *known == seed);
    let weakest = changed.min_by_key(|(spec, _)| (spec.level(), place(spec.seed())));
    let Some((spec, _)) = weakest else {
        return Ok(None);
    };
    let judged = evidence.with_outcomes(|run| match run.written == usual {
        true => Outcome::Passed,
        false => Outcome::Failed,
    });
    let writes_the_same = |run: &super::run::Run| run.passed();
    if judged.made(spec, 2)?.iter().any(writes_the_same) {
        return Ok(None);
    }
    let mut culprits = culprit::search(&judged, spec, true, options.search_runs.min(BUDGET))?;
    let is_confirmed = culprits.confirmed && culprits.artefacts().is_none();
    // A program that writes what a clock shows writes something else in every run.
    let is_other = |group: &Group| !group.sites.iter().all(clock_start::is_start);
    culprits.groups.retain(is_other);
    if !is_confirmed || culprits.groups.is_empty() {
        return Ok(None);
    }
    for group in &mut culprits.groups {
        let traced = culprit::traced(spec, group);
        let answers = judged.answers(std::slice::from_ref(&traced))?;
        group.points = answers[0].run.points.to_vec();
        group.steps.clone_from(&answers[0].run.steps);
    }
    Ok(Some(Dependence {
        passes_clean: true,
        spec: spec.clone(),
        culprits,
        is_cut: false,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::conclusion::Conclusion;
    use super::super::run::Run;
    use super::super::simulation::{made, options, run, simulate, site};

    fn writing(written: u64) -> Run {
        Run {
            written,
            ..run(true, [1, 2])
        }
    }

    #[test]
    fn a_choice_that_changes_only_what_is_written_is_found() {
        let (conclusion, _) = simulate(&options(), |spec| {
            writing(match made(spec, 2) {
                true => spec.seed() + 1,
                false => 0,
            })
        });
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
        // Now and then only.
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
