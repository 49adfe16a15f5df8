//! Judges a test with one fixed set of choices, and whether two such runs are equal.
//!
//! In canonical order, all choices are those of a clean run; with a seed, they are those of this
//! seed at `STD`. Nothing is searched. A test that fails with a seed and passes in canonical order
//! depends on a choice, and a campaign shows on which.

use nondex_core::{PointRecord, ScheduleRecord};

use super::conclusion::{Conclusion, Dependence};
use super::culprit::Culprits;
use super::deadlock;
use super::missing::Missing;
use super::question::Question;
use super::run::Run;
use super::timing::is_of_file_time;
use super::world::World;

/// Returns the conclusion about the test with these choices. Here a test is stable if it passes.
///
/// # Errors
/// Returns the runs to make first.
pub(super) fn judge(question: Question<'_>, world: &World) -> Result<Conclusion, Missing> {
    let test = question.test;
    let (options, evidence) = (question.options, question.evidence);
    let spec = options.world_spec(test, world);
    let runs = evidence.made(&spec, world.runs())?;
    let real = options.with_real_threads();
    let real_spec = || real.world_spec(test, world);
    // Without a proof, the scheduler may be why nothing happens: a call that a signal interrupts
    // does not return, for example.
    let is_unproven = |run: &Run| run.schedule_end().is_some() && !deadlock::is_proven(run);
    if options.is_scheduled()
        && (runs.iter().any(Run::has_no_outcome)
            || runs.iter().any(is_unproven) && evidence.made(&real_spec(), 1)?[0].passed())
    {
        return judge(question.with_options(&real), world);
    }
    let passes = runs[0].passed();
    if runs.iter().any(|run| run.passed() != passes) {
        return Ok(Conclusion::NonDeterministic { spec: Box::new(spec) });
    }
    if passes {
        if world.verify && !are_same(&runs[0], &runs[1]) {
            evidence.made(&options.shown_world_spec(test, world), world.runs())?;
        }
        return Ok(Conclusion::Stable);
    }
    if spec.is_clean() || !evidence.made(&question.clean_spec(), 1)?[0].passed() {
        return Ok(Conclusion::Broken);
    }
    Ok(Conclusion::Dependent(Box::new(Dependence {
        passes_clean: true,
        spec,
        culprits: Culprits::default(),
        is_cut: false,
    })))
}

/// Returns whether two runs of one spec were equal, as far as both were recorded. Compares the
/// outcomes, the choices that they reached, what their threads did, and their output.
pub fn are_same(first: &Run, second: &Run) -> bool {
    let message = |run: &Run| run.failure.as_ref().map(|failure| failure.message.clone());
    let points = |run: &Run| -> Vec<PointRecord> {
        run.points.iter().filter(|point| !is_of_file_time(&point.site)).cloned().collect()
    };
    // If something outside decides when a thread continues, the operations of threads may differ
    // too.
    let course = |run: &Run| {
        let schedule = run.schedule.as_ref()?;
        Some((schedule.steps, schedule.switches, schedule.time_us))
    };
    let is_repeatable = [first, second]
        .iter()
        .all(|run| run.schedule.as_ref().is_none_or(ScheduleRecord::is_repeatable));
    first.outcome == second.outcome
        && message(first) == message(second)
        && (first.points == second.points || points(first) == points(second))
        && first.choices == second.choices
        && first.written == second.written
        && (!is_repeatable || course(first) == course(second))
}

#[cfg(test)]
mod tests {
    use crate::options::Options;
    use nondex_core::{Family, ScheduleEnd, ScheduleEndKind, Site, model};

    use super::*;
    use crate::simulation::{made, options, point, run, simulate, site};

    fn in_world(seed: Option<u64>, verify: bool) -> Options {
        Options { world: Some(World { seed, verify }), ..options() }
    }

    #[test]
    fn a_test_that_passes_runs_once_or_twice_if_that_is_verified() {
        for (verify, runs) in [(false, 1), (true, 2)] {
            let (found, evidence) = simulate(&in_world(None, verify), |_| run(true, [1]));
            assert_eq!(found, Conclusion::Stable);
            assert_eq!(evidence.count(), runs);
        }
    }

    #[test]
    fn runs_that_differ_are_made_again_with_their_operations() {
        let mut count = 0;
        let (found, evidence) = simulate(&in_world(None, true), |_| {
            count += 1;
            run(true, [count])
        });
        assert_eq!(found, Conclusion::Stable);
        let shown = evidence.specs().filter(|(spec, _)| spec.operations() > 0);
        assert_eq!(shown.map(|(_, runs)| runs.len()).sum::<usize>(), 2);
    }

    #[test]
    fn runs_that_differ_in_a_tick_of_the_kernel_between_two_writes_are_the_same() {
        let site =
            Site { family: Family::Time, api: model::METADATA_MODIFIED.api.into(), ..site(1) };
        let ticked = Run { points: [point(site)].into(), ..run(true, []) };
        assert!(are_same(&run(true, []), &ticked));
        assert!(!are_same(&run(true, []), &run(true, [1])));
    }

    #[test]
    fn a_test_that_ends_in_two_ways_is_not_deterministic() {
        let mut count = 0;
        let (found, _) = simulate(&in_world(None, true), |_| {
            count += 1;
            run(count % 2 == 0, [1])
        });
        assert!(matches!(found, Conclusion::NonDeterministic { .. }), "{found:?}");
    }

    #[test]
    fn a_test_in_which_nothing_happens_is_judged_with_real_threads_if_it_passes_with_them() {
        use ScheduleEndKind::{Deadlock, Time};
        for (kind, passes_really, expected) in [
            (Time, true, Conclusion::Stable),
            (Time, false, Conclusion::Broken),
            (Deadlock, true, Conclusion::Broken),
        ] {
            let end = Some(ScheduleEnd { kind, waits: Vec::new() });
            let ended = || ScheduleRecord { end: end.clone(), ..ScheduleRecord::default() };
            let (found, evidence) = simulate(&in_world(None, false), |spec| {
                if spec.is_scheduled() {
                    Run { schedule: Some(ended()), ..run(false, [1]) }
                } else {
                    run(passes_really, [1])
                }
            });
            assert_eq!(found, expected, "{kind:?}");
            assert_eq!(evidence.count(), if kind == Time { 2 } else { 1 });
        }
    }

    #[test]
    fn what_fails_at_a_seed_only_depends_on_its_choices() {
        let world = in_world(Some(7), false);
        let (found, evidence) = simulate(&world, |spec| run(!made(spec, 1), [1]));
        assert!(matches!(found, Conclusion::Dependent(_)), "{found:?}");
        assert_eq!(evidence.count(), 2);
        let (found, _) = simulate(&world, |_| run(false, [1]));
        assert_eq!(found, Conclusion::Broken);
    }
}
