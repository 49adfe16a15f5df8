//! Runs a test under *all* schedules with few preemptions if there are few such schedules.
//!
//! A run of a [systematic](Schedule::Systematic) seed shows at which decisions another thread could
//! have continued, and what happened then. So each run has children: the same run with one more
//! thread delayed, at a decision after its last delay. Delaying a running thread that could
//! continue is a preemption. Letting another thread go first when none is running is not.
//!
//! Schedules without a preemption come first, then those with one, then those with two. This is
//! iterative context bounding (Musuvathi and Qadeer, "Iterative context bounding for systematic
//! testing of multithreaded programs", 2007). The decisions are those of the run itself, not of the
//! canonical schedule: after a preemption, a thread has other decisions.

use nondex_core::choice::stops::{self, Stop};
use nondex_core::protocol::scheduling::Decision;
use nondex_core::{Course, Family, Level, RunSpec, Schedule};

use super::exhaustive;
use super::missing::{ExperimentPurpose, Missing};
use super::options::Options;
use super::question::Question;
use super::run::Run;

/// Maximum number of preemptions in a schedule. Most defects need no more.
pub const MAX_PREEMPTIONS: u32 = 2;

/// Number of runs that are requested at once, or as many as were made if these are more.
const BATCH: usize = 16;

/// Result of trying the schedules of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Specs of the runs that were made.
    pub specs: Vec<RunSpec>,
    /// Largest number of preemptions up to which all schedules were run, with the number of these
    /// schedules. The test passed under all of them.
    pub all: Option<Bound>,
    /// Number of preemptions for which there are too many schedules, with a lower bound on their
    /// number.
    pub beyond: Option<Bound>,
}

/// Number of schedules with a limited number of preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Maximum number of preemptions.
    pub preemptions: u32,
    /// Number of schedules, or a lower bound of it.
    pub schedules: u64,
}

/// Runs a test that passes in clean runs under all schedules with few preemptions, if there are
/// few. Stops at the first failure.
///
/// # Errors
/// Returns the runs to make first.
pub fn explore(question: Question<'_>) -> Result<Explored, Missing> {
    let mut explored = Explored::default();
    let Some(level) = level(question.options) else { return Ok(explored) };
    let limit = limit(question.options);
    let clean = question.clean().first();
    if !clean.is_some_and(|run| has_few_decisions(run, limit)) {
        return Ok(explored);
    }
    let mut layer = vec![Vec::new()];
    for preemptions in 0..=MAX_PREEMPTIONS {
        let mut next = Vec::new();
        let mut missing = Vec::new();
        let mut at = 0;
        while at < layer.len() {
            let known = explored.specs.len() + missing.len() + layer.len() - at;
            if known as u64 > limit {
                explored.beyond = Some(Bound { preemptions, schedules: known as u64 });
                return Ok(explored);
            }
            let Some(seed) = stops::seed(&layer[at]) else { return Ok(explored) };
            let spec = question.seed_spec(level, seed).with_schedule(Schedule::Systematic);
            at += 1;
            let Some(run) = question.evidence.of(&spec).first() else {
                missing.push(spec);
                continue;
            };
            explored.specs.push(spec);
            if !run.passed() {
                return Ok(explored);
            }
            let Some(course) = course(run) else { return Ok(explored) };
            let Some(children) = children(&layer[at - 1], course) else { return Ok(explored) };
            for (stops, is_preemption) in children {
                if is_preemption {
                    next.push(stops);
                } else {
                    layer.push(stops);
                }
            }
        }
        if !missing.is_empty() {
            missing.truncate(BATCH.max(explored.specs.len()));
            question
                .evidence
                .within_budget::<()>(ExperimentPurpose::Explore, Err(Missing::new(missing)))?;
            return Ok(explored);
        }
        explored.all = Some(Bound { preemptions, schedules: explored.specs.len() as u64 });
        layer = next;
    }
    Ok(explored)
}

/// Returns the level at which schedules are listed: the first requested one.
pub(super) fn level(options: &Options) -> Option<Level> {
    let is_on = options.is_scheduled()
        && options.prune
        && options.schedule == Schedule::Covering
        && !options.seeds.is_empty();
    options.realistic_first().first().copied().filter(|_| is_on)
}

/// Returns the maximum number of schedules of a test: by default the number of runs under seeds.
fn limit(options: &Options) -> u64 {
    let seeds = options.seeds.len() * options.realistic_first().len();
    options.exhaustive.max(seeds as u64).min(exhaustive::MAX_ORDERS)
}

/// Returns whether a clean run shows a test of several threads that may have few decisions, and
/// none about time.
fn has_few_decisions(run: &Run, limit: u64) -> bool {
    /// Estimated number of operations for each decision: not at every operation could another
    /// thread have continued.
    const PROPORTION: u64 = 4;
    run.schedule.as_ref().is_some_and(|one| one.is_repeatable() && one.steps <= limit * PROPORTION)
        && run.has_threads()
        && run.passed()
        && is_of_schedule(run)
}

/// Returns whether a run reported all its choices, and none of them was about time.
fn is_of_schedule(run: &Run) -> bool {
    let mut points = run.points.iter();
    run.complete && points.all(|point| point.site.family != Family::Time)
}

/// Returns the decisions of a run, if only these determined which thread continued and the same
/// decisions would lead to the same run.
fn course(run: &Run) -> Option<&Course> {
    let schedule = run.schedule.as_ref()?;
    let course = schedule.course.as_ref()?;
    let is_known = course.is_whole && schedule.is_repeatable() && is_of_schedule(run);
    is_known.then_some(course)
}

/// Returns these stops with one more stop after the last, for each possible one, and whether it is
/// a preemption. Returns `None` if the run did not reach all of the given stops.
fn children(stops: &[Stop], course: &Course) -> Option<Vec<(Vec<Stop>, bool)>> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut found = 0;
    let mut children = Vec::new();
    for &decision in &course.decisions {
        let Decision { thread, is_preemption } = decision.into();
        let index = thread as usize;
        if numbers.len() <= index {
            numbers.resize(index + 1, 0);
        }
        let stop = Stop { thread, number: numbers[index] };
        numbers[index] += 1;
        if stops.get(found) == Some(&stop) {
            found += 1;
        } else if found == stops.len() {
            let stops = stops.iter().copied().chain([stop]);
            children.push((stops.collect(), is_preemption));
        }
    }
    (found == stops.len()).then_some(children)
}

#[cfg(test)]
mod tests;
