//! Deadlocks that are proven: all threads wait for each other, and nobody else in the world could
//! let one go on. And tests that fail only after more virtual time than their limit allows of real
//! time.
//!
//! A run with real threads that comes to such an end takes its whole time limit, and shows no more
//! than that. So where the clean runs end in it, other runs may only take somewhat longer than the
//! test needs to get there, or to begin to wait: the one with real threads, and those of a plain
//! build. Nor is the base
//! schedule of a test at fault that also passes when it is scheduled: then both ends are lawful,
//! and its own.

use std::time::Duration;

use nondex_core::{RunSpec, ScheduleEndKind, Source};

use super::evidence::Evidence;
use super::run::Run;

/// How long a run with real threads is waited for at least.
const LEAST: Duration = Duration::from_secs(2);

/// How many times as long as the scheduled runs took, in real and in virtual time, it is waited for
/// beyond that.
const PROPORTION: u32 = 4;

/// Whether a run came to a proven deadlock.
pub fn is_proven(run: &Run) -> bool {
    let end = run.schedule_end();
    end.is_some_and(|end| end.kind == ScheduleEndKind::Deadlock)
}

/// Whether a run shows that it takes its whole time limit with real threads: it came to a proven
/// deadlock, or slept beyond the limit before it failed or was ended, and waited for nobody
/// outside.
pub fn has_no_end(run: &Run) -> bool {
    let is_closed = run.schedule.as_ref().is_some_and(|schedule| schedule.outside == 0)
        && !run.sources.contains(&Source::Child);
    is_proven(run) || !run.passed() && is_too_long(run) && is_closed
}

/// Whether a run would not have ended within its limit in real time, for which it slept.
fn is_too_long(run: &Run) -> bool {
    let is_of_time = run.schedule_end().is_some_and(|end| end.kind == ScheduleEndKind::Time);
    run.oversleeps() || is_of_time && !run.limit.is_zero() && run.virtual_time() > run.limit
}

/// Whether a run ended because nothing but the world outside could have let a thread go on, and did
/// not for long.
pub(super) fn waits_for_others(run: &Run) -> bool {
    let end = run.schedule_end();
    end.is_some_and(|end| end.kind == ScheduleEndKind::Outside)
}

/// Whether these are the runs of a test that [has no end](has_no_end) in canonical order.
pub(super) fn have_no_end(clean: &[Run]) -> bool {
    !clean.is_empty() && clean.iter().all(has_no_end)
}

/// Whether a spec is that of a run with real threads in canonical order.
pub(super) fn is_natural(spec: &RunSpec) -> bool {
    !spec.is_scheduled() && spec.is_clean()
}

/// Whether a spec is that of a scheduled run in canonical order of which nothing more is recorded
/// than usual.
fn is_clean(spec: &RunSpec) -> bool {
    spec.is_scheduled() && spec.is_clean() && spec.operations() == 0
}

/// How long runs with real threads may take of a test that has no end in canonical order, if that
/// is less than usual.
pub fn limit(usual: Duration, evidence: &Evidence) -> Option<Duration> {
    let clean = || evidence.all().filter(|(spec, _)| is_clean(spec));
    if clean().next().is_none() || !clean().all(|(_, run)| has_no_end(run)) {
        return None;
    }
    let needed = clean().map(|(_, run)| needed(run));
    let limit = LEAST + needed.max()?;
    (limit < usual).then_some(limit)
}

/// How long a run with real threads may take that does what this scheduled one did, in tenths of a
/// second.
fn needed(run: &Run) -> Duration {
    // It does not get there in real time anyway.
    let slept = if is_too_long(run) { Duration::ZERO } else { run.virtual_time() };
    let own = run.took + slept;
    let tenths = own.saturating_mul(PROPORTION).as_millis().div_ceil(100);
    Duration::from_millis(
        u64::try_from(tenths).map_or(u64::MAX, |tenths| tenths.saturating_mul(100)),
    )
}

/// Time limit of a test with real threads, whose first scheduled run is given where it is known,
/// when only runs to a proven deadlock matter: where the usual limit is less, that is meant.
pub fn limit_together(run: Option<&Run>) -> Duration {
    const UNKNOWN: Duration = Duration::from_secs(8);
    LEAST + run.map_or(UNKNOWN, needed)
}

/// How long these runs may take, if all are of such tests with real threads, and that is less than
/// usual.
pub(super) fn limit_of(
    specs: &[RunSpec],
    usual: Duration,
    evidence: &Evidence,
) -> Option<Duration> {
    let limit = || limit(usual, evidence);
    specs.iter().all(is_natural).then(limit).flatten()
}

#[cfg(test)]
mod tests {
    use crate::question::Question;
    use nondex_core::choice::hold::longest;
    use nondex_core::{
        Family, Level, Outcome, PointRecord, ScheduleEnd, ScheduleRecord, Site, Source,
    };

    use super::*;
    use crate::Options;
    use crate::conclusion::Conclusion;
    use crate::simulation::{options, point, run, simulate_within, site};
    use crate::threads::known;

    /// How a simulated test ends.
    #[derive(Clone, Copy, PartialEq)]
    enum End {
        Passes,
        Deadlocks,
        /// All wait, and a signal might come.
        Waits,
        /// One waits, and another one sleeps again and again.
        Sleeps,
    }

    use End::{Deadlocks, Passes, Sleeps, Waits};

    /// What is concluded of a test of two threads that ends so in canonical order, with a seed, and
    /// with real threads; how long runs were waited for that did not end, and whether it was judged
    /// with real threads.
    fn judged(ends: [End; 3], timeout: Duration) -> (Conclusion, Duration, bool) {
        let options = Options { timeout, ..options() };
        let (conclusion, evidence) = simulate_within(&options, |spec, limit| {
            let [base, seeded, natural] = ends;
            let end = match spec {
                spec if !spec.is_scheduled() => natural,
                spec if spec.is_clean() => base,
                spec if spec.draws_all() && spec.seed() % 3 != 1 => base,
                _ => seeded,
            };
            ended(spec, end, limit)
        });
        let cut = evidence.all().filter(|(_, run)| run.outcome == Outcome::TimedOut);
        let waited = cut.map(|(_, run)| run.limit).sum();
        let is_natural = known(Question::new("t", &options, &evidence)).real_threads;
        (conclusion, waited, is_natural)
    }

    fn ended(spec: &RunSpec, end: End, limit: Duration) -> Run {
        let hangs = !spec.is_scheduled() && end != Passes;
        let site = Site { api: "std::thread::spawn".into(), family: Family::Schedule, ..site(1) };
        let point = PointRecord { count: 1, max_len: longest(spec.level()), ..point(site) };
        let kind = match end {
            Passes => None,
            Deadlocks => Some(ScheduleEndKind::Deadlock),
            Waits => Some(ScheduleEndKind::Outside),
            Sleeps => Some(ScheduleEndKind::Time),
        };
        let waits = Vec::new();
        Run {
            outcome: match end {
                Passes => Outcome::Passed,
                _ if hangs => Outcome::TimedOut,
                Deadlocks | Waits | Sleeps => Outcome::Failed,
            },
            points: [point].into(),
            sources: vec![Source::Thread],
            took: if hangs { limit } else { Duration::from_millis(5) },
            limit,
            schedule: spec.is_scheduled().then(|| ScheduleRecord {
                threads: 2,
                time_us: if end == Sleeps { 3_600_000_000 } else { 1_000 },
                end: kind.map(|kind| ScheduleEnd { kind, waits }),
                ..ScheduleRecord::default()
            }),
            ..run(end == Passes, [])
        }
    }

    #[test]
    fn a_proven_deadlock_is_told_soon_and_as_if_each_run_had_been_waited_for() {
        for (ends, is_as_expected) in [
            ([Deadlocks; 3], (|found| *found == Conclusion::Broken) as fn(&Conclusion) -> bool),
            ([Sleeps; 3], |found| *found == Conclusion::Broken),
            ([Sleeps, Passes, Sleeps], |found| matches!(found, Conclusion::Dependent(_))),
            ([Deadlocks, Passes, Deadlocks], |found| matches!(found, Conclusion::Dependent(_))),
            ([Deadlocks, Passes, Passes], |found| matches!(found, Conclusion::Dependent(_))),
            ([Passes, Deadlocks, Passes], |found| matches!(found, Conclusion::Dependent(_))),
            // What the scheduler never lets pass, and passes always without it, is no deadlock.
            ([Deadlocks, Deadlocks, Passes], |found| *found == Conclusion::Stable),
        ] {
            let (short, waited, is_natural) = judged(ends, Duration::from_secs(60));
            assert!(is_as_expected(&short), "{short:?}");
            assert!(waited < LEAST + Duration::from_secs(1), "{waited:?}");
            // A limit that is short already is not shortened.
            let (long, all, other) = judged(ends, LEAST);
            assert_eq!((&short, is_natural), (&long, other));
            assert!(all == Duration::ZERO || all.as_secs() >= 2, "{all:?}");
        }
    }

    #[test]
    fn a_test_that_fails_after_an_hour_of_virtual_time_is_not_waited_for() {
        let usual = Duration::from_secs(60);
        let judged = |sources: &[Source]| {
            let options = Options { timeout: usual, ..options() };
            let (conclusion, evidence) = simulate_within(&options, |spec, limit| {
                let mut run = ended(spec, Passes, limit);
                let is_natural = !spec.is_scheduled();
                run.outcome = if is_natural { Outcome::TimedOut } else { Outcome::Failed };
                (run.took, run.limit) = (if is_natural { limit } else { run.took }, limit);
                run.sources = sources.to_vec();
                if let Some(schedule) = &mut run.schedule {
                    (schedule.threads, schedule.time_us) = (1, 3_600_000_000);
                }
                run
            });
            let waited = evidence.all().filter(|(spec, _)| !spec.is_scheduled());
            (conclusion, waited.map(|(_, run)| run.took).sum::<Duration>())
        };
        let (found, waited) = judged(&[Source::Sleep]);
        assert_eq!(found, Conclusion::Broken);
        assert!(waited < LEAST + Duration::from_secs(1), "{waited:?}");
        // A child may be what it waits for.
        let (found, waited) = judged(&[Source::Sleep, Source::Child]);
        assert_eq!((found, waited), (Conclusion::Broken, usual));
    }

    #[test]
    fn what_somebody_else_might_end_is_waited_for_with_real_threads() {
        let (found, waited, _) = judged([Waits; 3], Duration::from_secs(60));
        assert_eq!(found, Conclusion::Broken);
        assert_eq!(waited, Duration::from_secs(60), "once");
        let (found, _, is_natural) = judged([Waits, Waits, Passes], Duration::from_secs(60));
        assert_eq!((found, is_natural), (Conclusion::Stable, true));
    }

    #[test]
    fn the_others_of_its_process_are_given_as_long_as_each_of_them_needs() {
        let mut run = ended(&RunSpec::clean("t"), Deadlocks, Duration::ZERO);
        run.took = Duration::from_millis(123);
        run.schedule = None;
        assert_eq!(limit_together(Some(&run)), Duration::from_millis(2_500));
        assert_eq!(limit_together(None), Duration::from_secs(10));
    }

    #[test]
    fn a_test_that_sleeps_before_its_deadlock_is_given_that_time() {
        let options = options();
        let mut evidence = Evidence::new(true);
        for _ in 0..2 {
            let spec = options.clean_spec("t");
            let mut run = ended(&spec, Deadlocks, Duration::ZERO);
            run.schedule.as_mut().unwrap().time_us = 3_000_000;
            evidence.add(spec, run);
        }
        let shortened = limit(Duration::from_secs(60), &evidence).unwrap();
        assert!((12..16).contains(&shortened.as_secs()), "{shortened:?}");
        assert_eq!(limit(Duration::from_secs(5), &evidence), None);
        let seed = RunSpec::new("t", Level::Std, 1);
        let natural = options.natural_spec("t");
        let usual = Duration::from_secs(60);
        assert_eq!(limit_of(std::slice::from_ref(&natural), usual, &evidence), Some(shortened));
        assert_eq!(limit_of(&[natural, seed], usual, &evidence), None);
    }
}
