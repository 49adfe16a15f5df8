//! Finds levels that only limit how long threads are delayed.
//!
//! In a test of one thread, nothing else happens during a delay: time passes, up to 20 ms at STD
//! and up to an hour at FULL. A test that misses a margin after some delay misses it after any
//! longer one. FULL draws delays of every length, half of them a quarter of an hour or longer. So
//! where a test passes at STD and FULL, the levels between could only show that it fails after some
//! delays and passes after longer ones. One seed is tried there, unless a run fails. STD has a few
//! seeds more, because delays of its length are those of a loaded machine.
//!
//! In a test of several threads that uses no time, others run during a delay. It ends no wait, so a
//! delay beyond the time that the others take is like any longer one. The levels between STD and
//! FULL have one seed there, too.

use std::cell::LazyCell;

use nondex_core::{Family, Level, Model, PointRecord, Site, choice, model};

use super::question::Question;
use super::timing::is_timing;
use super::{alike, clock_start, unseen};

/// Number of seeds at STD for a test of one thread.
const AT_STD: usize = 3;

/// Number of seeds at a level where dates may be equal as at no weaker level. Each draws whether a
/// clock stands still as long as it may.
const OF_DATES: usize = 5;

/// Returns whether `level` limits nothing but delays, apart from [unobserved](unseen) orders, and
/// levels around it are requested.
pub(super) fn is_between(question: Question<'_>, level: Level) -> bool {
    let is_around = matches!(level, Level::Std | Level::Full);
    !is_around && seeds(question, level) == Some(1)
}

/// Returns the number of seeds that suffice at a level that limits nothing but delays; `None` for
/// other levels, and if a run failed.
pub(super) fn seeds(question: Question<'_>, level: Level) -> Option<usize> {
    let (options, evidence) = (question.options, question.evidence);
    let are_around = [Level::Std, Level::Full].iter().all(|level| options.levels.contains(level));
    if !options.prune || !are_around || level == Level::Full {
        return None;
    }
    let mut all = evidence.all().map(|(_, run)| run);
    if !all.all(|run| run.passed() && run.complete && !run.lost) {
        return None;
    }
    let is_alone = !evidence.all().any(|(_, run)| run.has_threads());
    let points = || evidence.all().flat_map(|(_, run)| run.points.iter());
    let uses_time = |point: &PointRecord| point.site.family == Family::Time;
    if !is_alone && (level == Level::Std || points().any(uses_time)) {
        return None;
    }
    let varies = |point: &&PointRecord| point.site.family.varies(level);
    let orders_are_alike = LazyCell::new(|| alike::orders_are_as_at_weaker(question, level));
    let of_sites = points().filter(varies).map(|point| {
        let site = &point.site;
        if is_timing(site) {
            return seeds_of_delays(level, site, &options.levels);
        }
        let is_covered = clock_start::is_start(site)
            || unseen::is_between(level, site, options)
            || site.family.is_of_orders() && *orders_are_alike;
        is_covered.then_some(1)
    });
    let number = of_sites.reduce(|one, other| Some(one?.max(other?)))??;
    Some(if level == Level::Std { number.max(AT_STD) } else { number })
}

/// Returns the number of seeds that suffice at `level`, one of the requested `levels`, for the
/// delays or times at `site`. Returns `None` if they need all.
fn seeds_of_delays(level: Level, site: &Site, levels: &[Level]) -> Option<usize> {
    let model = Model::by_api(&site.api)?;
    if shows_no_other_age(model, level, levels) {
        return Some(1);
    }
    (model.api == model::SYSTEM_TIME_NOW.api).then_some(OF_DATES)
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
    use nondex_core::{Outcome, RunSpec, ScheduleRecord};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::options::Options;
    use crate::run::Run;
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
    const START: (&str, Family) = ("clock_gettime", Family::Entropy);
    const SPAWN: (&str, Family) = ("std::thread::spawn", Family::Schedule);
    const DATE: (&str, Family) = ("std::time::SystemTime::now", Family::Time);
    const KEYS: (&str, Family) = ("std::hash::RandomState::new", Family::HashKeys);
    const DROPPED: (&str, Family) = ("std::collections::HashMap::drop", Family::HashMap);
    const ORDER: (&str, Family) = ("std::collections::HashMap::iter", Family::HashMap);

    #[test]
    fn delays_that_end_no_wait_have_all_seeds_at_one_or_two_levels_and_few_at_the_others() {
        let few = [3, 1, 1, 1, 10];
        let all = [10; 5];
        for (threads, apis, expected) in [
            (1, &[ELAPSED][..], few),
            (1, &[ELAPSED, INSTANT, START], few),
            (1, &[ELAPSED, KEYS], [10, 1, 1, 1, 10]),
            (1, &[ELAPSED, DROPPED], [10, 1, 1, 1, 10]),
            // Two dates may be equal at ONE and the levels above, and differ by an hour at FULL.
            (1, &[ELAPSED, DATE], [3, 5, 1, 1, 10]),
            (2, &[ELAPSED], all),
            // One more run starts the search through all schedules.
            (2, &[SPAWN], [11, 1, 1, 1, 10]),
            (2, &[SPAWN, DROPPED], [11, 1, 1, 1, 10]),
            (2, &[SPAWN, ELAPSED], all),
            (1, &[ELAPSED, ORDER], all),
        ] {
            let made = |prune| {
                let options = Options { prune, ..options() };
                let (conclusion, evidence) = simulate(&options, |_| reached(threads, apis));
                assert_eq!(conclusion, Conclusion::Stable);
                Level::ALL.map(|level| runs_at(&evidence, level))
            };
            assert_eq!(made(true), expected, "{threads} {apis:?}");
            assert_eq!(made(false), all, "{threads} {apis:?}");
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
        let kinds = [(1, &[ELAPSED, INSTANT][..]), (2, &[SPAWN])];
        let margins = [1, 15, 70, 800, 5_000, 2_000_000];
        for ((threads, apis), margin) in
            kinds.into_iter().flat_map(|kind| margins.map(|margin| (kind, margin)))
        {
            let fails = |spec: &RunSpec| {
                let longest = LONGEST[spec.level() as usize];
                let delay = if spec.draws_all() { longest * (spec.seed() % 8) / 8 } else { 0 };
                let outcome = if delay > margin { Outcome::Failed } else { Outcome::Passed };
                Run { outcome, ..reached(threads, apis) }
            };
            assert_eq!(found(true, fails), found(false, fails), "{threads} {margin}");
        }
    }

    #[test]
    fn equal_dates_are_judged_as_if_every_seed_had_been_tried() {
        for seed in 0..OF_DATES as u64 {
            let fails = |spec: &RunSpec| {
                let is_equal = spec.draws_all() && spec.level() >= Level::One;
                let is_failing = is_equal && spec.seed() == seed;
                let outcome = if is_failing { Outcome::Failed } else { Outcome::Passed };
                Run { outcome, ..reached(1, &[ELAPSED, DATE]) }
            };
            assert_eq!(found(true, fails), found(false, fails), "{seed}");
        }
    }

    /// Returns the spec under which a test with such runs is found to fail.
    fn found(prune: bool, fails: impl Fn(&RunSpec) -> Run) -> RunSpec {
        match simulate(&Options { prune, ..options() }, fails).0 {
            Conclusion::Dependent(found) => found.spec,
            other => panic!("{other:?}"),
        }
    }
}
