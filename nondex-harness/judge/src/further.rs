//! Tries further seeds for tests for which ten draws are little evidence.
//!
//! Ten draws cover many orders of a map, but few schedules of threads or random bytes. A failure in
//! one of fifty runs on a busy machine is as rare among these draws. So such a test gets more seeds
//! while the budget lasts. They are tried at the level with the choices and delays that a busy
//! machine has today.
//!
//! Some tests get them independent of the budget. These tests fail in a plain build, but under the
//! seeds never, always, or only with longer delays: all else is tried before the cause counts as
//! unknown. A test that uses the time as a random number gets them once it fails in real time. A
//! test that reaches orders or values and fails at a stronger level gets them after that finding.

use nondex_core::{Level, RunSpec, model};

use super::clock_start;
use super::exploration::is_long;
use super::missing::{ExperimentPurpose, Missing};
use super::options::Options;
use super::question::Question;
use super::run::Run;
use super::sampling::seed_specs;
use super::timing::is_timing;

/// Total number of seeds, including the requested ones.
const SEEDS: usize = 100;

/// Returns the further seeds.
pub(crate) fn seeds(options: &Options) -> impl Iterator<Item = u64> {
    let number = SEEDS.saturating_sub(options.seeds.len());
    (0..).filter(|seed| !options.seeds.contains(seed)).take(number)
}

/// Returns the first seed after all seeds that a campaign with these options may try.
pub fn first_untried(options: &Options) -> u64 {
    let further = options.further_seeds.map(|_| seeds(options));
    let last = options.seeds.iter().copied().chain(further.into_iter().flatten()).max();
    last.map_or(0, |last| last.saturating_add(1))
}

/// Returns whether a run drew random bytes.
pub(crate) fn draws_bytes(run: &Run) -> bool {
    run.points.iter().map(|point| &point.site).any(|site| site.api == model::GETRANDOM.api)
}

/// Returns whether a run reached a choice of an order or a value. The start of the clock does not
/// count: any test that measures a duration reaches it.
fn has_values(run: &Run) -> bool {
    let mut sites = run.points.iter().map(|point| &point.site);
    sites.any(|site| !is_timing(site) && !clock_start::is_start(site))
}

/// Returns the specs of the further seeds of a test. `is_found` is whether its outcome changes at a
/// stronger level.
fn specs<'a>(question: Question<'a>, is_found: bool) -> impl Iterator<Item = RunSpec> + 'a {
    let options = question.options;
    let clean = question.clean().first();
    // If a plain build shows that it is flaky, any choice that it reaches may be the reason.
    let is_flaky = options.further_seeds == Some(ExperimentPurpose::Explain);
    let is_rare = clean.is_some_and(|run| {
        run.has_threads() || draws_bytes(run) || (is_found || is_flaky) && has_values(run)
    });
    let fails_by_clock = clean.is_some_and(|clean| {
        let differs = question.natural().iter().any(|run| run.is_otherwise(clean.passed()));
        differs && clock_start::is_read(clean)
    });
    let is_wanted = options.tries_seeds()
        && options.levels.contains(&Level::Std)
        && (is_rare || fails_by_clock);
    seeds(options).filter(move |_| is_wanted).map(move |seed| question.seed_spec(Level::Std, seed))
}

/// Returns the further seeds that were tried until the outcome changed. Returns none if the options
/// request none.
pub(super) fn answered_specs(
    question: Question<'_>,
    passes_clean: bool,
    is_found: bool,
) -> Result<Vec<RunSpec>, Missing> {
    let evidence = question.evidence;
    let Some(purpose) = question.options.further_seeds else { return Ok(Vec::new()) };
    let mut specs: Vec<RunSpec> = specs(question, is_found).collect();
    if evidence.spent().leaves_out(purpose) {
        specs.retain(|spec| evidence.has_answer(spec));
    }
    let mut answered = 0;
    while answered < specs.len() {
        // Batches double: each is as large as all before it.
        let end = specs.len().min(answered + answered.max(1));
        let batch = evidence.answers(&specs[answered..end]);
        let mut answers = batch.map_err(|missing| missing.serving(purpose))?.into_iter();
        answered = end;
        if answers.any(|answer| answer.run.is_otherwise(passes_clean) || is_long(answer.run)) {
            break;
        }
    }
    specs.truncate(answered);
    Ok(specs)
}

/// Returns the specs of the requested seeds at this level, and those of further seeds that were run
/// there.
pub fn tried(question: Question<'_>, level: Level) -> Vec<RunSpec> {
    let mut specs = seed_specs(question, level);
    specs.extend(made(question, level));
    specs
}

/// Returns the specs of the further seeds that were run at this level.
pub fn made(question: Question<'_>, level: Level) -> Vec<RunSpec> {
    let specs = specs(question, true);
    let is_made = |spec: &RunSpec| spec.level() == level && !question.evidence.of(spec).is_empty();
    specs.filter(is_made).collect()
}

#[cfg(test)]
mod tests {
    use crate::evidence::Evidence;
    use nondex_core::{Family, Outcome, ScheduleRecord, Site};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::equivalence::is_made;
    use crate::isolation::{Available, Judgement, Need, Runs, conclude};
    use crate::missing::Spent;
    use crate::plain::PlainBuild;
    use crate::simulation::{made, options, point, run, runs_at, settle, simulate, site};

    /// Returns the run of a test with this number of threads that has another outcome under one
    /// seed of a hundred.
    fn fails_rarely(passes: bool, threads: u64, spec: &RunSpec) -> Run {
        let is_failing_seed = made(spec, 1) && spec.level() == Level::Std && spec.seed() == 41;
        Run {
            schedule: Some(ScheduleRecord { threads, ..ScheduleRecord::default() }),
            ..run(passes != is_failing_seed, [1])
        }
    }

    fn with_further(purpose: Option<ExperimentPurpose>) -> Options {
        Options { further_seeds: purpose, ..options() }
    }

    #[test]
    fn what_one_schedule_of_a_hundred_shows_is_found_with_further_seeds_until_it_is_shown() {
        for (purpose, threads, tried) in [
            (Some(ExperimentPurpose::Extend), 2, 10 + 32..SEEDS),
            (Some(ExperimentPurpose::Extend), 1, 10..11),
            (None, 2, 10..11),
        ] {
            let options = with_further(purpose);
            let test = |spec: &RunSpec| fails_rarely(true, threads, spec);
            let (conclusion, evidence) = simulate(&options, test);
            let is_found = matches!(conclusion, Conclusion::Dependent(_));
            assert_eq!(is_found, tried.start > 10, "{conclusion:?}");
            let made = made_at(Level::Std, &options, &evidence);
            assert!(tried.contains(&(10 + made)), "{made}");
            assert!(runs_at(&evidence, Level::Std) >= 10 + made);
            assert_eq!(made_at(Level::One, &options, &evidence), 0);
        }
    }

    #[test]
    fn random_bytes_and_orders_that_decide_at_a_stronger_level_have_further_seeds() {
        let bytes = Site { api: model::GETRANDOM.api.into(), family: Family::Entropy, ..site(1) };
        let found = |site: &Site, stronger: &[Level]| {
            let options = with_further(Some(ExperimentPurpose::Extend));
            let (conclusion, _) = simulate(&options, |spec| {
                let level = spec.level();
                let decides = level == Level::Std && spec.seed() == 41 || stronger.contains(&level);
                Run {
                    points: [point(site.clone())].into(),
                    ..run(!(decides && is_made(spec, site, "0")), [])
                }
            });
            match conclusion {
                Conclusion::Dependent(found) => Some(found.spec.level()),
                _ => None,
            }
        };
        assert_eq!(found(&bytes, &[]), Some(Level::Std));
        assert_eq!(found(&site(1), &[]), None);
        assert_eq!(found(&site(1), &[Level::One]), Some(Level::Std));
    }

    #[test]
    fn no_seed_is_further_than_itself() {
        let mut options = with_further(Some(ExperimentPurpose::Extend));
        assert_eq!(first_untried(&options), SEEDS as u64);
        options.seeds = vec![3, 400];
        assert_eq!(seeds(&options).last(), Some(SEEDS as u64 - 2));
        assert_eq!(first_untried(&options), 401);
        options.further_seeds = None;
        options.seeds = (0..10).collect();
        assert_eq!(first_untried(&options), 10);
    }

    fn made_at(level: Level, options: &Options, evidence: &Evidence) -> usize {
        super::made(Question::new("t", options, evidence), level).len()
    }

    #[test]
    fn nothing_more_is_tried_once_the_budget_is_spent_or_a_schedule_does_not_end() {
        let options = with_further(Some(ExperimentPurpose::Extend));
        let tried = |ends: bool, exploring: bool| {
            let mut evidence = Evidence::new(true);
            evidence.add(options.clean_spec("t"), fails_rarely(true, 2, &options.clean_spec("t")));
            evidence.spend(Spent { exploring, ..Spent::default() });
            let ask = |evidence: &Evidence| {
                answered_specs(Question::new("t", &options, evidence), true, false)
            };
            settle(&mut evidence, ask, |evidence, spec: RunSpec, _| {
                let mut run = fails_rarely(true, 2, &spec);
                if !ends {
                    run.outcome = Outcome::TimedOut;
                }
                evidence.add(spec, run);
            })
            .len()
        };
        assert_eq!(tried(true, false), 32);
        assert_eq!(tried(false, false), 1);
        assert_eq!(tried(true, true), 0);
    }

    #[test]
    fn a_test_that_a_plain_build_shows_to_be_flaky_has_further_seeds_before_it_is_called_unknown() {
        let judged = |passing: u64, threads: u64| {
            let options = options();
            let mut runs = Runs::new(true, false);
            runs.plain = Some(PlainBuild::Runs([3 - passing, 3]));
            let ask = |runs: &Runs| {
                conclude("t", &options, Available::default(), runs).map_err(|need| match need {
                    Need::Runs(missing) => missing,
                    other => panic!("{other:?}"),
                })
            };
            let Judgement { conclusion, .. } = settle(&mut runs, ask, |runs, spec: RunSpec, _| {
                let run = fails_rarely(false, threads, &spec);
                runs.together.add(spec, run);
            });
            conclusion
        };
        // With one thread or two: an order may decide as well.
        for threads in [1, 2] {
            assert_eq!(judged(0, threads), Conclusion::Broken);
            assert_eq!(judged(3, threads), Conclusion::FailsOnlyHere);
            assert!(matches!(judged(1, threads), Conclusion::Dependent(_)), "{threads}");
        }
    }
}
