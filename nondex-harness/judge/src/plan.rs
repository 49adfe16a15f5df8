//! What one test still has to run, and what is concluded from its runs: the campaign as a pure
//! function.
//!
//! Clean runs come first. Then, level by level from the most realistic one, the seeds; the first
//! level at which the outcome depends on the seed is the weakest one, and the levels above it are
//! left out unless they are requested: they would show the same defect again, less realistically.
//! Where only stronger levels were requested, the weaker ones are tried for a test that fails. A
//! failing spec is run again before it counts; then the culprits are searched.
//!
//! A test that fails in every clean run but passes, reproducibly, under some seed depends on a
//! choice as well: everything holds with pass and fail exchanged.

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
use super::missing::{Missing, Purpose};
use super::patience::{self, patiently};
use super::prerequisite;
use super::question::Question;
use super::run::Run;
use super::{ending, threads, timing};

/// Number of failing specs that are run again before a test whose failures do not repeat is called
/// non-deterministic.
const MAX_CANDIDATES: usize = 3;

/// Number of runs in which a failing spec and the clean one must agree with themselves before a
/// test is reported to depend on choices.
const REPETITIONS: usize = 5;

/// The same when no culprit was confirmed: then it is doubtful that there is any.
const REPETITIONS_UNCONFIRMED: usize = 10;

/// The same when each of these runs takes the whole time limit.
const REPETITIONS_OF_HANGS: usize = 2;

/// What is concluded about `test` from the evidence.
///
/// # Errors
/// The runs to make first.
pub fn conclude(question: Question<'_>) -> Result<Conclusion, Missing> {
    patiently(question.options.timeout, question.evidence, || judge(question))
}

/// As [`conclude`], of evidence in which no time-out is doubtful.
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
    // A deadlock was reported at once: one more run, to see why.
    if conclusion == Conclusion::Broken && clean.iter().any(deadlock::is_proven) {
        question.evidence.made(&question.shown_spec(), 1)?;
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

/// What the clean runs and the seeds show.
fn by_choices(question: Question<'_>) -> Result<Conclusion, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let clean_spec = question.clean_spec();
    let passes_clean = evidence.repeat(&clean_spec, 1)?[0].passed();
    if question.has_natural_clean_run() {
        evidence.made(&question.natural_spec(), 1)?;
    }
    let clean = evidence.repeat(&clean_spec, question.clean_runs())?;
    if let Some(spec) = disagreeing(question) {
        return Ok(non_deterministic(spec));
    }
    let unchanged = if passes_clean { Conclusion::Stable } else { Conclusion::Broken };
    // Without a network, what it depends on besides cannot be seen.
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
    // Of a run whose record lost events nobody knows which choices it reached.
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

/// The weakest spec of a seed, of all levels, with which the test ends otherwise than in its clean
/// runs.
fn weakest(question: Question<'_>, passes_clean: bool) -> Result<Reproduction, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    // What failed before is tried before what may fail.
    evidence.answers(&question.regressions(&options.levels))?;
    let mut weakest = None;
    let holds_for_all = holds_for_all(question, passes_clean)?;
    // What is found once is judged as without a budget.
    let is_found = !options.every_seed && !holds_for_all && survey(question, passes_clean)?;
    let purpose = if is_found { Purpose::Judge } else { options.purpose_of_seeds() };
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
    // Found at a stronger level only, it may be found more realistically.
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

/// What decides, of a test that ends otherwise with `spec` than in its clean runs.
fn explained(
    question: Question<'_>,
    passes_clean: bool,
    spec: RunSpec,
) -> Result<Conclusion, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let clean_spec = question.clean_spec();
    // A run that hangs takes the whole time limit, and was made twice already.
    let hangs = evidence.answers(std::slice::from_ref(&spec))?[0].run.outcome == Outcome::TimedOut;
    let both = [(&clean_spec, passes_clean), (&spec, !passes_clean)];
    // Before the search: a test that fails by chance has no culprit.
    if let Some(spec) = differing(both, repetitions(hangs, REPETITIONS), evidence)? {
        return Ok(non_deterministic(spec.clone()));
    }
    if !hangs {
        // A rate has only runs that were made.
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
    let traced: Vec<RunSpec> =
        culprits.groups.iter().map(|group| culprit::traced(evidence, &spec, group)).collect();
    for (group, answer) in culprits.groups.iter_mut().zip(evidence.answers(&traced)?) {
        group.points = answer.run.points.to_vec();
        group.steps.clone_from(&answer.run.steps);
        group.schedule.clone_from(&answer.run.schedule);
        group.failure.clone_from(&answer.run.failure);
    }
    Ok(Conclusion::Dependent(Box::new(Dependence { passes_clean, spec, culprits, is_cut: false })))
}

/// The failure at the first level below `found` that was not requested and changes the outcome: the
/// level of a finding is the weakest of all, not of the requested ones.
fn weaker(
    question: Question<'_>,
    found: Level,
    passes_clean: bool,
) -> Result<Reproduction, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let untried =
        Level::ALL.into_iter().filter(|level| *level < found && !options.levels.contains(level));
    for level in untried {
        let specs = answered_specs(question, level, Purpose::Judge)?;
        let found = match reproducible(&specs, passes_clean, evidence)? {
            Reproduction::NothingChanged => continue,
            Reproduction::Never(spec) => return Ok(Reproduction::Never(spec)),
            Reproduction::Always(spec) => spec,
        };
        // A run at a stronger level may represent it; the report and the replay use the weaker one.
        let answers = evidence.answers(&specs)?;
        let mut own = specs.iter().zip(answers);
        let own = own.find(|(_, answer)| *answer.spec == found);
        let own = own.map_or(&found, |(spec, _)| spec);
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

/// What is established about `test` when the campaign is stopped before all runs are made. `None`
/// for everything that a further run might refute: such a test is not judged.
pub fn so_far(question: Question<'_>) -> Option<Conclusion> {
    let evidence = &*patience::certain(question.options.timeout, question.evidence);
    let question = Question::new(question.test, question.options, evidence);
    let options = &*threads::known(question);
    let question = question.with_options(options);
    if let Some((spec, _)) = evidence.contradiction(options.is_scheduled()) {
        return Some(non_deterministic(spec.clone()));
    }
    if let Some(spec) = disagreeing(question) {
        return Some(non_deterministic(spec));
    }
    let clean = question.clean();
    // A plain build may pass where the clean runs fail: only a whole campaign shows that.
    let passes_clean = clean.first()?.passed();
    // As many runs as the campaign itself believes: fewer may agree by chance.
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
    // As far as the search came.
    let made = evidence.count();
    let searched = (0..=made).rev();
    let mut searched =
        searched.filter_map(|runs| culprit::search(evidence, spec, passes_clean, runs).ok());
    let culprits = searched.next().unwrap_or_default();
    Some(Conclusion::Dependent(Box::new(Dependence {
        passes_clean,
        spec: spec.clone(),
        culprits: culprit::Culprits { confirmed: false, notes: Vec::new(), ..culprits },
        is_cut: true,
    })))
}

/// The spec of clean runs of which one had another outcome than the first clean run.
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

/// Two runs of `spec` were not the same.
fn non_deterministic(spec: RunSpec) -> Conclusion {
    Conclusion::NonDeterministic { spec: Box::new(spec) }
}

/// Whether the test was run under all orders and never changed its outcome: no level but STD can
/// then show anything new.
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

/// How many runs must agree, where `times` must if none of them hangs.
const fn repetitions(hangs: bool, times: usize) -> usize {
    if hangs { REPETITIONS_OF_HANGS } else { times }
}

/// The first of these specs, each with whether it passes, of which a repeated run ended the other
/// way.
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

enum Reproduction {
    /// No spec ended otherwise than the clean runs.
    NothingChanged,
    /// This one always does.
    Always(RunSpec),
    /// Some did, such as this one, but none when it was run again.
    Never(RunSpec),
}

/// The first spec with another outcome than the clean runs, twice.
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
    // Of those that fail by delays, the one with the fewest is understood best.
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
