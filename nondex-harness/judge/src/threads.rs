//! Whether a test is judged from runs whose threads and time are scheduled, or from runs with real
//! ones.
//!
//! Scheduled runs are repeatable, and show every defect of threads and time that a seed can. But a
//! base schedule under which a test fails that passes with real threads is a defect of ours, not of
//! the test. So is one under which it passes that fails with real threads every time: then it is
//! judged from runs with real threads. Neither holds for a test of which the
//! [start of the clock](clock_start) decides.
//!
//! A run that was cut, at the limit of operations, has no end of the test's. Where a clean run was,
//! it is judged with real threads, too; a run of a seed, or of a search, is no result.

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

/// Number of failures in a row with real threads that rules out chance.
pub(super) const NO_CHANCE: usize = 2;

/// The options that `test` is judged with: `options`, or those without the scheduler when its base
/// schedule is what fails.
///
/// # Errors
/// The runs with real threads to make first.
pub fn settled<'o>(question: Question<'o>) -> Result<Cow<'o, Options>, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let as_asked = Ok(Cow::Borrowed(options));
    if !options.is_scheduled() {
        return as_asked;
    }
    let clean = question.clean();
    let times = question.clean_runs();
    let Some(clean) = clean.get(..times) else { return as_asked };
    let natural = question.natural_spec();
    let known = evidence.of(&natural);
    // Where nothing is scheduled, natural runs differ in nothing but their addresses.
    let fails_by_nature = !question.has_natural_clean_run()
        && known.len() >= NO_CHANCE
        && known.iter().all(|run| !run.passed());
    // A limit of ours is no end of the test's, and one that looks for ever may only look for very
    // long.
    if clean.iter().any(|run| run.has_no_outcome() || run.spins())
        && evidence.made(&natural, 1)?[0].passed()
    {
        return Ok(Cow::Owned(options.with_real_threads()));
    }
    // That a test also passes when it is scheduled shows that both ends are its own.
    if deadlock::have_no_end(clean) {
        let passes_always = known.len() >= times && known.iter().all(Run::passed);
        let passes_scheduled =
            || evidence.all().any(|(spec, run)| spec.is_scheduled() && run.passed());
        return if passes_always && !passes_scheduled() {
            Ok(Cow::Owned(options.with_real_threads()))
        } else {
            as_asked
        };
    }
    if clean.iter().all(Run::passed) && fails_by_nature && !clock_start::decides(question, clean)? {
        return Ok(Cow::Owned(options.with_real_threads()));
    }
    let failing = || clean.iter().filter(|run| !run.passed());
    if !failing().any(may_be_of_schedule)
        || prerequisite::explains_all(clean, &options.network, &options.prerequisites)
    {
        return as_asked;
    }
    // One schedule with two ends: it is the file that decides.
    let reads_random = |run: &Run| run.sources.contains(&Source::RandomFile);
    if clean.iter().any(Run::passed) && failing().any(reads_random) {
        return as_asked;
    }
    // One that fails as well is enough: it may take the whole time limit.
    if !evidence.made(&natural, 1)?[0].passed() {
        return as_asked;
    }
    let natural = evidence.made(&natural, times)?;
    // What fails there now and then as it does in the base schedule fails for itself.
    let fails_alike = |run: &Run| failing().any(|other| is_same_failure(run, other));
    if natural.iter().all(Run::passed)
        && !known.iter().any(fails_alike)
        && !clock_start::decides(question, clean)?
    {
        return Ok(Cow::Owned(options.with_real_threads()));
    }
    as_asked
}

/// The runs of seeds that were cut, of a test that is judged with scheduled ones.
pub fn cut<'e>(
    evidence: &'e Evidence,
    options: &Options,
) -> impl Iterator<Item = &'e Run> + use<'e> {
    let is_scheduled = options.is_scheduled();
    evidence.all().map(|(_, run)| run).filter(move |run| is_scheduled && run.has_no_outcome())
}

/// As [`settled`], as far as it is known.
pub fn known<'o>(question: Question<'o>) -> Cow<'o, Options> {
    settled(question).unwrap_or(Cow::Borrowed(question.options))
}

/// Whether two runs failed in the same way, at the same line.
fn is_same_failure(first: &Run, second: &Run) -> bool {
    let place = |run: &Run| {
        let failure = run.failure.as_ref()?;
        Some((failure.file.clone(), failure.line))
    };
    !first.passed() && first.outcome == second.outcome && place(first) == place(second)
}

#[cfg(test)]
mod tests;
