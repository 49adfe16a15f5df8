//! Recognises tests that use a reading of the monotonic clock as a random number.
//!
//! The start of the clock decides such a test. In scheduled runs the seed determines the start, in
//! real time chance does. So scheduled runs and real runs differ, but no schedule is the reason.

use nondex_core::{Level, RunSpec, Scope, Selection, Site, model};

use super::conclusion::Conclusion;
use super::missing::Missing;
use super::question::Question;
use super::run::Run;

/// Number of seeds whose start of the clock is tried.
const SEEDS: usize = 10;

/// Number of runs with one start that must end alike to show that the start decides.
const SURE: usize = 3;

/// Returns whether a run reached the choice of the clock's start.
pub(super) fn is_read(run: &Run) -> bool {
    run.points.iter().any(|point| is_start(&point.site))
}

/// Returns whether runs have another outcome than the `clean` ones every time if the seed decides
/// the clock's start only.
///
/// # Errors
/// Returns the runs to make first.
pub(super) fn decides(question: Question<'_>, clean: &[Run]) -> Result<bool, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    // With a fixed set of choices, no other choices are tried.
    let reader = clean.iter().find(|run| is_read(run)).filter(|_| options.world.is_none());
    let Some(first) = reader else { return Ok(false) };
    let sites = first.points.iter().map(|point| &point.site);
    let starts: Vec<Scope> =
        sites.filter(|site| is_start(site)).cloned().map(Scope::from).collect();
    let with_start = |seed: &u64| {
        question.seed_spec(Level::Std, *seed).with_selection(Selection::Only(starts.clone()))
    };
    let specs: Vec<RunSpec> = options.seeds.iter().take(SEEDS).map(with_start).collect();
    let answers = evidence.answers(&specs)?;
    let is_other = |run: &Run| run.is_otherwise(first.passed());
    let found = specs.iter().zip(&answers).find(|(_, answer)| is_other(answer.run));
    let Some((spec, _)) = found else { return Ok(false) };
    Ok(evidence.made(spec, SURE)?.iter().all(is_other))
}

/// Returns whether the conclusion explains why runs of `spec` have different outcomes: the real
/// clock has another start in each run.
pub(super) fn explains(conclusion: &Conclusion, spec: &RunSpec) -> bool {
    let Conclusion::Dependent(found) = conclusion else { return false };
    let decides = found.culprits.sites().any(is_start);
    !spec.is_scheduled() && found.culprits.confirmed && decides
}

/// Returns whether the choice at `site` is the clock's start.
pub(super) fn is_start(site: &Site) -> bool {
    site.api == model::CLOCK_GETTIME.api
}

#[cfg(test)]
mod tests {
    use crate::evidence::Evidence;
    use crate::options::Options;
    use nondex_core::{Family, PointRecord, Source};

    use super::*;
    use crate::equivalence::is_made;
    use crate::isolation::{Available, Judgement, Need, Runs, conclude};
    use crate::missing::ExperimentPurpose;
    use crate::simulation::{options, point, run, settle, site};

    /// Simulated test that fails if the seed chooses certain starts of the clock, and with real
    /// time in every third run.
    struct Random {
        fails_clean: bool,
        fails: fn(u64) -> bool,
        real_runs: u32,
    }

    impl Random {
        fn run(&mut self, spec: &RunSpec) -> Run {
            let start =
                Site { family: Family::Entropy, api: model::CLOCK_GETTIME.api.into(), ..site(1) };
            let fails = if !spec.is_scheduled() {
                self.real_runs += 1;
                self.real_runs.is_multiple_of(3)
            } else if is_made(spec, &start, "0") {
                (self.fails)(spec.seed())
            } else {
                self.fails_clean
            };
            let start = PointRecord { count: 1, ..point(start) };
            Run {
                points: [start].into_iter().filter(|_| spec.is_scheduled()).collect(),
                sources: vec![Source::Clock],
                ..run(!fails, [])
            }
        }

        fn judged(mut self) -> Judgement {
            let options = Options { further_seeds: Some(ExperimentPurpose::Extend), ..options() };
            let mut runs = Runs::new(true, true);
            let ask = |runs: &Runs| {
                conclude("t", &options, Available::default(), runs).map_err(|need| match need {
                    Need::Runs(missing) => missing,
                    other => panic!("{other:?}"),
                })
            };
            settle(&mut runs, ask, |runs, spec: RunSpec, missing| {
                let run = self.run(&spec);
                runs.of_mut(missing.alone).add(spec, run);
            })
        }
    }

    #[test]
    fn a_test_that_passes_now_and_then_with_any_start_is_not_decided_by_it() {
        let start =
            Site { family: Family::Entropy, api: model::CLOCK_GETTIME.api.into(), ..site(1) };
        let scheduled_run = |passes: bool| Run {
            points: [PointRecord { count: 1, ..point(start.clone()) }].into(),
            ..run(passes, [])
        };
        let options = options();
        let clean = [scheduled_run(false), scheduled_run(false)];
        let decided = |passes: fn(u64, usize) -> bool| {
            let mut count = 0;
            settle(
                &mut Evidence::new(true),
                |evidence: &Evidence| decides(Question::new("t", &options, evidence), &clean),
                |evidence, spec, _| {
                    count += 1;
                    let passes = passes(spec.seed(), count);
                    evidence.add(spec, scheduled_run(passes));
                },
            )
        };
        assert!(decided(|seed, _| seed == 4));
        assert!(!decided(|_, count| count % 5 == 4));
    }

    #[test]
    fn where_the_clock_starts_decides_whatever_real_runs_and_the_clean_ones_show() {
        for fails_clean in [false, true] {
            for fails in [|seed: u64| seed % 2 == 1, |seed| seed == 40] {
                let test = Random { fails_clean, fails, real_runs: 0 };
                let judgement = test.judged();
                let Conclusion::Dependent(found) = &judgement.conclusion else {
                    panic!("{fails_clean}: {judgement:?}");
                };
                assert!(found.culprits.sites().all(is_start));
                assert_eq!(found.passes_clean, !fails_clean);
                assert!(!judgement.from_alone);
            }
        }
    }
}
