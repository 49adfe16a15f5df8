//! Finds levels that only limit how long a thread that is alone is delayed.
//!
//! In a test of one thread, nothing else happens during a delay: time passes, up to 20 ms at STD
//! and up to an hour at FULL. A test that misses a margin after some delay misses it after any
//! longer one. FULL draws delays of every length, half of them a quarter of an hour or longer. So
//! where a test passes at STD and FULL, the levels between could only show that it fails after some
//! delays and passes after longer ones. One seed is tried there, unless a run fails.

use nondex_core::{Family, Level, Model, PointRecord, choice, model};

use super::question::Question;
use super::run::Run;
use super::unseen;

/// Returns whether `level` limits nothing but the delays of a thread that is alone, apart from
/// [unobserved](unseen) orders, and levels around it are requested.
pub(super) fn is_between(question: Question<'_>, level: Level) -> bool {
    let (options, evidence) = (question.options, question.evidence);
    let are_around = [Level::Std, Level::Full].iter().all(|level| options.levels.contains(level));
    if !options.prune || !are_around || matches!(level, Level::Std | Level::Full) {
        return false;
    }
    let is_alone = |run: &Run| run.passed() && run.complete && !run.lost && !run.has_threads();
    if !evidence.all().all(|(_, run)| is_alone(run)) {
        return false;
    }
    let varies = |point: &&PointRecord| point.site.family.varies(level);
    let points = evidence.all().flat_map(|(_, run)| run.points.iter());
    let mut varying = points.filter(varies).peekable();
    let is_covered = |point: &PointRecord| {
        let site = &point.site;
        let is_time = site.family == Family::Time
            && Model::by_api(&site.api)
                .is_some_and(|model| shows_no_other_age(model, level, &options.levels));
        is_time || unseen::is_between(level, site, options)
    };
    varying.peek().is_some() && varying.all(is_covered)
}

/// Returns whether every age of a time that a call of `model` shows at `level` is also shown at
/// other ones of the requested `levels`.
fn shows_no_other_age(model: &Model, level: Level, levels: &[Level]) -> bool {
    let age = choice::clock::oldest(model, level);
    // A clock that stands still at some level does so for longer at FULL. The one of the date goes
    // back there instead.
    let is_at_full = model.api == model::INSTANT_NOW.api;
    let is_at_weaker = || {
        let mut weaker = levels.iter().filter(|weaker| **weaker < level);
        weaker.any(|weaker| choice::clock::oldest(model, *weaker) == age)
    };
    age == 0 || is_at_full || is_at_weaker()
}

#[cfg(test)]
mod tests {
    use nondex_core::{Outcome, RunSpec, ScheduleRecord, Site};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::options::Options;
    use crate::simulation::{options, point, run, runs_at, simulate, site};

    /// Returns the run of a test of this number of threads that reaches choices of these calls.
    fn reached(threads: u64, apis: &[(&str, Family)]) -> Run {
        let points = apis
            .iter()
            .map(|(api, family)| point(Site { api: (*api).into(), family: *family, ..site(1) }));
        Run {
            points: points.collect(),
            schedule: Some(ScheduleRecord { threads, ..ScheduleRecord::default() }),
            ..run(true, [])
        }
    }

    const ELAPSED: (&str, Family) = ("std::time::Instant::elapsed", Family::Time);
    const INSTANT: (&str, Family) = ("std::time::Instant::now", Family::Time);
    const DATE: (&str, Family) = ("std::time::SystemTime::now", Family::Time);
    const KEYS: (&str, Family) = ("std::hash::RandomState::new", Family::HashKeys);
    const DROPPED: (&str, Family) = ("std::collections::HashMap::drop", Family::HashMap);
    const ORDER: (&str, Family) = ("std::collections::HashMap::iter", Family::HashMap);

    #[test]
    fn delays_of_one_thread_have_all_seeds_at_two_levels_and_one_at_those_between() {
        let few = [10, 1, 1, 1, 10];
        let all = [10; 5];
        for (threads, apis, expected) in [
            (1, &[ELAPSED][..], few),
            (1, &[ELAPSED, INSTANT, KEYS], few),
            (1, &[ELAPSED, DROPPED], few),
            // Two dates may be equal at ONE and the levels above, and differ by an hour at FULL.
            (1, &[ELAPSED, DATE], [10, 10, 1, 1, 10]),
            (2, &[ELAPSED], all),
            (1, &[ELAPSED, ORDER], all),
        ] {
            let made = |prune| {
                let options = Options { prune, ..options() };
                let (conclusion, evidence) = simulate(&options, |_| reached(threads, apis));
                assert_eq!(conclusion, Conclusion::Stable);
                Level::ALL.map(|level| runs_at(&evidence, level))
            };
            assert_eq!(made(true), expected, "{threads} {apis:?}");
            assert_eq!(made(false), all);
        }
    }

    #[test]
    fn where_the_levels_around_are_not_requested_those_between_have_all_seeds() {
        for levels in [&[Level::One, Level::Full][..], &[Level::Std, Level::Eq]] {
            let options = Options { levels: levels.to_vec(), ..options() };
            let (_, evidence) = simulate(&options, |_| reached(1, &[ELAPSED]));
            assert!(levels.iter().all(|level| runs_at(&evidence, *level) == 10), "{levels:?}");
        }
    }

    #[test]
    fn a_margin_that_is_missed_is_judged_as_if_every_seed_had_been_tried() {
        /// Delays of one seed at each level, as a fraction of the longest one.
        const LONGEST: [u64; 5] = [20, 100, 1_000, 10_000, 3_600_000];
        for margin in [1, 15, 70, 800, 5_000, 2_000_000] {
            let fails = |spec: &RunSpec| {
                let longest = LONGEST[spec.level() as usize];
                let delay = if spec.draws_all() { longest * (spec.seed() % 8) / 8 } else { 0 };
                let outcome = if delay > margin { Outcome::Failed } else { Outcome::Passed };
                Run { outcome, ..reached(1, &[ELAPSED, INSTANT]) }
            };
            let found = |prune| match simulate(&Options { prune, ..options() }, fails).0 {
                Conclusion::Dependent(found) => found.spec,
                other => panic!("{margin}: {other:?}"),
            };
            assert_eq!(found(true), found(false), "{margin}");
        }
    }
}
