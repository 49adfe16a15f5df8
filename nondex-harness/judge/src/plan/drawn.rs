//! Explains by random bytes a test with two outcomes in canonical order.
//!
//! A hasher may mix random bytes with an address, as that of `ahash` does. Then natural runs, whose
//! addresses are random, have different outcomes although all choices are equal. At the fixed
//! addresses of all other runs, the bytes alone decide, and a seed chooses them.

use nondex_core::{Level, RunSpec, model};

use super::{REPETITIONS, explained};
use crate::conclusion::{Conclusion, Dependence};
use crate::culprit::{Culprits, Group};
use crate::further;
use crate::missing::Missing;
use crate::question::Question;
use crate::run::Run;

/// Numbers of seeds that are tried, one after the other, until two have different outcomes. A test
/// that fails in one run in ten does so under one of the larger number with a probability of 95
/// percent.
const SEEDS: [usize; 2] = [10, 30];

/// Returns the dependence on random bytes of a test whose runs in canonical order disagree. Returns
/// `None` unless it draws some and uses no known source, and seeds decide its outcome.
///
/// # Errors
/// Returns the runs to make first.
pub(super) fn explain(question: Question<'_>) -> Result<Option<Conclusion>, Missing> {
    let options = question.options;
    let draws = |run: &Run| run.sources.is_empty() && further::draws_bytes(run);
    let is_possible = options.tries_seeds() && options.levels.contains(&Level::Std);
    if !is_possible || !question.clean().iter().all(draws) {
        return Ok(None);
    }
    let Some((passing, failing)) = different(question)? else { return Ok(None) };
    if options.is_scheduled() {
        // Clean runs have fixed addresses, too.
        let Some(first) = question.clean().first() else { return Ok(None) };
        let changing = if first.passed() { failing } else { passing };
        let conclusion = explained(question, first.passed(), changing)?;
        let is_confirmed =
            matches!(&conclusion, Conclusion::Dependent(found) if found.culprits.confirmed);
        return Ok(is_confirmed.then_some(conclusion));
    }
    let evidence = question.evidence;
    for (spec, passes) in [(&passing, true), (&failing, false)] {
        if evidence.made(spec, REPETITIONS)?.iter().any(|run| run.passed() != passes) {
            return Ok(None);
        }
    }
    let mut culprits = bytes_of(&evidence.of(&failing)[0]);
    culprits.trace(evidence, &failing)?;
    Ok(Some(Conclusion::Dependent(Box::new(Dependence {
        passes_clean: true,
        spec: failing,
        culprits,
        is_cut: false,
    }))))
}

/// Returns the first seed under which the test passes, and the first under which it fails.
fn different(question: Question<'_>) -> Result<Option<(RunSpec, RunSpec)>, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let seeds = options.seeds.iter().copied().chain(further::seeds(options));
    let specs = seeds.map(|seed| question.seed_spec(Level::Std, seed));
    let specs: Vec<RunSpec> = specs.take(SEEDS[1]).collect();
    for number in SEEDS {
        let tried = &specs[..number.min(specs.len())];
        evidence.each_made(tried)?;
        let ends = |passes: bool| {
            let has_ended = |spec: &&RunSpec| evidence.of(spec)[0].is_otherwise(!passes);
            tried.iter().find(has_ended).cloned()
        };
        if let (Some(passing), Some(failing)) = (ends(true), ends(false)) {
            return Ok(Some((passing, failing)));
        }
    }
    Ok(None)
}

/// Returns the calls that drew random bytes in a run, as culprits. They are confirmed if the run
/// reached no other choice.
fn bytes_of(run: &Run) -> Culprits {
    let mut sites: Vec<_> = run.points.iter().map(|point| point.site.clone()).collect();
    let all = sites.len();
    sites.retain(|site| site.api == model::GETRANDOM.api);
    sites.dedup();
    let confirmed = sites.len() == all;
    Culprits { groups: vec![Group { sites, ..Group::default() }], confirmed, notes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use nondex_core::{Family, Site, Source};

    use super::*;
    use crate::equivalence::is_made;
    use crate::options::Options;
    use crate::simulation::{options, point, run, simulate};

    fn bytes() -> Site {
        let api = model::GETRANDOM.api.into();
        Site { api, family: Family::Entropy, file: "a".into(), line: 1, column: 1 }
    }

    #[test]
    fn random_bytes_decide_where_addresses_are_fixed() {
        // Whether threads are real, whether the outcome is the same in each run at fixed addresses,
        // and whether the test also reads a random file.
        for (real_threads, is_fixed, has_source, is_explained) in [
            (false, true, false, true),
            (true, true, false, true),
            (true, false, false, false),
            (true, true, true, false),
        ] {
            let options = Options { real_threads, ..options() };
            let mut number = 0;
            let (conclusion, _) = simulate(&options, |spec| {
                number += 1;
                let is_random = spec.is_natural() || !is_fixed;
                let is_drawn = spec.seed() == 4 && is_made(spec, &bytes(), "0");
                let fails = if is_random { number % 2 == 0 } else { is_drawn };
                let sources = if has_source { vec![Source::RandomFile] } else { Vec::new() };
                Run { sources, points: [point(bytes())].into(), ..run(!fails, []) }
            });
            match conclusion {
                Conclusion::Dependent(found) => {
                    assert!(is_explained && found.culprits.confirmed);
                    assert_eq!(found.culprits.sites().collect::<Vec<_>>(), [&bytes()]);
                }
                other => assert!(!is_explained, "{other:?}"),
            }
        }
    }
}
