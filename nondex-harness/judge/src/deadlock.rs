//! Recognises proven deadlocks, and tests that only fail after more virtual time than their limit
//! allows of real time.
//!
//! A deadlock is proven if all threads wait for each other and nothing outside the test could wake
//! one of them. A run with real threads that deadlocks takes its whole time limit and shows nothing
//! more. So if the clean runs deadlock, runs with real threads and in a plain build get a shorter
//! limit. It is somewhat longer than the test needs to reach the deadlock or to start waiting. If
//! the test also passes under some schedule, the canonical schedule is not at fault: both outcomes
//! are valid.

use std::time::Duration;

use nondex_core::{RunSpec, ScheduleEndKind, Source};

use super::evidence::Evidence;
use super::run::Run;

/// Minimum limit of a run with real threads.
const LEAST: Duration = Duration::from_secs(2);

/// Factor of the real and virtual duration of the scheduled runs that is added to the limit.
const PROPORTION: u32 = 4;

/// Returns whether a run ended in a proven deadlock.
pub fn is_proven(run: &Run) -> bool {
    let end = run.schedule_end();
    end.is_some_and(|end| end.kind == ScheduleEndKind::Deadlock)
}

/// Returns whether a run shows that it would take its whole time limit with real threads. Either it
/// ended in a proven deadlock, or it slept beyond the limit before it failed or was ended. In the
/// second case the test must not have waited for anything outside.
pub fn has_no_end(run: &Run) -> bool {
    let is_closed = run.schedule.as_ref().is_some_and(|schedule| schedule.outside == 0)
        && !run.sources.contains(&Source::Child);
    is_proven(run) || !run.passed() && is_too_long(run) && is_closed
}

/// Returns whether a run slept for longer than its limit allows in real time.
fn is_too_long(run: &Run) -> bool {
    let is_of_time = run.schedule_end().is_some_and(|end| end.kind == ScheduleEndKind::Time);
    run.oversleeps() || is_of_time && !run.limit.is_zero() && run.virtual_time() > run.limit
}

/// Returns whether the scheduler ended a run because only events from outside could wake a thread,
/// and none came for long.
pub(super) fn waits_for_others(run: &Run) -> bool {
    let end = run.schedule_end();
    end.is_some_and(|end| end.kind == ScheduleEndKind::Outside)
}

/// Returns whether these clean runs are those of a test that [has no end](has_no_end) in canonical
/// order.
pub(super) fn have_no_end(clean: &[Run]) -> bool {
    !clean.is_empty() && clean.iter().all(has_no_end)
}

/// Returns whether a spec is that of a run with real threads in canonical order.
pub(super) fn is_natural(spec: &RunSpec) -> bool {
    !spec.is_scheduled() && spec.is_clean()
}

/// Returns whether a spec is that of a scheduled run in canonical order without additional
/// recording.
fn is_clean(spec: &RunSpec) -> bool {
    spec.is_scheduled() && spec.is_clean() && spec.operations() == 0
}

/// Returns the limit of runs with real threads of a test that has no end in canonical order, if it
/// is shorter than usual.
pub fn limit(usual: Duration, evidence: &Evidence) -> Option<Duration> {
    let clean = || evidence.all().filter(|(spec, _)| is_clean(spec));
    if clean().next().is_none() || !clean().all(|(_, run)| has_no_end(run)) {
        return None;
    }
    let needed = clean().map(|(_, run)| needed(run));
    let limit = LEAST + needed.max()?;
    (limit < usual).then_some(limit)
}

/// Returns the duration that a run with real threads needs for what this scheduled run did, rounded
/// up to tenths of a second.
fn needed(run: &Run) -> Duration {
    // In real time the run does not get past this sleep anyway.
    let slept = if is_too_long(run) { Duration::ZERO } else { run.virtual_time() };
    let own = run.took + slept;
    let tenths = own.saturating_mul(PROPORTION).as_millis().div_ceil(100);
    Duration::from_millis(
        u64::try_from(tenths).map_or(u64::MAX, |tenths| tenths.saturating_mul(100)),
    )
}

/// Returns the limit of a test with real threads when only runs to a proven deadlock matter. `run`
/// is its first scheduled run, if known. The usual limit applies if it is shorter.
pub fn limit_together(run: Option<&Run>) -> Duration {
    const UNKNOWN: Duration = Duration::from_secs(8);
    LEAST + run.map_or(UNKNOWN, needed)
}

/// Returns the limit of these runs if all are such runs with real threads and the limit is shorter
/// than usual.
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
        /// All threads wait, but a signal might arrive.
        Waits,
        /// One thread waits, and another one sleeps repeatedly.
        Sleeps,
    }

    use End::{Deadlocks, Passes, Sleeps, Waits};

    /// Judges a test of two threads that ends like this in canonical order, with a seed, and with
    /// real threads. Also returns how long runs were waited for that did not end, and whether the
    /// test was judged with real threads.
    fn judged(ends: [End; 3], timeout: Duration) -> (Conclusion, Duration, bool) {
        let options = Options { timeout, ..options() };
        let (conclusion, evidence) =
            simulate_within(&options, |spec, limit| ended(spec, end_of(spec, ends), limit));
        let cut = evidence.all().filter(|(_, run)| run.outcome == Outcome::TimedOut);
        let waited = cut.map(|(_, run)| run.limit).sum();
        let is_natural = known(Question::new("t", &options, &evidence)).real_threads;
        (conclusion, waited, is_natural)
    }

    /// Returns how a run of a test with these ends in canonical order, with a seed, and with real
    /// threads ends.
    fn end_of(spec: &RunSpec, [base, seeded, natural]: [End; 3]) -> End {
        match spec {
            spec if !spec.is_scheduled() => natural,
            spec if spec.is_clean() => base,
            spec if spec.draws_all() && spec.seed() % 3 != 1 => base,
            _ => seeded,
        }
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
            // If it never passes with the scheduler and always passes without, it is no deadlock.
            ([Deadlocks, Deadlocks, Passes], |found| *found == Conclusion::Stable),
        ] {
            let (short, waited, is_natural) = judged(ends, Duration::from_secs(60));
            assert!(is_as_expected(&short), "{short:?}");
            assert!(waited < LEAST + Duration::from_secs(1), "{waited:?}");
            // A short limit is not shortened further.
            let (long, all, other) = judged(ends, LEAST);
            assert_eq!((&short, is_natural), (&long, other));
            assert!(all == Duration::ZERO || all.as_secs() >= 2, "{all:?}");
        }
    }

    #[test]
    fn the_operations_that_led_to_a_deadlock_in_canonical_order_are_recorded() {
        for (ends, recorded) in [
            ([Deadlocks; 3], 1),
            ([Deadlocks, Passes, Deadlocks], 1),
            ([Passes, Deadlocks, Passes], 0),
        ] {
            let (_, evidence) =
                simulate_within(&options(), |spec, limit| ended(spec, end_of(spec, ends), limit));
            let shown = evidence.all().filter(|(spec, _)| spec.is_clean() && spec.operations() > 0);
            assert_eq!(shown.count(), recorded, "{recorded}");
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
        // It may wait for a child.
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
