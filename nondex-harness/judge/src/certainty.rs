//! Decides how many runs a test that always passed needs before it is called stable.
//!
//! A test may fail although every choice is the same if it reads a clock or its process id, sleeps,
//! or starts threads or programs. Two runs are little evidence, so such a test is run more often
//! before it is called stable. It runs with real threads and real time, because scheduled runs
//! repeat each other.

use std::time::Duration;

use nondex_core::{Family, RunSpec, Source, StateId};

use super::conclusion::{Conclusion, Dependence};
use super::deadlock;
use super::evidence::{Evidence, JointRuns};
use super::missing::{ExperimentPurpose, Missing};
use super::patience;
use super::question::Question;
use super::run::Run;
use super::threads::NO_CHANCE;
use super::timing::is_timing_source;

/// Number of passing runs after which the failure rate is below 14 percent at 95 percent
/// confidence.
pub const ENOUGH: usize = 20;

/// Number of such runs that a test has together with others, even if the budget is spent.
pub const FEW: usize = ENOUGH / 2;

/// Same number for a test that reads a file of random bytes or the date, or in which a hasher is
/// seeded from addresses. Each of these may decide at any time, whatever the machine does. With
/// this number of runs, the rate is below 5 percent.
pub const ENOUGH_RANDOM: usize = 60;

/// Same number for a test that failed in the canonical schedule, which real threads may take
/// rarely. With this number of runs, the rate is below 1.5 percent.
const ENOUGH_SEEN: usize = 200;

/// Number of failures without a pass that rules out chance. A test that fails every other time
/// shows this once in a thousand times.
pub const ENOUGH_FAILURES: usize = 10;

/// Minimum number of runs at fixed addresses that show that addresses decide.
const LEAST_FIXED: usize = 5;

/// Maximum total duration of the runs that are only made for certainty.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Maximum probability of taking a test that fails by chance for one that does not, in other code.
const ERROR: f64 = 0.01;

/// Maximum number of runs in other code of a test that fails by chance.
pub const MOST: usize = 500;

/// Returns the sources that no choice controls and the runs used, without duplicates.
pub fn sources(evidence: &Evidence) -> Vec<Source> {
    let is_used = |source: &Source| evidence.all().any(|(_, run)| run.sources.contains(source));
    Source::ALL.into_iter().filter(is_used).collect()
}

/// Returns the failure rate above which `runs` independent passing runs have a probability below
/// one in twenty: 1 − 0.05^(1/n). Returns 1 for no runs.
pub fn bound(runs: usize) -> f64 {
    match runs {
        0 => 1.0,
        runs => 1.0 - 0.05_f64.powf(1.0 / runs as f64),
    }
}

/// Returns the number of runs that are evidence about chance: those that do not control it, and
/// those together with other tests.
pub fn samples(evidence: &Evidence) -> usize {
    own_samples(evidence) + evidence.agreeing_jointly()
}

/// Returns the number of these runs in which the test had a process of its own.
fn own_samples(evidence: &Evidence) -> usize {
    evidence.count() - controlled(evidence)
}

/// Returns the number of runs that [control](controls_chance) what chance may decide.
fn controlled(evidence: &Evidence) -> usize {
    let controls_chance = controls_chance(evidence);
    evidence.all().filter(|(spec, _)| controls_chance(spec)).count()
}

/// Returns whether runs of a spec control all that chance may decide: they choose threads and time,
/// or the test uses nothing else. A seed draws the start of the clock once for all levels.
fn controls_chance(evidence: &Evidence) -> impl Fn(&RunSpec) -> bool {
    let is_timing_only = uses_only_timing(evidence);
    move |spec| evidence.chooses_timing(spec) || is_timing_only && spec.is_scheduled()
}

/// Returns whether all sources that the test uses, at least one, are threads and time.
fn uses_only_timing(evidence: &Evidence) -> bool {
    let sources = sources(evidence);
    !sources.is_empty() && sources.into_iter().all(is_timing_source)
}

/// Returns whether the test, which passed in every run until now, also passes [often
/// enough](ENOUGH) if chance may decide.
///
/// # Errors
/// Returns the runs with real threads to make first. They are optional unless the test failed
/// before.
pub(super) fn is_confirmed(question: Question<'_>) -> Result<bool, Missing> {
    let confirmed = confirm(question);
    // A test that failed once is judged independent of the budget.
    if was_seen_to_fail(question.evidence) || varies_jointly(question.evidence) {
        return confirmed;
    }
    Ok(question
        .evidence
        .within_budget(ExperimentPurpose::Explore, confirmed)?
        .unwrap_or_else(|| question.natural().iter().all(Run::passed)))
}

/// Returns the maximum number of runs for certainty that were not made because the budget was
/// spent.
pub(super) fn left_out(question: Question<'_>) -> usize {
    let made = made_naturally(question);
    match confirm(question) {
        Ok(_) => 0,
        Err(_) if draws_as_known(question) != Some(false) => ENOUGH_RANDOM.saturating_sub(made),
        Err(_) => enough(question.evidence).saturating_sub(made),
    }
}

/// Returns whether a test uses something that no choice controls and has fewer than half of
/// [enough](ENOUGH) runs. Time and threads do not count, because they are scheduled.
pub(super) fn is_left_to_chance(question: Question<'_>) -> bool {
    let mut sources = sources(question.evidence).into_iter();
    (sources.any(|source| !is_timing_source(source)) || draws_as_known(question) != Some(false))
        && left_out(question) > made_naturally(question)
}

/// Returns the number of natural runs, alone and together with other tests.
fn made_naturally(question: Question<'_>) -> usize {
    question.natural().len() + question.evidence.agreeing_jointly()
}

/// Returns whether a test without known sources [may draw](may_draw) a decisive value; `None` if
/// the run that shows it was not made.
fn draws_as_known(question: Question<'_>) -> Option<bool> {
    let has_sources = question.clean().iter().any(|run| !run.sources.is_empty());
    if has_sources { Some(false) } else { may_draw(question).ok() }
}

/// Returns how many passing runs are enough for a test that chance may decide. A test that failed
/// in the canonical schedule needs more, because it is likely to fail again.
///
/// No seed chooses the date or the random bytes in a file. So runs under seeds have already tried
/// as many of these.
pub fn enough(evidence: &Evidence) -> usize {
    if was_seen_to_fail(evidence) {
        ENOUGH_SEEN
    } else {
        enough_of_sources(evidence).saturating_sub(controlled(evidence)).max(ENOUGH)
    }
}

/// Returns how many passing runs are enough, given the sources that the test uses.
fn enough_of_sources(evidence: &Evidence) -> usize {
    if uses_random(evidence) { ENOUGH_RANDOM } else { ENOUGH }
}

/// Returns whether a test uses a source that may decide at any time, whatever the machine does.
fn uses_random(evidence: &Evidence) -> bool {
    let is_random = |source: &Source| matches!(source, Source::RandomFile | Source::Date);
    sources(evidence).iter().any(is_random)
}

/// Returns whether a scheduled run in canonical order failed. The reason may be the scheduler, or a
/// schedule that real threads take rarely.
fn was_seen_to_fail(evidence: &Evidence) -> bool {
    let mut all = evidence.all();
    all.any(|(spec, run)| {
        spec.is_clean() && spec.is_scheduled() && !run.passed() && !run.has_no_outcome()
    })
}

fn confirm(question: Question<'_>) -> Result<bool, Missing> {
    let evidence = question.evidence;
    let clean = question.clean();
    if clean.iter().all(|run| run.sources.is_empty()) {
        return confirm_without_sources(question);
    }
    if patience::beyond_real_time(question.options.timeout, evidence).is_some() {
        return Ok(true);
    }
    let natural = question.natural_spec();
    // The test may be timed although no clean run reached a choice of threads or time: another run
    // may have.
    let is_timed = controls_chance(evidence)(&question.clean_spec());
    // Natural runs that were already made for certainty count towards the wanted number.
    let plain = if is_timed || natural == question.clean_spec() { 0 } else { clean.len() };
    let others = own_samples(evidence) - plain - evidence.of(&natural).len();
    let others = others + evidence.agreeing_jointly();
    let wanted = enough(evidence).saturating_sub(others);
    // Where time is scheduled, only a passing run shows how long the test takes.
    let known = if is_timed && wanted > 0 { evidence.made(&natural, 1)? } else { clean };
    // A failing run may have taken the whole time limit. It is repeated regardless of the cost.
    if wanted > 0 && !known.iter().any(Run::passed) {
        evidence.made(&natural, NO_CHANCE)?;
        return Ok(false);
    }
    let passing = known.iter().filter(|run| run.passed());
    let took = passing.map(|run| run.took).min().unwrap_or_default();
    let further = wanted.min(affordable(took)).saturating_sub(plain);
    let first = evidence.made(&natural, further.min(NO_CHANCE))?;
    if first.len() == NO_CHANCE && first.iter().all(|run| !run.passed()) {
        return Ok(false);
    }
    let made = evidence.made(&natural, further);
    let made =
        made.map_err(|missing| if is_joinable(question) { missing.joinable() } else { missing });
    Ok(made?.iter().all(Run::passed))
}

/// Returns whether natural runs of a test that uses sources may be made together with other tests
/// in one process. It must use only threads, time and the date, and have passed in each run. Others
/// may use what tests of one process share.
fn is_joinable(question: Question<'_>) -> bool {
    let is_own = |source: Source| is_timing_source(source) || source == Source::Date;
    sources(question.evidence).into_iter().all(is_own) && !was_seen_to_fail(question.evidence)
}

/// Confirms like [`confirm`] a test that uses no source, but may depend on addresses.
fn confirm_without_sources(question: Question<'_>) -> Result<bool, Missing> {
    let Some(first) = question.clean().first() else { return Ok(true) };
    let agreeing = question.evidence.agreeing_jointly();
    let wanted = ENOUGH_RANDOM.min(affordable(first.took)).saturating_sub(agreeing);
    if wanted <= question.natural().len() || !may_draw(question)? {
        return Ok(true);
    }
    let natural = question.evidence.made(&question.natural_spec(), wanted);
    Ok(natural.map_err(Missing::joinable)?.iter().all(Run::passed))
}

/// Returns whether the outcome varied in natural runs together with other tests.
fn varies_jointly(evidence: &Evidence) -> bool {
    evidence.joint_runs() == Some(JointRuns::Vary)
}

/// Returns whether a test without known sources may draw a decisive value in each of its runs.
fn may_draw(question: Question<'_>) -> Result<bool, Missing> {
    // What varies at random addresses uses something that nothing records.
    let is_unobserved = question.options.is_unobserved || varies_jointly(question.evidence);
    Ok(is_unobserved || draws_from_addresses(question)?)
}

/// Returns whether further runs at random addresses may change the conclusion about a test: it uses
/// no known source, and has few such runs.
pub(super) fn may_be_of_addresses(conclusion: &Conclusion, question: Question<'_>) -> bool {
    let is_open = match conclusion {
        Conclusion::Stable | Conclusion::Latent(_) => true,
        // A test that ends its process would end it for others, too.
        Conclusion::Broken => !question.repeated().any(Run::ends_process),
        _ => false,
    };
    is_open
        && question.has_natural_clean_run()
        && question.natural().len() < LEAST_FIXED
        && sources(question.evidence).is_empty()
}

/// Returns whether natural runs together with other tests may change the conclusion about a test
/// that uses only threads, time and the date: it has few such runs, because the budget was spent.
pub(super) fn may_be_of_timing(conclusion: &Conclusion, question: Question<'_>) -> bool {
    matches!(conclusion, Conclusion::Stable | Conclusion::Latent(_))
        && question.options.prune
        && question.evidence.has_sources()
        && is_joinable(question)
        && made_naturally(question) < FEW
        && patience::beyond_real_time(question.options.timeout, question.evidence).is_none()
}

/// Returns whether a hasher in the test draws a seed from addresses.
fn draws_from_addresses(question: Question<'_>) -> Result<bool, Missing> {
    let seeds = &question.options.address_seeds;
    if seeds.is_empty() || !question.has_natural_clean_run() {
        return Ok(false);
    }
    if let Some(JointRuns::Agree { may_draw: false, .. }) = question.evidence.joint_runs() {
        return Ok(false);
    }
    let recorded = recording_seeds(question.natural_spec());
    let made = question.evidence.made(&recorded, 1).map_err(Missing::joinable)?;
    Ok(draws(&made[0], seeds))
}

/// Returns this spec such that its run shows whether a hasher [draws].
pub fn recording_seeds(spec: RunSpec) -> RunSpec {
    spec.in_order(|tests| (tests.changes, tests.without_files) = (true, true))
}

/// Returns whether a hasher drew one of these seeds in a run that [records](recording_seeds) it.
pub fn draws(run: &Run, seeds: &[StateId]) -> bool {
    let mut written = run.states.iter().filter_map(|change| change.state.bytes());
    let is_seed = |(start, length): (usize, usize)| {
        let mut seeds = seeds.iter().filter_map(StateId::bytes);
        seeds.any(|(seed, size)| seed < start + length && start < seed + size)
    };
    written.any(is_seed)
}

/// Returns whether the test, which failed in every clean run, passes in some natural run if chance
/// may decide.
///
/// # Errors
/// Returns the runs with real threads to make first.
pub(super) fn may_pass(question: Question<'_>) -> Result<bool, Missing> {
    let evidence = question.evidence;
    let natural = question.natural_spec();
    let known = evidence.of(&natural);
    let passes = |runs: &[Run]| runs.iter().any(Run::passed);
    let clean = question.clean();
    if deadlock::have_no_end(clean) {
        // One run without an end is enough. Otherwise further runs show whether the scheduler
        // causes the deadlock.
        let passes_once = passes(evidence.made(&natural, 1)?);
        return Ok(passes_once && passes(evidence.made(&natural, clean.len())?));
    }
    if passes(known) {
        return Ok(true);
    }
    let uses_chance = known.iter().any(|run| !run.sources.is_empty());
    let joined = evidence.agreeing_jointly();
    let draws = !uses_chance && joined < ENOUGH_RANDOM && may_draw(question)?;
    if !uses_chance && !draws {
        return Ok(false);
    }
    // The date may make a test fail for longer than a few runs take.
    let failures = if draws || uses_random(evidence) { ENOUGH_RANDOM } else { ENOUGH_FAILURES };
    let wanted = failures.saturating_sub(joined).min(affordable(longest(known))).max(known.len());
    let made = evidence.made(&natural, wanted);
    Ok(passes(made.map_err(|missing| if draws { missing.joinable() } else { missing })?))
}

/// Returns whether addresses decide the outcome of a test. Some of its [natural
/// runs](RunSpec::is_natural) must have another outcome than the clean ones. It must use no source,
/// and all clean runs, whose addresses are the same, must have one outcome.
///
/// # Errors
/// Returns the runs to make first, which are optional.
fn are_addresses_decisive(question: Question<'_>) -> Result<bool, Missing> {
    let evidence = question.evidence;
    let Some(first) = question.clean().first() else { return Ok(false) };
    let (passes_clean, took) = (first.passed(), first.took);
    let is_changed = |run: &Run| run.is_otherwise(passes_clean);
    let natural = question.natural();
    let changed = natural.iter().filter(|run| is_changed(run)).count();
    if changed == 0 || !question.options.is_scheduled() || !sources(evidence).is_empty() {
        return Ok(false);
    }
    // The first clean run was made before any natural run, which may have left files.
    let wanted = runs_without_failure(changed as f64 / natural.len() as f64).max(LEAST_FIXED);
    if wanted > ENOUGH_RANDOM.min(affordable(took)) {
        return Ok(false);
    }
    Ok(!evidence.made(&question.clean_spec(), wanted)?.iter().any(is_changed))
}

/// Concludes that a test that is flaky in a plain build is non-deterministic. This holds if
/// [natural runs](RunSpec::is_natural) show that its outcome depends on addresses.
///
/// # Errors
/// Returns the runs to make first.
pub(super) fn by_natural_runs(question: Question<'_>) -> Result<Option<Conclusion>, Missing> {
    let (evidence, natural) = (question.evidence, question.natural_spec());
    let Some(first) = question.clean().first() else { return Ok(None) };
    if !question.has_natural_clean_run() {
        return Ok(None);
    }
    let runs = evidence.made(&natural, ENOUGH.min(affordable(first.took)))?;
    let differs = runs.iter().any(|run| run.is_otherwise(first.passed()));
    if !differs || !are_addresses_decisive(question)? {
        return Ok(None);
    }
    Ok(Some(Conclusion::NonDeterministic { spec: Box::new(natural) }))
}

/// Returns whether the date decides the outcome of a test for which delays were found. The test has
/// one thread, reads the date, and fails without a delay, too. The length of the delays then only
/// shows when the second, or the day, changes.
///
/// # Errors
/// Returns the runs with real time to make first.
pub(super) fn is_of_date(found: &Dependence, question: Question<'_>) -> Result<bool, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let mut sites = found.culprits.sites();
    if !options.is_scheduled()
        || !found.passes_clean
        || !sources(evidence).contains(&Source::Date)
        || evidence.all().any(|(_, run)| run.has_threads())
        || !sites.all(|site| site.family == Family::Time)
    {
        return Ok(false);
    }
    let natural = question.natural_spec();
    // The clean runs do not show how long the test takes in real time.
    let took = longest(evidence.made(&natural, 1)?);
    let runs = evidence.made(&natural, ENOUGH_RANDOM.min(affordable(took)).max(1))?;
    Ok(runs.iter().any(|run| !run.passed() && !run.has_no_outcome()))
}

/// Returns whether runs showed that addresses decide.
pub(super) fn is_of_addresses(question: Question<'_>) -> bool {
    are_addresses_decisive(question).unwrap_or(false)
}

/// Requests enough runs of `spec`, whose runs have different outcomes, for a failure rate within
/// the time limit. Also requests enough runs at fixed addresses to see whether addresses decide.
///
/// # Errors
/// Returns the runs to make first, which are optional.
pub(super) fn measure(spec: &RunSpec, question: Question<'_>) -> Result<(), Missing> {
    let evidence = question.evidence;
    let known = evidence.of(spec);
    let wanted = ENOUGH.min(affordable(longest(known))).max(known.len());
    evidence.within_budget(ExperimentPurpose::Explore, evidence.made(spec, wanted))?;
    evidence.within_budget(ExperimentPurpose::Explain, are_addresses_decisive(question))?;
    Ok(())
}

/// Returns how many passing runs show, within the time limit, that chance did not make a test fail.
pub(super) fn without_chance(evidence: &Evidence) -> usize {
    enough_of_sources(evidence).min(affordable_as(evidence))
}

/// Returns how many runs that take as long as the longest of these fit into the time limit.
pub(super) fn affordable_as(evidence: &Evidence) -> usize {
    affordable(longest(evidence.all().map(|(_, run)| run)))
}

/// Returns how many passing runs show that a test fails less often than with `rate`. The
/// probability of error is at most 1 %.
pub fn runs_without_failure(rate: f64) -> usize {
    if rate <= 0.0 {
        return usize::MAX;
    }
    let runs = ERROR.ln() / (1.0 - rate.min(0.999)).ln();
    // The number is small and positive, so the cast is exact.
    runs.ceil() as usize
}

/// Returns how many runs of `spec`, which fails in some of its runs, fail at least once with a
/// probability of 99 %. At least one run, and no more than fit into the time limit.
pub fn runs_until_failure(spec: &RunSpec, evidence: &Evidence) -> usize {
    let runs: Vec<_> = evidence.of(spec).iter().filter(|run| !run.has_no_outcome()).collect();
    let failed = runs.iter().filter(|run| !run.passed()).count();
    let wanted = runs_without_failure(failed as f64 / runs.len().max(1) as f64);
    wanted.min(affordable(longest(runs))).clamp(1, MOST)
}

/// Returns the duration of the longest of these runs.
fn longest<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Duration {
    runs.into_iter().map(|run| run.took).max().unwrap_or_default()
}

/// Returns how many runs of this duration fit into the time limit.
fn affordable(took: Duration) -> usize {
    let runs = MAX_TIME.as_micros() / took.as_micros().max(1);
    usize::try_from(runs).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
