//! Decides what one test still has to run and what follows from its runs: the campaign as a pure
//! function.
//!
//! Clean runs come first. Then come the seeds, level by level, from the most realistic level on.
//! The first level at which the outcome depends on the seed is the weakest one. Stronger levels
//! would show the same defect again, less realistically, so they are left out unless requested. If
//! only stronger levels were requested, the weaker ones are tried for a test that fails. A failing
//! spec is run again before it counts. Then the culprits are searched.
//!
//! A test that fails in every clean run but passes reproducibly under some seed depends on a choice
//! as well. Everything above holds for it with pass and fail exchanged.

mod drawn;

use nondex_core::{Level, Outcome, RunSpec};

use super::certainty;
use super::conclusion::{Conclusion, Dependence};
use super::culprit;
use super::deadlock;
use super::evidence::Evidence;
use super::exhaustive::{Exploration, explore};
use super::exploration::{answered_specs, survey};
use super::further;
use super::latent;
use super::missing::{ExperimentPurpose, Missing};
use super::patience::{self, patiently};
use super::prerequisite;
use super::question::Question;
use super::run::Run;
use super::{ending, sampling, threads, timing};

/// Maximum number of failing specs that are run again before the test counts as non-deterministic.
const MAX_CANDIDATES: usize = 3;

/// Number of runs of the failing spec, and of the clean one, that must agree before a test is
/// reported to depend on choices.
const REPETITIONS: usize = 5;

/// Same number if no culprit was confirmed: then it is doubtful that a choice decides.
const REPETITIONS_UNCONFIRMED: usize = 10;

/// Same number if each of these runs takes the whole time limit.
const REPETITIONS_OF_HANGS: usize = 2;

/// Returns the conclusion about the test, once no time-out among its runs is doubtful.
///
/// # Errors
/// Returns the runs to make first.
pub fn conclude(question: Question<'_>) -> Result<Conclusion, Missing> {
    patiently(question.options.timeout, question.evidence, || judge(question))
}

/// Concludes like [`conclude`], from evidence without doubtful time-outs.
pub(super) fn judge(question: Question<'_>) -> Result<Conclusion, Missing> {
    let options = &*threads::settled(question)?;
    let question = question.with_options(options);
    if let Some(world) = &options.world {
        return ending::judge(question, world);
    }
    let conclusion = by_choices(question)?;
    let clean = question.clean();
    if conclusion == Conclusion::Broken
        && !prerequisite::explains_all(clean, &options.network, &options.prerequisites)
        && certainty::may_pass(question)?
    {
        return Ok(non_deterministic(question.natural_spec()));
    }
    // The clean run ended at the deadlock. One more run records the operations that led to it. The
    // traced run of the culprits does not, because they make such a test pass.
    let fails_clean = match &conclusion {
        Conclusion::Broken => true,
        Conclusion::Dependent(found) => !found.passes_clean,
        _ => false,
    };
    if fails_clean && clean.iter().any(deadlock::is_proven) {
        question.evidence.made(&question.shown_spec(), 1)?;
    }
    if let Conclusion::Dependent(found) = &conclusion
        && certainty::is_of_date(found, question)?
    {
        return Ok(non_deterministic(question.natural_spec()));
    }
    if conclusion != Conclusion::Stable {
        return Ok(conclusion);
    }
    if !certainty::is_confirmed(question)? {
        return Ok(non_deterministic(question.natural_spec()));
    }
    let latent = latent::search(question)?;
    Ok(latent.map_or(conclusion, |found| Conclusion::Latent(Box::new(found))))
}

/// Concludes from the clean runs and the seeds.
fn by_choices(question: Question<'_>) -> Result<Conclusion, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let clean_spec = question.clean_spec();
    let passes_clean = evidence.repeat(&clean_spec, 1)?[0].passed();
    if question.has_natural_clean_run() {
        evidence.made(&question.natural_spec(), 1)?;
    }
    let clean = evidence.repeat(&clean_spec, question.clean_runs())?;
    if let Some(spec) = disagreeing(question) {
        let found = drawn::explain(question)?;
        return Ok(found.unwrap_or_else(|| non_deterministic(spec)));
    }
    let unchanged = if passes_clean { Conclusion::Stable } else { Conclusion::Broken };
    // Without a network, other dependences of the test cannot be seen.
    if !passes_clean && prerequisite::explains_all(clean, &options.network, &[]) {
        if let Some(spec) = options.network.verification(&clean_spec) {
            evidence.repeat(&spec, 1)?;
        }
        return Ok(unchanged);
    }
    if !passes_clean && prerequisite::explains_all(clean, &options.network, &options.prerequisites)
    {
        return Ok(unchanged);
    }
    // A test that never ends would take the time limit at every seed.
    let hangs = clean.iter().all(|run| run.outcome == Outcome::TimedOut);
    // If events were lost, it is unknown which choices the run reached.
    let has_choice = clean.iter().any(|run| !run.points.is_empty() || run.lost);
    if hangs || options.prune && !has_choice {
        return Ok(unchanged);
    }
    match weakest(question, passes_clean)? {
        Reproduction::NothingChanged => Ok(unchanged),
        Reproduction::Always(spec) => explained(question, passes_clean, spec),
        Reproduction::Never(spec) => Ok(non_deterministic(spec)),
    }
}

/// Returns the weakest spec of a seed, over all levels, that changes the outcome of the clean runs.
fn weakest(question: Question<'_>, passes_clean: bool) -> Result<Reproduction, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    // Specs that failed in an earlier campaign come first.
    evidence.answers(&question.regressions(&options.levels))?;
    let mut weakest = None;
    let holds_for_all = holds_for_all(question, passes_clean)?;
    // Once a failure is found, its judgement does not depend on the budget.
    let is_found = !options.every_seed && !holds_for_all && survey(question, passes_clean)?;
    let purpose = if is_found { ExperimentPurpose::Judge } else { options.purpose_of_seeds() };
    if options.every_seed && !holds_for_all {
        // This run is one of those at EQ. Made first, it may save runs at STD.
        evidence.answers(&Vec::from_iter(sampling::counting_spec(question)))?;
    }
    for level in options.realistic_first() {
        if holds_for_all && level != Level::Std {
            break;
        }
        let specs = answered_specs(question, level, purpose)?;
        if weakest.is_none() {
            match reproducible(&specs, passes_clean, evidence)? {
                Reproduction::NothingChanged => {}
                Reproduction::Always(spec) => weakest = Some(spec),
                never @ Reproduction::Never(_) => return Ok(never),
            }
        }
        if weakest.is_some() && !options.all_levels {
            break;
        }
    }
    // A failure of a stronger level may also occur at a more realistic one.
    if weakest.as_ref().is_none_or(|found| found.level() > Level::Std) {
        let is_found = weakest.is_some();
        let specs = further::answered_specs(question, passes_clean, is_found)?;
        match reproducible(&specs, passes_clean, evidence)? {
            Reproduction::NothingChanged => {}
            Reproduction::Always(spec) => weakest = Some(spec),
            never @ Reproduction::Never(_) => return Ok(never),
        }
    }
    let Some(found) = weakest else {
        return Ok(Reproduction::NothingChanged);
    };
    Ok(match weaker(question, found.level(), passes_clean)? {
        Reproduction::NothingChanged => Reproduction::Always(found),
        weaker => weaker,
    })
}

/// Searches for what decides the outcome of a test that `spec` changes.
fn explained(
    question: Question<'_>,
    passes_clean: bool,
    spec: RunSpec,
) -> Result<Conclusion, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let clean_spec = question.clean_spec();
    // A run that hangs takes the whole time limit, and two were made already.
    let hangs = evidence.answers(std::slice::from_ref(&spec))?[0].run.outcome == Outcome::TimedOut;
    let both = [(&clean_spec, passes_clean), (&spec, !passes_clean)];
    // Repeat before the search: a test that fails by chance has no culprit.
    if let Some(spec) = differing(both, repetitions(hangs, REPETITIONS), evidence)? {
        return Ok(non_deterministic(spec.clone()));
    }
    if !reaches_choice(&spec, evidence) && !reaches_choice(&clean_spec, evidence) {
        // The seed decides nothing then. Addresses do, which depend on the length of the spec, or
        // what this tool does on the way.
        let by_addresses = certainty::by_natural_runs(question)?;
        let culprits = culprit::Culprits::default();
        let found = Dependence { passes_clean, spec, culprits, is_cut: false };
        return Ok(by_addresses.unwrap_or_else(|| Conclusion::Artefact(Box::new(found))));
    }
    if !hangs {
        // The reported rate counts only runs that were made, not those that others represent.
        evidence.each_made(&further::tried(question, spec.level()))?;
    }
    let mut culprits = culprit::search(evidence, &spec, passes_clean, options.search_runs)?;
    if !culprits.confirmed
        && let Some(spec) = differing(both, repetitions(hangs, REPETITIONS_UNCONFIRMED), evidence)?
    {
        return Ok(non_deterministic(spec.clone()));
    }
    if culprits.artefacts().is_some() {
        return Ok(Conclusion::Artefact(Box::new(Dependence {
            passes_clean,
            spec,
            culprits,
            is_cut: false,
        })));
    }
    culprits.trace(evidence, &spec)?;
    Ok(Conclusion::Dependent(Box::new(Dependence { passes_clean, spec, culprits, is_cut: false })))
}

/// Returns whether a level weaker than `found` that was not requested also changes the outcome. A
/// finding's level is the weakest of all levels, not only of the requested ones.
fn weaker(
    question: Question<'_>,
    found: Level,
    passes_clean: bool,
) -> Result<Reproduction, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let untried =
        Level::ALL.into_iter().filter(|level| *level < found && !options.levels.contains(level));
    for level in untried {
        let specs = answered_specs(question, level, ExperimentPurpose::Judge)?;
        let found = match reproducible(&specs, passes_clean, evidence)? {
            Reproduction::NothingChanged => continue,
            Reproduction::Never(spec) => return Ok(Reproduction::Never(spec)),
            Reproduction::Always(spec) => spec,
        };
        // A run at a stronger level may represent this spec; the report and the replay use the
        // weaker one.
        let answers = evidence.answers(&specs)?;
        let represented = specs.iter().zip(answers).find(|(_, answer)| *answer.spec == found);
        let own = represented.map_or(&found, |(spec, _)| spec);
        let runs = evidence.made(own, 2)?;
        let is_changed = runs.iter().all(|run| run.is_otherwise(passes_clean));
        return Ok(if is_changed {
            Reproduction::Always(own.clone())
        } else {
            Reproduction::Never(own.clone())
        });
    }
    Ok(Reproduction::NothingChanged)
}

/// Returns what is established about the test when the campaign is stopped early. Returns `None`
/// for everything that a further run might refute: such a test is not judged.
pub fn so_far(question: Question<'_>) -> Option<Conclusion> {
    let evidence = &*patience::certain(question.options.timeout, question.evidence);
    let certain = Question::new(question.test, question.options, evidence);
    let options = &*threads::known(certain);
    let question = certain.with_options(options);
    if let Some((spec, _)) = evidence.contradiction(options.is_scheduled()) {
        return Some(non_deterministic(spec.clone()));
    }
    if let Some(spec) = disagreeing(question) {
        return Some(non_deterministic(spec));
    }
    let clean = question.clean();
    // A plain build may pass where the clean runs fail: only a whole campaign shows that.
    let passes_clean = clean.first()?.passed();
    // Require as many runs as a whole campaign does: fewer may agree by chance.
    let is_established = |runs: &[Run]| {
        let hangs = runs.iter().any(|run| run.outcome == Outcome::TimedOut);
        runs.len() >= repetitions(hangs, REPETITIONS)
            && runs.iter().all(|run| run.is_otherwise(passes_clean))
    };
    let mut seeds = question.of_seeds().into_iter();
    let (spec, runs) = seeds.find(|(_, runs)| is_established(runs))?;
    let hangs = runs[0].outcome == Outcome::TimedOut;
    if question.repeated().count() < repetitions(hangs, REPETITIONS) {
        return None;
    }
    // Use the search as far as its runs were made: find the largest budget that needs no further
    // run.
    let culprits = (0..=evidence.count())
        .rev()
        .find_map(|runs| culprit::search(evidence, spec, passes_clean, runs).ok())
        .unwrap_or_default();
    Some(Conclusion::Dependent(Box::new(Dependence {
        passes_clean,
        spec: spec.clone(),
        culprits: culprit::Culprits { confirmed: false, notes: Vec::new(), ..culprits },
        is_cut: true,
    })))
}

/// Returns whether a run of `spec` reached a choice, or may have.
fn reaches_choice(spec: &RunSpec, evidence: &Evidence) -> bool {
    evidence.of(spec).iter().any(|run| !run.points.is_empty() || run.lost || !run.complete)
}

/// Returns the spec of a clean run whose outcome differs from that of the first clean run.
fn disagreeing(question: Question<'_>) -> Option<RunSpec> {
    let clean = question.clean();
    let passes_clean = clean.first()?.passed();
    let differs = |runs: &[Run]| runs.iter().any(|run| run.passed() != passes_clean);
    if differs(clean) {
        return Some(question.clean_spec());
    }
    let is_natural = question.has_natural_clean_run() && differs(question.natural());
    is_natural.then(|| question.natural_spec())
}

/// Concludes that runs of `spec` have different outcomes.
fn non_deterministic(spec: RunSpec) -> Conclusion {
    Conclusion::NonDeterministic { spec: Box::new(spec) }
}

/// Returns whether the test ran under all orders without a change of its outcome. Then no level
/// except STD can show anything new.
fn holds_for_all(question: Question<'_>, passes_clean: bool) -> Result<bool, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    if !options.prune || !options.levels.contains(&Level::Full) {
        return Ok(false);
    }
    let Exploration::Complete(seeds) = explore(question, Level::Full)? else {
        return Ok(false);
    };
    let specs = seeds.into_iter().map(|seed| question.seed_spec(Level::Full, seed));
    let answers = evidence.answers(&specs.collect::<Vec<_>>())?;
    Ok(answers.iter().all(|answer| answer.run.passed() == passes_clean))
}

/// Returns how many runs must agree: `times`, or fewer if they hang.
const fn repetitions(hangs: bool, times: usize) -> usize {
    if hangs { REPETITIONS_OF_HANGS } else { times }
}

/// Returns the first spec of which a repeated run does not end as given with the spec.
fn differing<'s>(
    specs: [(&'s RunSpec, bool); 2],
    times: usize,
    evidence: &Evidence,
) -> Result<Option<&'s RunSpec>, Missing> {
    let repeated = evidence.repeat_in_turns(&specs.map(|(spec, _)| spec), times)?;
    let differs = |runs: &[Run], passes| runs.iter().any(|run| run.passed() != passes);
    let mut all = repeated.into_iter().zip(specs);
    let found = all.find(|(runs, (_, passes))| differs(runs, *passes));
    Ok(found.map(|(_, (spec, _))| spec))
}

/// Whether a different outcome could be repeated.
enum Reproduction {
    /// No spec changes the outcome of the clean runs.
    NothingChanged,
    /// This spec always changes it.
    Always(RunSpec),
    /// Some specs changed it, such as this one, but none did so again.
    Never(RunSpec),
}

/// Finds the first spec that changes the outcome of the clean runs twice.
fn reproducible(
    specs: &[RunSpec],
    passes_clean: bool,
    evidence: &Evidence,
) -> Result<Reproduction, Missing> {
    let mut changed: Vec<(&RunSpec, &Run)> = Vec::new();
    for answer in evidence.answers(specs)? {
        // A run that represents several specs is one candidate.
        if answer.run.is_otherwise(passes_clean)
            && changed.iter().all(|(spec, _)| *spec != answer.spec)
        {
            changed.push((answer.spec, answer.run));
        }
    }
    // Hangs come last. Among the others, the failure with the fewest delays is easiest to
    // understand.
    changed.sort_by_key(|(_, run)| (run.outcome == Outcome::TimedOut, timing::delays(run)));
    let Some(&(first, _)) = changed.first() else {
        return Ok(Reproduction::NothingChanged);
    };
    for &(candidate, _) in changed.iter().take(MAX_CANDIDATES) {
        let runs = evidence.repeat(candidate, 2)?;
        let is_otherwise = |run: &Run| run.is_otherwise(passes_clean);
        if runs.iter().all(is_otherwise) {
            return Ok(Reproduction::Always(candidate.clone()));
        }
    }
    Ok(Reproduction::Never(first.clone()))
}

#[cfg(test)]
mod tests;
