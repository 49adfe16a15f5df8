//! Tests that take a reading of the monotonic clock for a random number: its start decides, which
//! is the seed's in scheduled runs, and chance's with real time.
//!
//! Such a test differs between scheduled and real runs, and no schedule is why.

use nondex_core::{Level, RunSpec, Scope, Selection, Site, model};

use super::conclusion::Conclusion;
use super::missing::Missing;
use super::question::Question;
use super::run::Run;

/// Number of seeds whose start is tried.
const SEEDS: usize = 10;

/// Number of runs with one start that end alike where the start decides, and not chance.
const SURE: usize = 3;

/// Whether a run reached the choice where the clock starts.
pub(super) fn is_read(run: &Run) -> bool {
    run.points.iter().any(|point| is_start(&point.site))
}

/// Whether runs in which nothing but the start is the seed's have another outcome than the `clean`
/// ones, all of them.
///
/// # Errors
/// The runs to make first.
pub(super) fn decides(question: Question<'_>, clean: &[Run]) -> Result<bool, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    // One set of choices asks for no other.
    let first = clean.iter().find(|run| is_read(run));
    let Some(first) = first.filter(|_| options.world.is_none()) else { return Ok(false) };
    let sites = first.points.iter().map(|point| &point.site);
    let starts = sites.filter(|site| is_start(site)).cloned();
    let starts: Vec<Scope> = starts.map(Scope::from).collect();
    let specs = options.seeds.iter().take(SEEDS).map(|&seed| {
        question.seed_spec(Level::Std, seed).with_selection(Selection::Only(starts.clone()))
    });
    let specs: Vec<RunSpec> = specs.collect();
    let answers = evidence.answers(&specs)?;
    let is_other = |run: &Run| run.is_otherwise(first.passed());
    let found = specs.iter().zip(&answers).find(|(_, answer)| is_other(answer.run));
    let Some((spec, _)) = found else { return Ok(false) };
    Ok(evidence.made(spec, SURE)?.iter().all(is_other))
}

/// Whether the conclusion explains why runs of `spec` ended in two ways: the real clock has another
/// start in each.
pub(super) fn explains(conclusion: &Conclusion, spec: &RunSpec) -> bool {
    let Conclusion::Dependent(found) = conclusion else { return false };
    let decides = found.culprits.sites().any(is_start);
    !spec.is_scheduled() && found.culprits.confirmed && decides
}

/// Whether the choice at `site` is where the clock starts.
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
    use crate::missing::Purpose;
    use crate::simulation::{options, point, run, settle, site};

    /// Runs of a test that fails where the clock starts at such a seed, and with real time in every
    /// third run.
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
            let options = Options { further_seeds: Some(Purpose::Explore), ..options() };
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
