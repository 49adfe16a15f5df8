//! Judges tests that disturb each other.
//!
//! Tests run in separate processes, several at once. They may still share something outside their
//! processes: a port, or a path below `/tmp` that is made from a counter within the process. A
//! failure that needs such a collision is no finding: `cargo test`, with all tests in one process,
//! never shows it. So a conclusion from runs *together* with other tests is only accepted if it is
//! consistent. Otherwise the test runs again *alone*, while no other test runs, and is judged from
//! those runs only.
//!
//! A test may also find files that its own earlier runs left. If their names are random, this
//! happens only under this tool, because random values repeat in every run. Such a test gets an
//! empty folder for temporary files in each run alone.

mod alone;
mod runs;

use std::time::Duration;

use nondex_core::{Failure, Outcome, RunSpec};

pub use self::runs::Runs;
use super::certainty;
use super::clock_start;
use super::conclusion::{Conclusion, Dependence};
use super::deadlock;
use super::evidence::Evidence;
use super::missing::{ExperimentPurpose, Missing, RunLimits};
use super::options::Options;
use super::patience::{of_real_time, once_hung, once_more, patiently};
use super::plain;
use super::plan;
use super::question::Question;
use super::run::Run;
use super::threads;
use super::verdict::Fact;

/// What is needed before a test can be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Runs of the test.
    Runs(Missing),
    /// Natural runs of the test, together with other tests in one process.
    Joint,
    /// Result of the test after the other tests of its binary.
    AfterOthers,
    /// Runs in a plain build.
    Plain {
        /// Time limit of each run.
        limit: Duration,
        /// Reason why they would be no evidence.
        obstacle: Option<&'static str>,
        /// Whether the test cannot be judged without them.
        is_decisive: bool,
    },
    /// Files that the test uses and no process restores.
    Files {
        /// Time limit of the run that shows them.
        limit: Duration,
        /// What is known about the test.
        fact: Fact,
    },
}

impl Need {
    /// Number of stages.
    pub const STAGES: usize = 4;

    /// Returns the stage in which the need is met, after all runs; `None` for runs. The effects of
    /// other tests may make a plain build redundant, and both may make the search for files
    /// redundant.
    pub const fn stage(&self) -> Option<usize> {
        match self {
            Need::Runs(_) => None,
            Need::Joint => Some(0),
            Need::AfterOthers => Some(1),
            Need::Plain { .. } => Some(2),
            Need::Files { .. } => Some(3),
        }
    }
}

/// Effects of files that no process restores on a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalFiles {
    /// Sentence about the files that may be why the test fails, or passes again.
    pub note: Option<String>,
    /// Number of runs that were made to find out.
    pub runs: u64,
}

/// Means to judge a test besides its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// Whether other tests can run before it in its process.
    pub others: bool,
    /// Whether it can run in a plain build.
    pub plain: bool,
    /// Whether its use of files can be watched.
    pub files: bool,
    /// Whether it can run together with other tests in one process.
    pub joint: bool,
}

/// Conclusion about a test, and the runs from which it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Conclusion.
    pub conclusion: Conclusion,
    /// Whether it follows from the runs alone, not from the runs together with other tests.
    pub from_alone: bool,
    /// How the runs together with other tests differ from those alone. `None` if other tests make
    /// no difference.
    pub interference: Option<Interference>,
    /// Whether further runs might change the conclusion: the campaign was stopped before they were
    /// made.
    pub is_provisional: bool,
}

impl Judgement {
    /// Returns a judgement that follows from the runs together with other tests.
    pub const fn together(conclusion: Conclusion) -> Self {
        Judgement { conclusion, from_alone: false, interference: None, is_provisional: false }
    }

    /// Returns a judgement that later runs may change.
    pub fn provisional(conclusion: Conclusion) -> Self {
        Judgement { is_provisional: true, ..Judgement::together(conclusion) }
    }
}

/// Failures of a test that has a different outcome when other tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interference {
    /// Failures and runs, together with other tests.
    pub together: [usize; 2],
    /// Failures and runs, alone.
    pub alone: [usize; 2],
    /// Likely reason for the difference.
    pub reason: Reason,
}

/// Why a test may have a different outcome when it runs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Shared resource outside the process that other tests use too.
    Shared,
    /// Shared resource, or files that earlier runs of the test left under a random name.
    RandomName,
    /// Time: together with other tests, the test exceeds its time limit.
    Time,
    /// Chance: runs of one spec fail about as often alone.
    Chance,
}

/// Returns the conclusion about `test` from its runs, its result after other tests, and its runs in
/// a plain build; see [`plan::conclude`].
///
/// # Errors
/// Returns what is needed first.
pub fn conclude(
    test: &str,
    options: &Options,
    available: Available,
    runs: &Runs,
) -> Result<Judgement, Need> {
    // A test that hangs would take the whole limit in each run alone and after other tests. A plain
    // build shows first whether it hangs there too.
    if available.plain && runs.plain.is_none() && runs.hang_together() {
        let question = Question::new(test, options, &runs.together);
        let together = plan::conclude(question).map_err(Need::Runs)?;
        // An explained hang needs no plain build.
        if together.or_explained(&runs.together, options) == Conclusion::Broken {
            return Err(of_plain_build(&runs.together, options, true));
        }
    }
    let is_joinable = available.joint && runs.together.joint_runs().is_none();
    let judgement = judge(test, options, runs).map_err(|missing| {
        // A test that ends its process would end it for others, too. Without pruning, each of the
        // runs is made alone.
        let joins = is_joinable && missing.joinable && !missing.alone && options.prune;
        let ends = |(_, run): (&RunSpec, &Run)| run.ends_process();
        if joins && !runs.together.all().any(ends) { Need::Joint } else { Need::Runs(missing) }
    })?;
    let question = Question::new(test, options, runs.judged_by(Some(&judgement)));
    let evidence = question.evidence;
    let may_vary = certainty::may_be_of_addresses(&judgement.conclusion, question)
        || certainty::may_be_of_timing(&judgement.conclusion, question);
    if is_joinable && may_vary {
        return Err(Need::Joint);
    }
    let by_itself = judgement.conclusion.or_explained(evidence, options);
    let fails_only_alone = !judgement.from_alone && fails_only_alone(&by_itself, question, runs);
    let may_need_others = by_itself == Conclusion::Broken || fails_only_alone;
    if available.others && runs.after_others.is_none() && may_need_others {
        return Err(Need::AfterOthers);
    }
    let after_others = runs.after_others.as_ref();
    if fails_only_alone {
        let conclusion = Conclusion::Broken.after_others(question.clean_spec(), after_others);
        if matches!(conclusion, Conclusion::OrderDependent(_)) {
            return Ok(Judgement { conclusion, from_alone: true, ..judgement });
        }
    }
    let conclusion = by_itself.after_others(question.clean_spec(), after_others);
    let from_alone = judgement.from_alone;
    let measured = |missing| Need::Runs(Missing { alone: from_alone, ..missing });
    if matches!(&conclusion, Conclusion::NonDeterministic { spec } if spec.is_natural()) {
        alone::measure(&conclusion, question).map_err(measured)?;
    }
    if available.plain && runs.plain.is_none() && plain::is_wanted(&conclusion) {
        // The test may pass without this tool.
        let is_decisive = conclusion == Conclusion::Broken;
        return Err(of_plain_build(evidence, options, is_decisive));
    }
    let here = Judgement { conclusion, ..judgement };
    let compared = here.conclusion.clone().compared_with(runs.plain.as_ref());
    let judgement = if compared == Conclusion::Flaky {
        let natural = certainty::by_natural_runs(question).map_err(measured)?;
        if let Some(conclusion) = natural {
            return Ok(Judgement { conclusion, ..here });
        }
        let by_seeds = by_further_seeds(test, options, runs).map_err(Need::Runs)?;
        let is_decided = matches!(
            &here.conclusion,
            Conclusion::Dependent(found) if decide(found, question, runs)
        );
        let conclusion = if is_decided { here.conclusion.clone() } else { compared };
        by_seeds.unwrap_or(Judgement { conclusion, ..here })
    } else {
        Judgement { conclusion: compared, ..here }
    };
    let needs_files = available.files && runs.files.is_none();
    let question = Question::new(test, options, runs.judged_by(Some(&judgement)));
    match files(question, runs, &judgement).filter(|_| needs_files) {
        Some(need) => Err(need),
        None => Ok(judgement),
    }
}

/// Returns whether a test that seems to fail by chance failed in each clean run alone, and passed
/// while other tests ran. It may need what one of them leaves.
fn fails_only_alone(conclusion: &Conclusion, question: Question<'_>, runs: &Runs) -> bool {
    let alone = runs.alone.of(&question.clean_spec());
    matches!(conclusion, Conclusion::NonDeterministic { .. })
        && !alone.is_empty()
        && alone.iter().all(|run| !run.passed())
        && question.clean().iter().any(Run::passed)
}

/// Returns whether the found choices decide the outcome of a test that fails in a plain build, too.
///
/// A confirmed delay does, even if the plain build may also fail for another reason. A clock that
/// shows one time twice does if the plain build fails at the same line. At another line, a finer
/// clock under this tool may hide what the plain build shows.
fn decide(found: &Dependence, question: Question<'_>, runs: &Runs) -> bool {
    if !found.has_clock() {
        return found.culprits.confirmed;
    }
    let line = |failure: &Failure| Some((failure.file.clone()?, failure.line?));
    let plain = runs.plain_failure.as_ref().and_then(line);
    let failing = question.evidence.of(&found.spec).iter();
    let mut lines = failing.filter_map(|run| run.failure.as_ref()).map(line);
    plain.is_some() && lines.any(|line| line == plain)
}

/// Requests runs in a plain build of a test with these runs.
fn of_plain_build(evidence: &Evidence, options: &Options, is_decisive: bool) -> Need {
    let usual = options.timeout;
    Need::Plain {
        limit: deadlock::limit(usual, evidence).unwrap_or_else(|| of_real_time(usual, evidence)),
        obstacle: plain::no_comparison(evidence.all().map(|(_, run)| &run.outcome), options),
        is_decisive,
    }
}

/// Returns what further seeds show about a test that is flaky in a plain build.
fn by_further_seeds(
    test: &str,
    options: &Options,
    runs: &Runs,
) -> Result<Option<Judgement>, Missing> {
    let options = options.with_further_seeds(ExperimentPurpose::Explain);
    let judgement = judge(test, &options, runs)?;
    // Delays longer than this machine has cannot explain its failures.
    let explains = |found: &Dependence| !found.is_of_other_machines();
    let is_explained =
        matches!(&judgement.conclusion, Conclusion::Dependent(found) if explains(found));
    Ok(is_explained.then_some(judgement))
}

/// Requests the files of a test if they may explain its failures, or why it passes alone after it
/// failed together with others.
fn files(question: Question<'_>, runs: &Runs, judgement: &Judgement) -> Option<Need> {
    let options = &*threads::known(question);
    let question = question.with_options(options);
    let conclusion = &judgement.conclusion;
    let fact = Fact::of_conclusion(conclusion, question, runs.plain.as_ref());
    let failing = || question.evidence.all().map(|(_, run)| run).filter(|run| !run.passed());
    let is_known = || {
        matches!(conclusion, Conclusion::Explained(_))
            || failing().next().is_some_and(deadlock::is_proven)
    };
    let usual = options.timeout;
    let limit = match fact {
        Fact::Passes | Fact::PassesUntried if judgement.interference.is_some() => usual,
        Fact::Varies if !is_known() => usual,
        // A test that always hangs shows its use of files before it hangs: a short run suffices.
        Fact::Fails if !is_known() => {
            if failing().all(|run| run.outcome == Outcome::TimedOut) {
                once_more(usual)
            } else {
                usual
            }
        }
        _ => return None,
    };
    Some(Need::Files { limit, fact })
}

/// Returns what is established about `test` when the campaign is stopped; see [`plan::so_far`].
/// Contradictory runs together with other tests establish nothing, because those tests may be the
/// reason.
pub fn so_far(test: &str, options: &Options, runs: &Runs) -> Option<Judgement> {
    let from_alone = runs.alone.count() > 0;
    let evidence = if from_alone { &runs.alone } else { &runs.together };
    let conclusion = plan::so_far(Question::new(test, options, evidence))?;
    let may_be_others = !from_alone && (runs.is_shared || runs.draw());
    if may_be_others && matches!(conclusion, Conclusion::NonDeterministic { .. }) {
        return None;
    }
    Some(Judgement {
        from_alone,
        ..Judgement::provisional(conclusion.or_explained(evidence, options))
    })
}

/// Judges the test by its own runs, without other tests before it and without a plain build.
fn judge(test: &str, options: &Options, runs: &Runs) -> Result<Judgement, Missing> {
    let question = Question::new(test, options, &runs.together);
    let together = plan::conclude(question)?;
    let is_contradicted = || {
        let is_scheduled = threads::known(question).is_scheduled();
        let contradiction = runs.together.contradiction(is_scheduled);
        contradiction.is_some_and(|(spec, _)| !clock_start::explains(&together, spec))
    };
    if !(runs.is_shared || runs.draw()) || !(is_doubtful(&together) || is_contradicted()) {
        patiently(options.timeout, &runs.together, || alone::measure(&together, question))?;
        return Ok(Judgement::together(together));
    }
    let alone = || alone::judge(test, options, runs, together);
    patiently(options.timeout, &runs.alone, alone).map_err(|missing| {
        let short = || runs.hang().then(|| once_hung(options.timeout, Duration::ZERO));
        let elapsed = missing.limits.elapsed.or_else(short);
        let limits = RunLimits { elapsed, ..missing.limits };
        Missing { alone: true, fresh: runs.draw(), limits, ..missing }
    })
}

/// Returns whether other tests might cause a conclusion that no runs contradict.
const fn is_doubtful(conclusion: &Conclusion) -> bool {
    match conclusion {
        Conclusion::Broken | Conclusion::NonDeterministic { .. } => true,
        Conclusion::Dependent(dependence) => !dependence.culprits.confirmed,
        Conclusion::Artefact(_)
        | Conclusion::Explained(_)
        | Conclusion::Latent(_)
        | Conclusion::FailsOnlyHere
        | Conclusion::OrderDependent(_)
        | Conclusion::Flaky
        | Conclusion::Stable => false,
    }
}

#[cfg(test)]
mod tests;
