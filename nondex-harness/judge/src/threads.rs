//! Decides whether a test is judged from scheduled runs, or from runs with real threads and real
//! time.
//!
//! Scheduled runs are repeatable and show every defect of threads and time that a seed can trigger.
//! But sometimes the canonical schedule and real threads disagree. If the test fails in the
//! canonical schedule and passes with real threads, that is a defect of this tool, not of the test.
//! The same holds if it passes in the canonical schedule and fails every time with real threads.
//! Such a test is judged from runs with real threads. Neither rule applies if the [start of the
//! clock](clock_start) decides.
//!
//! A run that the scheduler ended at the limit on operations has no outcome. If this happens in a
//! clean run, the test is judged with real threads too. If it happens under a seed or in a search,
//! the run is ignored.

use std::borrow::Cow;

use nondex_core::Source;

use super::clock_start;
use super::deadlock;
use super::evidence::Evidence;
use super::missing::Missing;
use super::options::Options;
use super::prerequisite;
use super::question::Question;
use super::run::Run;
use super::timing::may_be_of_schedule;

/// Number of consecutive failures with real threads that rules out chance.
pub(super) const NO_CHANCE: usize = 2;

/// Returns the options by which the test is judged: the given ones, or those without the scheduler
/// if its canonical schedule is at fault.
///
/// # Errors
/// Returns the runs with real threads to make first.
pub fn settled<'o>(question: Question<'o>) -> Result<Cow<'o, Options>, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let as_requested = Ok(Cow::Borrowed(options));
    if !options.is_scheduled() {
        return as_requested;
    }
    let times = question.clean_runs();
    let Some(clean) = question.clean().get(..times) else { return as_requested };
    let natural = question.natural_spec();
    let known = evidence.of(&natural);
    // If nothing is scheduled, natural runs only differ in their addresses.
    let fails_by_nature = !question.has_natural_clean_run()
        && known.len() >= NO_CHANCE
        && known.iter().all(|run| !run.passed());
    // The limit on operations is no outcome of the test. A test that spins may only need very long.
    if clean.iter().any(|run| run.has_no_outcome() || run.spins())
        && evidence.made(&natural, 1)?[0].passed()
    {
        return Ok(Cow::Owned(options.with_real_threads()));
    }
    // If the test also passes when scheduled, both outcomes are its own.
    if deadlock::have_no_end(clean) {
        let passes_always = known.len() >= times && known.iter().all(Run::passed);
        let passes_scheduled =
            || evidence.all().any(|(spec, run)| spec.is_scheduled() && run.passed());
        return if passes_always && !passes_scheduled() {
            Ok(Cow::Owned(options.with_real_threads()))
        } else {
            as_requested
        };
    }
    if clean.iter().all(Run::passed) && fails_by_nature && !clock_start::decides(question, clean)? {
        return Ok(Cow::Owned(options.with_real_threads()));
    }
    let failing = || clean.iter().filter(|run| !run.passed());
    if !failing().any(may_be_of_schedule)
        || prerequisite::explains_all(clean, &options.network, &options.prerequisites)
    {
        return as_requested;
    }
    // One schedule with two outcomes: the file of random bytes decides.
    let reads_random = |run: &Run| run.sources.contains(&Source::RandomFile);
    if clean.iter().any(Run::passed) && failing().any(reads_random) {
        return as_requested;
    }
    // One natural run that fails as well is enough: it may take the whole time limit.
    if !evidence.made(&natural, 1)?[0].passed() {
        return as_requested;
    }
    // If natural runs sometimes fail in the same way, the schedule is not the reason.
    let fails_alike = |run: &Run| failing().any(|other| is_same_failure(run, other));
    if evidence.made(&natural, times)?.iter().all(Run::passed)
        && !known.iter().any(fails_alike)
        && !clock_start::decides(question, clean)?
    {
        return Ok(Cow::Owned(options.with_real_threads()));
    }
    as_requested
}

/// Returns the runs without an outcome, if the test is judged with scheduled runs.
pub fn cut<'e>(
    evidence: &'e Evidence,
    options: &Options,
) -> impl Iterator<Item = &'e Run> + use<'e> {
    let is_scheduled = options.is_scheduled();
    evidence.all().map(|(_, run)| run).filter(move |run| is_scheduled && run.has_no_outcome())
}

/// Returns the options like [`settled`], as far as they are known.
pub fn known<'o>(question: Question<'o>) -> Cow<'o, Options> {
    settled(question).unwrap_or(Cow::Borrowed(question.options))
}

/// Returns whether two runs failed with the same outcome at the same line.
fn is_same_failure(first: &Run, second: &Run) -> bool {
    let place = |run: &Run| {
        let failure = run.failure.as_ref()?;
        Some((failure.file.clone(), failure.line))
    };
    !first.passed() && first.outcome == second.outcome && place(first) == place(second)
}

#[cfg(test)]
mod tests;
